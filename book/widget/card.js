// The card of an exercise, made alive: the code's field, its buttons, what a run says, and what is kept of it.

import { ask } from "./ask.js";
import { EXERCISES, PAGE, ROOT } from "./course.js";
import { beginning, cut, h } from "./dom.js";
import { Field } from "./field.js";
import { download } from "./notebook.js";
import { stateOf } from "./progress.js";
import { cannot } from "./python.js";
import { printedBox, results } from "./results.js";
import { isSolved } from "./store.js";
import { headline, isFull, number, sharedTrouble } from "./words.js";

const SAVE_AFTER = 300; // ms without a key
const TRIES = 3;
const MOST_PRINTED = 10_000; // characters: as many as autograder/browser/printed.py sends, but for one
const MOST_LINES = 400;
const OLDER = "These are the results of an earlier version of your code.";
const LONGEST = 500_000; // characters of code that are run; more is no answer, and Python would be at it for minutes

export class Card {
  constructor(element, store, python) {
    this.element = element;
    this.store = store;
    this.python = python;
    this.slug = element.dataset.exercise;
    this.exercise = EXERCISES[this.slug];
    this.title = element.querySelector("h3").textContent;
    this.saving = 0;
    this.running = false;
    this.shown = null; // the code whose results are shown
    this.lost = false; // whether it did not pass all checks
    this.reached = { solved: false, tries: 0, solution: "" };
    const fold = element.querySelector(".hp-starter");
    this.still = fold.querySelector("pre").cloneNode(true);
    this.still.removeAttribute("id");
    this.starter = this.still.textContent.replace(/\n+$/, "") + "\n";
    fold.replaceWith(this.build());
    this.adopt(store.read(this.slug), true);
    this.drawState();
    this.drawWay();
    store.listen((slug, elsewhere) => {
      if (slug !== null && slug !== this.slug) return;
      if (elsewhere) this.adopt(store.read(this.slug), false);
      this.drawState();
      this.drawWay();
    });
    // A page that comes back from the browser's memory has not heard what others wrote.
    window.addEventListener("pageshow", () => this.adopt(store.read(this.slug), false));
    window.addEventListener("beforeunload", (event) => {
      if (store.trouble && this.field.text !== this.starter) event.preventDefault(); // the browser asks
    });
    for (const leaving of ["pagehide", "visibilitychange"]) window.addEventListener(leaving, () => this.flush());
  }

  build() {
    const { slug } = this;
    const help = `help-${slug}`;
    const button = (name, words, onclick) => h("button", { type: "button", class: name, onclick }, words);
    this.field = new Field({
      text: this.starter,
      starter: this.starter,
      still: this.still,
      label: `your code for “${this.title}”`,
      help,
      touched: () => navigator.connection?.saveData || this.python.warm(),
      changed: () => this.changed(),
      run: () => this.run(),
    });
    this.runButton = button("hp-run", "Run the checks", () => this.run());
    this.stopButton = button("hp-quiet hp-stop", "Stop", () => this.python.stop());
    this.stopButton.hidden = true; // it keeps its place: what slid under the mouse would get a second click
    this.bar = h("progress", { max: 1, value: 0, "aria-label": "Loading Python", hidden: true });
    this.status = h("p", { class: "hp-status", role: "status" });
    this.notices = h("div", { class: "hp-notices", role: "status" });
    this.undoing = h("div", { class: "hp-notices hp-undoing", role: "status" });
    this.older = h("p", { class: "hp-stale" }, OLDER);
    this.out = h("div", { class: "hp-results", role: "group", "aria-label": `Results of “${this.title}”`, hidden: true });
    this.live = h("code", {});
    const label = h("p", { class: "hp-label" }, "Printed so far");
    this.printing = h("div", { class: "hp-printing", hidden: true }, label, h("pre", { class: "hp-printed", tabindex: "0" }, this.live));
    this.way = h("p", { class: "hp-way", hidden: true });
    this.chip = h("span", { class: "hp-chip" });
    this.element.querySelector(".hp-graded-head .hp-label").append(" ", this.chip);
    this.introduce(this.element.querySelector(".hp-how"));
    return h(
      "div",
      { class: "hp-solve" },
      h("h4", {}, "Your code"),
      this.notices,
      this.field.element,
      h(
        "p",
        { class: "hp-keys", id: help },
        h("kbd", {}, "Ctrl"), " or ", h("kbd", {}, "⌘"), " with ", h("kbd", {}, "Enter"), " runs the checks. ",
        h("kbd", {}, "Escape"), ", then ", h("kbd", {}, "Tab"), " leaves the editor.",
      ),
      h(
        "div",
        { class: "hp-row" },
        this.runButton,
        this.stopButton,
        h(
          "div",
          { class: "hp-row hp-rest" },
          button("hp-quiet", "Reset", () => this.reset()),
          button("hp-quiet", "Download my notebook", () => this.notebook()),
        ),
      ),
      this.undoing,
      this.bar,
      this.status,
      this.printing,
      this.out,
      this.way,
    );
  }

