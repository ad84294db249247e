// Every page without an exercise: the reader's progress.

import { progress } from "./progress.js";
import { Store } from "./store.js";

progress(new Store());
