// Python in a worker, one for the page: started when a reader first wants to write, ended and started again where code
// does not come back. book/_ext/course_book/worker.mjs says which messages go to it and come from it.

import { PAGE } from "./course.js";

const LOADED = "half-precision/python"; // in localStorage: the folder of the Python that this browser has loaded
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
const KNOWN = "Starting Python …";

/** Return the name of Python's folder; what is in it never changes. */
function folder() {
  return new URL(PAGE.worker, document.baseURI).searchParams.get("pyodide") ?? "";
}

function isKnown() {
  try {
    return localStorage.getItem(LOADED) === folder();
  } catch {
    return false;
  }
}

function remember() {
  try {
    if (!isKnown()) localStorage.setItem(LOADED, folder());
  } catch {
    // It is loaded all the same, and the next page says so once more.
  }
}

export class Python {
  /** `told(text, share)` hears how far loading is; the text is "" once it is over. */
  constructor(told = () => {}) {
    this.told = told;
    this.worker = null;
    this.ready = false;
    this.again = false; // this worker is there to go on with a run, which says so itself
    this.job = null;
    this.last = 0;
    this.loaded = false; // once it was there, the browser has the files
    this.known = isKnown(); // as it has where an earlier page has loaded them
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
   * Grade code. `on.started()` is called when it begins to run, `on.trying(number, of)` before each check,
   * `on.late(number, seconds, last)` when one ran out of time, after the last of which none is tried any more, and
   * `on.printed(text)` with what it prints.
   *
   * A check that runs out of time costs the worker; the others are tried in the next one. So the marks are the same as
   * everywhere else, but for code that has no end in the first two checks: the others are not tried then, for a loop
   * that two checks meet is nearly always one that all of them meet, and the reader would wait for each.
   *
   * Resolves to one of {kind: "result", record, marks, printed, untried}, {kind: "stopped"}, {kind: "timeout", seconds}
   * where the code itself did not come to its end, and {kind: "broken", message, loading}.
   */
  run(slug, source, on) {
    if (this.job) throw new Error("one run at a time");
    this.warm();
    if (!this.ready) this.tell(this.stage); // to the card, which waits for it from now on
    this.last += 1;
    const id = this.last;
    return new Promise((resolve) => {
      this.job = { id, slug, source, on, resolve, timer: 0, last: 0, trying: null, ended: [], usedUp: false, untried: false };
      this.ask();
    });
  }

  ask() {
    const { id, slug, source, ended, usedUp } = this.job;
    this.worker.postMessage({ id, slug, source, ended, usedUp });
  }

  /** End the run, and the worker with it; another one is started at once. */
  stop() {
    if (this.job) this.end({ kind: "stopped" }, this.ready);
  }

  tell(stage) {
    this.stage = STAGES[stage] ? stage : "judge";
    const [share, text] = STAGES[this.stage];
    if (!this.again) this.told(this.loaded ? AGAIN : this.known ? KNOWN : text, share);
  }

  hear(message) {
    const { job } = this;
    const ours = job !== null && message.id === job.id;
    if (message.type === "loading") {
      this.tell(message.stage);
    } else if (message.type === "ready") {
      this.ready = this.loaded = true;
      this.again = false;
      remember();
      this.told("", 1);
    } else if (message.type === "started" && ours) {
      job.last = performance.now() + 2 * message.seconds * 1000;
      job.on.started();
    } else if (message.type === "trying" && ours) this.time(message);
    else if (message.type === "printed" && ours) job.on.printed(String(message.text));
    else if (message.type === "graded" && ours) {
      const { record, marks, printed } = message;
      this.end({ kind: "result", record, marks, printed, untried: job.untried });
    } else if (message.type === "failed" && ours) this.end({ kind: "broken", message: message.message, loading: false });
    else if (message.type === "died") {
      // What could not be loaded is tried again at the next run, not at once: the network may be gone.
      this.end({ kind: "broken", message: message.message, loading: !this.ready }, this.ready);
    }
  }

  /** Give a check its time: one clock for all of its cases, and one for the reading of the code. */
  time(message) {
    const { job } = this;
    const before = job.trying;
    job.trying = message;
    if (before?.check === message.check) return;
    clearTimeout(job.timer);
    const left = Math.max(job.last - performance.now(), 0);
    // A page that has stood still finds the worker's answer and the end of the time together: the answer is heard first.
    const isUp = () => (job.timer = setTimeout(() => this.late()));
    job.timer = setTimeout(isUp, Math.min(message.allowed * 1000, left));
    if (message.number) job.on.trying(message.number, message.of);
  }

  /** Give up the case that is running, and go on with the other checks in a new worker. */
  late() {
    const { job } = this;
    const { check, number, case: place, allowed } = job.trying;
    if (!number) {
      this.end({ kind: "timeout", seconds: allowed }, true);
      return;
    }
    job.ended.push([check, place]);
    job.untried = number >= 2 && number === job.ended.length;
    job.usedUp = job.untried || performance.now() >= job.last;
    job.trying = null;
    job.on.late(number, allowed, job.usedUp);
    this.restart();
    this.ask();
  }

  restart() {
    this.worker?.terminate();
    this.worker = null;
    this.again = true;
    this.warm();
  }

  /** Settle the run. `again`: whether the worker is replaced (true), ended (false), or kept (left out). */
  end(outcome, again) {
    const { job } = this;
    if (again !== undefined) {
      this.worker?.terminate();
      this.worker = null;
      this.ready = this.again = false;
      this.told("", 0);
      if (again) this.warm();
    }
    if (!job) return;
    clearTimeout(job.timer);
    this.job = null;
    job.resolve(outcome);
  }
}