  /** Say that it can be answered here, before it is said how it can be answered elsewhere. */
  introduce(how) {
    const [first] = how.childNodes;
    if (first?.nodeType === Node.TEXT_NODE) first.data = first.data.replace(/^Write /, "Or write ");
    const torch = /^\s*(from|import) torch\b/m.test(this.starter)
      ? "What is called torch here is a small stand-in: it has the operations that this exercise needs, and rounds as " +
        "PyTorch does on a CPU. PyTorch itself and NumPy are not made for browsers."
      : "Python's standard library is there. NumPy and PyTorch are not: they are not made for browsers.";
    const words =
      "Write your answer below the task and run its checks right here: nothing to install, no account, nothing leaves " +
      `your browser. ${torch}`;
    how.before(h("p", { class: "hp-how hp-here" }, words));
  }

  // ---------------------------------------------------------------------- what is kept

  /** Show the code of a record that another page has written, or an earlier visit. */
  adopt(entry, first) {
    if (!entry) return;
    const code = entry.code || this.starter;
    if (first) {
      this.saved = entry.saved;
      this.field.replace(code);
      if (entry.code && entry.version !== this.exercise.version)
        this.notice("changed", "This exercise has changed since you wrote this. Your code is as you left it: run it again.");
      return;
    }
    if (entry.saved <= (this.saved ?? 0)) return;
    this.saved = entry.saved;
    clearTimeout(this.saving); // the newer one wins
    this.saving = 0;
    const mine = this.field.text;
    if (mine === code) return;
    this.quietly(() => this.field.replace(code));
    this.compare();
    const back = () => {
      this.field.replace(mine);
      this.changed();
    };
    this.notice(
      "tabs",
      "You went on with this exercise in another window. This is the newer code, from there. ",
      h("button", { type: "button", class: "hp-goto", onclick: back }, "Take back what stood here"),
    );
  }

  quietly(work) {
    this.quiet = true;
    work();
    this.quiet = false;
  }

  changed() {
    this.compare();
    if (this.quiet) return;
    this.notice("tabs", ""); // who writes on has seen it
    clearTimeout(this.saving);
    this.saving = setTimeout(() => this.flush(), SAVE_AFTER);
  }

  flush() {
    if (!this.saving) return;
    clearTimeout(this.saving);
    this.saving = 0;
    this.keep({});
  }

  keep(change) {
    this.saved = Date.now();
    const code = this.field.text === this.starter ? "" : this.field.text;
    this.store.write(this.slug, { code, version: this.exercise.version, saved: this.saved, ...change });
    const words = {
      full: "This browser's storage is full, so what you write is kept only while this page is open. Download your notebook, or export your progress on the start page.",
      forbidden: "This browser lets pages keep nothing, so what you write is kept only while this page is open. Download your notebook before you close it.",
    };
    this.notice("storage", words[this.store.trouble] ?? "");
  }

