// Python in a worker, one for the page: started when a reader first wants to write, ended and started again where code
// does not come back. book/_ext/course_book/worker.mjs says which messages go to it and come from it.

import { PAGE } from "./course.js";

const STAGES = {
  python: [0.05, "Loading Python: 6 MB, the first time only …"],
  course: [0.8, "Loading the checks …"],
  judge: [0.9, "Starting Python …"],
};

/** Return why this browser cannot run Python, as a sentence; "" where it can. */
export function cannot() {
  const missing = [];
  if (typeof Worker === "undefined") missing.push("web workers");
  if (typeof WebAssembly === "undefined") missing.push("WebAssembly");
  return missing.length ? `This browser cannot run Python: it has no ${missing.join(" and no ")}, or they are switched off.` : "";
}

const AGAIN = "Starting Python anew …";

export class Python {
  /** `told(text, share)` hears how far loading is; the text is "" once it is over. */
  constructor(told = () => {}) {
    this.told = told;
    this.worker = null;
    this.ready = false;
    this.job = null;
    this.last = 0;
    this.loaded = false; // once it was there, the browser has the files
  }

  get busy() {
    return this.job !== null;
  }

  /** Start loading, if that has not been done. */
  warm() {
    if (this.worker || cannot()) return;
    const worker = new Worker(new URL(PAGE.worker, document.baseURI), { type: "module", name: "Python" });
    const hear = (message) => worker === this.worker && this.hear(message);
    worker.addEventListener("message", ({ data }) => hear(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault(); // it is said in the card
      hear({ type: "died", id: null, message: event.message ?? "" });
    });
    this.worker = worker;
    this.ready = false;
    this.tell("python");
  }

  /**
   * Grade code. `on.started()` is called when it begins to run, `on.trying(number, of)` before each check, and
   * `on.printed(text)` with what it prints.
   *
   * Resolves to one of {kind: "result", record, marks}, {kind: "stopped"}, {kind: "timeout", message} and
   * {kind: "broken", message, loading}.
   */
  run(slug, source, on) {
    if (this.job) throw new Error("one run at a time");
    this.warm();
    if (!this.ready) this.tell(this.stage); // to the card, which waits for it from now on
    this.last += 1;
    const id = this.last;
    return new Promise((resolve) => {
      this.job = { id, on, resolve, timer: 0 };
      this.worker.postMessage({ id, slug, source });
    });
  }

  /** End the run, and the worker with it; another one is started at once. */
  stop() {
    if (this.job) this.end({ kind: "stopped" }, this.ready);
  }

  tell(stage) {
    this.stage = STAGES[stage] ? stage : "judge";
    const [share, text] = STAGES[this.stage];
    this.told(this.loaded ? AGAIN : text, share);
  }

  hear(message) {
    const { job } = this;
    const ours = job !== null && message.id === job.id;
    if (message.type === "loading") {
      this.tell(message.stage);
    } else if (message.type === "ready") {
      this.ready = this.loaded = true;
      this.told("", 1);
    } else if (message.type === "started" && ours) {
      const late = () => this.end({ kind: "timeout", message: message.tooLate }, true);
      job.timer = setTimeout(late, message.seconds * 1000);
      job.on.started();
    } else if (message.type === "trying" && ours) job.on.trying(message.number, message.of);
    else if (message.type === "printed" && ours) job.on.printed(String(message.text));
    else if (message.type === "graded" && ours) this.end({ kind: "result", record: message.record, marks: message.marks });
    else if (message.type === "failed" && ours) this.end({ kind: "broken", message: message.message, loading: false });
    else if (message.type === "died") {
      // What could not be loaded is tried again at the next run, not at once: the network may be gone.
      this.end({ kind: "broken", message: message.message, loading: !this.ready }, this.ready);
    }
  }

  /** Settle the run. `again`: whether the worker is replaced (true), ended (false), or kept (left out). */
  end(outcome, again) {
    const { job } = this;
    if (again !== undefined) {
      this.worker?.terminate();
      this.worker = null;
      this.ready = false;
      this.told("", 0);
      if (again) this.warm();
    }
    if (!job) return;
    clearTimeout(job.timer);
    this.job = null;
    job.resolve(outcome);
  }
}
