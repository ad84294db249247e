// Every page with an exercise: its cards, and the reader's progress.

import { Card } from "./card.js";
import { PAGE } from "./course.js";
import { progress } from "./progress.js";
import { Python } from "./python.js";
import { Store } from "./store.js";
import { told } from "./told.js";

const store = new Store();
const cards = [];
const python = new Python((text, share) => cards.forEach((card) => card.loading(text, share)));
for (const element of document.querySelectorAll(".hp-graded[data-exercise]")) {
  if (PAGE.exercises.includes(element.dataset.exercise)) cards.push(new Card(element, store, python));
  else told(element, store);
}
progress(store);