  /** Put other code in place of the reader's, and offer to undo that, beside the buttons. */
  swap(code, words) {
    const mine = this.field.text;
    const put = (text) => {
      this.field.replace(text);
      this.field.mark([]);
      this.keep({});
      this.compare();
    };
    put(code);
    const undo = () => {
      put(mine);
      this.notice("undo", "");
      this.runButton.focus();
    };
    this.notice("undo", words, h("button", { type: "button", class: "hp-goto", onclick: undo }, "Undo"));
  }

  /** Say whether the results are those of the code as it is now, and whether that is what solved it. */
  compare() {
    const old = this.shown !== null && this.shown !== this.field.text;
    this.out.classList.toggle("hp-old", old);
    if (!old) this.older.remove();
    else if (!this.older.isConnected) this.out.prepend(this.older);
    this.drawWay();
  }

  /** Say something beside the code until it is put away; one of a kind at a time, "" for none. */
  notice(kind, ...words) {
    const place = kind === "undo" ? this.undoing : this.notices;
    const old = place.querySelector(`[data-kind="${kind}"]`);
    if (!words[0]) {
      old?.remove();
      return;
    }
    if (old?.dataset.words === words[0] && words.length === 1) return;
    const box = h("p", { class: "hp-notice", "data-kind": kind, "data-words": words[0] }, words, " ");
    const close = h("button", { type: "button", class: "hp-goto", onclick: () => box.remove() }, "Close");
    box.append(close);
    if (old) old.replaceWith(box);
    else place.append(box);
  }

  drawState() {
    const entry = this.store.read(this.slug);
    const state = stateOf(entry, this.exercise);
    this.reached = { solved: isSolved(entry), tries: entry?.tries ?? 0, solution: entry?.solution ?? "" };
    this.chip.replaceChildren(...(state.sign ? [h("span", { "aria-hidden": "true" }, `${state.sign} `), state.words] : []));
    this.chip.classList.toggle("hp-all", state.solved);
  }

  // ---------------------------------------------------------------------- a run

  loading(text, share) {
    const waiting = text && (this.running || this.field.opening);
    this.bar.hidden = !waiting;
    this.bar.value = share;
    if (waiting) this.say(text);
    else if (this.waited && !this.running) this.say("");
    this.waited = waiting;
  }

  /** Say something under the buttons; `heard`: only to those who listen, because the results show it. */
  say(text, heard = false) {
    this.status.classList.toggle("hp-unseen", heard);
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  async run() {
    if (this.running) return;
    const source = this.field.text;
    const trouble = cannot() || (source.length > LONGEST && "This is too long to be an answer: take out what does not belong to it.");
    if (trouble) {
      this.show([h("p", { class: "hp-headline" }, "It cannot be run here"), h("p", {}, trouble), ...(cannot() ? [this.elsewhere()] : [])]);
      return;
    }
    if (this.python.busy) {
      this.say("Another exercise of this page is running: stop that first.");
      return;
    }
    this.running = true;
    this.field.mark([]);
    this.runButton.setAttribute("aria-disabled", "true");
    this.stopButton.hidden = false;
    this.out.setAttribute("aria-busy", "true");
    this.say("Starting …");
    this.keep({});
    this.printed = this.before = this.behind = "";
    let rest = "Running the others …";
    const outcome = await this.python.run(this.slug, source, {
      started: () => this.say(this.behind ? `${this.behind} ${rest}` : "Running …"),
      trying: (number, of) => this.status.setAttribute("data-trying", `Check ${number} of ${of}`),
      late: (number, seconds, last) => {
        this.before ||= this.printed;
        this.printed = ""; // the code is run again, and prints again
        this.behind = `Check ${number} gave no answer within ${seconds} s.`;
        if (last) rest = "The others are not tried …";
        this.say(`${this.behind} ${last ? rest : "Python is started anew for the others …"}`);
      },
      printed: (text) => this.print(text),
    });
    this.printing.hidden = true;
    this.status.removeAttribute("data-trying");
    const focused = document.activeElement === this.stopButton;
    this.running = false;
    this.runButton.removeAttribute("aria-disabled");
    this.stopButton.hidden = true;
    if (focused) this.runButton.focus();
    this.out.removeAttribute("aria-busy");
    try {
      this.finish(outcome, source);
    } catch (error) {
      // The reader's code shares the worker, and can send in its name what is no record.
      this.finish({ kind: "broken", message: String(error), loading: false }, source);
    }
  }

  /** Keep what the code prints, and show it at the page's own pace: a loop may print faster than anybody draws. */
  print(text) {
    if (this.printed.length > MOST_PRINTED) return;
    if (!this.drawing)
      this.drawing = requestAnimationFrame(() => {
        this.drawing = 0;
        this.live.textContent = beginning(this.printed, MOST_PRINTED, MOST_LINES);
        this.printing.hidden = !this.running;
      });
    this.printed += text;
  }

  finish(outcome, source) {
    this.lost = false;
    if (outcome.kind === "result") this.graded(outcome, source);
    else if (outcome.kind === "stopped") {
      this.say("Stopped.", true);
      const words = `${this.behind} Your code is as you left it. Python is started anew.`.trim();
      const headline = h("p", { class: "hp-headline" }, "Stopped");
      this.show([headline, h("p", {}, words), ...this.output(this.printed)], source);
    } else if (outcome.kind === "timeout") {
      this.say("Out of time.", true);
      this.lost = true;
      this.show([
        h("p", { class: "hp-headline" }, "Out of time"),
        h("p", {}, `Your code, as it is read in, did not come to its end within ${outcome.seconds} s. No check was tried.`),
        h("p", {}, "Is there a loop that does not end? Your code is as you left it, and Python is started anew."),
        ...this.output(this.printed),
      ], source);
    } else {
      const what = outcome.loading ? "Python could not be loaded" : "Python broke off";
      const advice = outcome.loading
        ? "Is the network there? Your code is kept; run it again when it is."
        : "The code ran out of what a browser gives it: memory, or room for calls within calls. Python is started anew; your code is as you left it.";
      this.say(`${what}.`, true);
      this.show([
        h("p", { class: "hp-headline" }, what),
        h("p", {}, advice),
        outcome.message ? h("pre", { tabindex: "0" }, h("code", {}, cut(outcome.message, 500, 4))) : null,
        ...this.output(this.printed),
      ], source);
    }
  }

  graded({ record, marks, printed, untried }, source) {
    const goTo = (line) => this.field.goTo(line);
    this.field.mark(this.field.text === source ? marks.map((mark) => mark.line) : []);
    const { score, max_score: max } = record;
    const full = isFull(record);
    const points = full ? ` ${number(score)} of ${number(max)} points.` : "";
    this.say(record.status === "graded" ? headline(record) + points : "Not started yet.", true);
    this.lost = record.status === "graded" && !full;
    const output = this.printedBeside(record, printed);
    this.show(results(record, { marks, printed, output, untried, root: ROOT, names: PAGE.sections, goTo }), source);
    if (record.status !== "graded") return;
    const before = this.store.read(this.slug);
    const change = {};
    const best = before?.best;
    // What was solved stays solved, also where the exercise has changed since, until it is solved anew.
    const old = best && best.version !== this.exercise.version && !isSolved({ best });
    if (!best || old || score / max >= best.score / best.max) change.best = { score, max, version: this.exercise.version };
    if (full) change.solution = source;
    const digest = digested(source);
    // Where no value was judged - an error in each check, or no time - it was no try.
    if (digest !== before?.tried && record.checks.some(({ status }) => ["passed", "failed"].includes(status))) {
      change.tried = digest;
      change.tries = (before?.tries ?? 0) + 1;
    }
    this.keep(change);
  }

  output(text, label = "What your code printed") {
    return text ? printedBox(label, text, MOST_PRINTED, MOST_LINES) : [];
  }

  /** Return what was printed in no call that is shown: as the code was read in, before time ran out, or at first. */
  printedBeside(record, printed) {
    if (this.before) return this.output(this.before, "What your code printed before its time was up");
    if (printed[""]) return this.output(record.output, "Printed while your code was read in"); // the first output of all
    const shown = !sharedTrouble(record.checks) && record.checks.some((check) => printed[check.id]);
    return shown ? [] : this.output(record.output, "What your code printed first");
  }

  /** Show what a run said; `source` is the code that it was about, null for none. */
  show(parts, source = null) {
    this.out.hidden = !parts.length;
    this.out.replaceChildren(...parts.filter(Boolean));
    this.shown = source;
    this.compare();
  }

  elsewhere() {
    const links = [...this.element.querySelectorAll(".hp-links a")].map((link) => link.cloneNode(true));
    return h("div", { class: "hp-links" }, links);
  }

  // ---------------------------------------------------------------------- the other buttons

  async reset() {
    if (this.field.text === this.starter) {
      this.say("This is the starter already.");
      return;
    }
    const sure = await ask("Put the starter in place of your code?", "Your code goes away. “Undo” brings it back, as long as this page is open.", "Reset", "Keep my code");
    if (!sure) return;
    this.show([]);
    this.swap(this.starter, "The starter took the place of your code. ");
  }

  /** Put the code of the last full run in place of what stands there. */
  bringBack() {
    this.swap(this.reached.solution, "The code that solved it took the place of yours. ");
    this.undoing.querySelector("button").focus(); // the button that was pressed is gone
  }

  async notebook() {
    this.flush();
    try {
      await download(new URL(`notebooks/${this.slug}.ipynb`, ROOT), this.slug, this.field.text);
      this.say(`Downloaded ${this.slug}.ipynb, with your code in it, ready to submit.`);
    } catch (error) {
      this.say(`The notebook could not be fetched (${error.message}). Is the network there?`);
    }
  }

  /** Offer the walkthrough and the solution, once they cannot take anything away. */
  drawWay() {
    const { solved, tries, solution } = this.reached;
    if (!solved && tries < TRIES) {
      this.way.hidden = true;
      return;
    }
    const code = this.field.text;
    let words = "Three honest tries: it may help to see how one gets there. ";
    if (solved) {
      words = "Solved. ";
      if (this.lost && code === this.shown) words = "Solved before; the code above does not pass all checks. ";
      else if (solution && code !== solution) words = "Solved before; the code above is not the code that solved it. ";
    }
    const other = solved && solution && code !== solution;
    const drawn = words + Boolean(other);
    if (this.way.dataset.drawn === drawn && !this.way.hidden) return;
    this.way.dataset.drawn = drawn;
    const fold = walkthroughAfter(this.element);
    const open = () => {
      fold.open = true;
      fold.querySelector("summary").focus();
      fold.scrollIntoView({ block: "start" });
    };
    const { solution: address } = this.element.dataset;
    const name = `solutions/${this.slug}.py`;
    const file = address ? h("a", { href: address, rel: "noopener" }, h("code", {}, name)) : h("code", {}, name);
    const back = "Bring back the code that solved it";
    this.way.replaceChildren(
      words,
      ...(other ? [said(back, () => this.bringBack()), " "] : []),
      ...(fold ? [said("Open the walkthrough", open), " "] : []),
      "The reference solution is ", file, " in the book's repository.",
    );
    this.way.hidden = false;
  }
}

/** Return a button as a sentence, which keeps its full stop. */
function said(words, onclick) {
  return h("span", { class: "hp-said" }, h("button", { type: "button", class: "hp-goto", onclick }, words), ".");
}

/** Return the walkthrough that belongs to a card: the next one before another card. */
function walkthroughAfter(card) {
  const all = [...document.querySelectorAll(".hp-graded, details.hp-walkthrough")];
  const next = all[all.indexOf(card) + 1];
  return next?.matches("details") ? next : null;
}

/** Return a short digest of code, in which blanks at the ends of lines do not count. */
function digested(code) {
  let hash = 0x811c9dc5;
  for (const character of code.replace(/[ \t]+$/gm, "").trim()) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193);
  return (hash >>> 0).toString(16);
}
