// A record of `autograder check --json` as elements, in the order and the words of the feedback page.

import { beginning, cut, h, ticked, visible } from "./dom.js";
import { earned, headline, LABELS, mark, number, reason, sectionName, sharedTrouble } from "./words.js";

const KINDS = { "✓": "passed", "✗": "lost", "…": "waiting", "·": "todo" };

const MOST_SHOWN = 4_000; // characters: as many of a case as autograder/browser/printed.py sends, but for one
const MOST_LINES = 60;

/**
 * Return what a record says. `marks` are the lines of the code that it names, {line, check}; `printed` is what the shown
 * calls printed, {text, calls}, by the check; `output`, elements, is what else was printed; `root` is the book's address; `names` are
 * its sections' titles, by their addresses; `goTo(line)` leads to a line. `untried` says whether the page has left checks
 * out because those before them had no end.
 */
export function results(record, { marks, printed, output, untried, root, names, goTo }) {
  if (record.status === "not_started")
    return [
      h("p", { class: "hp-headline" }, "Not started yet"),
      h("p", {}, "This is the starter as it was handed out. Put your code in place of the last line, then run it."),
    ];
  const quiet = Boolean(sharedTrouble(record.checks));
  const whole = reason(record);
  const lineOf = (id) => marks.find((mark) => mark.check === id)?.line ?? null;
  const wholeLine = lineOf("") ?? (quiet ? lineOf(record.checks[0].id) : null);
  const believed = new Set();
  const ends = new Map(); // by what ended them: the first check that was ended so, and how many others
  for (const check of record.checks.filter(ended)) {
    const known = ends.get(check.difference);
    if (known) known.others += 1;
    else ends.set(check.difference, { check, others: 0 });
  }
  const unrun = record.checks.filter((check) => check.status === "not_run");
  const items = record.checks.map((check) => {
    if (unrun.includes(check)) return one(record, check, { notRun: check === unrun[0] ? unrun.length : 0, untried });
    const end = ended(check) ? ends.get(check.difference) : { check, others: 0 };
    const above = end.check !== check;
    const again = believed.has(check.belief);
    const told = { root, names, goTo, quiet, line: lineOf(check.id), again, printed: printed[check.id] };
    if (check.belief) believed.add(check.belief);
    return one(record, check, { ...told, above, others: above ? 0 : end.others });
  });
  return [
    h("p", { class: "hp-headline" }, headline(record), " ", score(record)),
    whole ? h("p", { class: "hp-whole" }, ticked(here(withoutFile(whole))), link(wholeLine, goTo)) : null,
    ...output,
    quiet ? null : h("ol", { class: "hp-checks", role: "list" }, items),
    ...notes(record.notes ?? [], here(whole)),
  ].filter(Boolean);
}

function score(record) {
  if (record.score === null) return null;
  return h("span", { class: "hp-score" }, `${number(record.score)} of ${number(record.max_score)} points`);
}

function withoutFile(text) {
  return text.replace(/^[^:\s]*\.(?:ipynb|py): /, "");
}

/** Return a message as it reads in a page, where the code is one piece: the line is enough. */
function here(text) {
  return text.replace(/\bline (\d+) of cell 1\b/g, "line $1").replace(/\bcell 1, (?=line \d)/g, "");
}

function notes(all, whole) {
  const told = all.map((note) => here(note).replace(/; the cells after it ran$/, "")).filter((note) => !whole.includes(note));
  return told.map((note) => h("p", { class: "hp-note" }, "Note: ", ticked(note)));
}

/** Return whether something ended a check before there was a value to judge: an exception, a limit. */
function ended(check) {
  return !["passed", "failed", "not_run"].includes(check.status) && Boolean(check.difference);
}

/**
 * `told`: {root, names, goTo, quiet, line, again, printed, others, above} - see `why`, and quiet: only its state is
 * shown. Of a check that was not run: {notRun, untried}, the number of all such checks where this is the first.
 */
function one(record, check, told) {
  const sign = mark(record, check);
  const state = check.status.replace("_", " ");
  const spoken = `${state.charAt(0).toUpperCase()}${state.slice(1)}: `;
  return h(
    "li",
    { class: `hp-check hp-${KINDS[sign]}`, "data-check": check.id, "data-status": check.status },
    h(
      "div",
      { class: "hp-check-head" },
      h("span", { class: "hp-sign", "aria-hidden": "true" }, sign),
      h("p", { class: "hp-name" }, h("span", { class: "hp-unseen" }, spoken), ticked(check.title)),
      h("span", { class: "hp-earned" }, earned(record, check)),
    ),
    check.status === "passed" || told.quiet ? null : check.status === "not_run" ? whyNot(check, told) : why(check, told),
  );
}

/**
 * Return why a check did not pass. `again`: its belief was explained above; `above`: what ended it was told above, so
 * that only its call is left to show; `others`: how many checks below ended in the same way.
 */
function why(check, { root, names, goTo, line, again, printed, others, above }) {
  const parts = [];
  if (above) parts.push(sameAgain(check, printed));
  else if (!check.difference) parts.push(h("p", {}, ticked(here(check.message)), link(line, goTo)));
  else {
    if (check.rule) parts.push(h("p", { class: "hp-rule" }, ticked(check.rule)));
    if (check.call) parts.push(...called(check));
    if (check.status === "failed" && check.call)
      parts.push(
        h("div", { class: "hp-pair" }, value(LABELS[check.show] ?? LABELS.returned, check.returned), value("Expected", check.expected)),
      );
    parts.push(h("p", {}, ticked(here(check.difference)), link(line, goTo)), ...said(check, printed));
    parts.push(same(others));
  }
  if (check.belief)
    parts.push(
      h(
        "div",
        { class: "hp-behind", role: "note", "data-misconception": check.misconception },
        h("p", { class: "hp-label" }, again ? "The same belief is behind this" : "A belief behind this"),
        h("p", { class: "hp-quote" }, "“", ticked(check.belief), "”"),
        again ? null : h("p", {}, ticked(check.truth)),
      ),
    );
  const see = again || above ? "" : section(check.see, root);
  if (see) parts.push(h("p", { class: "hp-read" }, "Read: ", h("a", { href: see }, names[check.see] ?? sectionName(check.see))));
  return h("div", { class: "hp-why" }, parts.filter(Boolean));
}

/** Return, once for all of them, why checks were not run. */
function whyNot(check, { notRun, untried }) {
  if (!notRun) return null;
  const said = untried ? "Not tried: neither of the first two checks came to its end." : here(check.message);
  return h("div", { class: "hp-why" }, h("p", {}, ticked(said)), same(notRun - 1));
}

function same(others) {
  return others ? h("p", { class: "hp-others" }, `The same in ${others} other check${others === 1 ? "" : "s"}.`) : null;
}

function called(check) {
  const which = check.case ? h("span", { class: "hp-case" }, ` (${visible(check.case).replaceAll("\n", "\\n")})`) : null;
  return [h("p", { class: "hp-label" }, "Called", which), code(check.call)];
}

function sameAgain(check, printed) {
  if (!check.call) return h("p", { class: "hp-same" }, "The same as above.");
  const summary = h("summary", {}, "The same as above, in this call");
  return h("details", { class: "hp-same" }, summary, called(check), said(check, printed));
}

/** Return what was printed in the case that is shown: nearly always by one call. */
function said(check, printed) {
  if (!printed) return [];
  const shown = check.call?.match(/^\w+\(/gm)?.length ?? 0;
  let label = printed.calls === 1 ? "This call printed" : "These calls printed";
  if (printed.calls > shown) label = `The ${printed.calls.toLocaleString("en-US")} calls of this case printed, from the first on`;
  return printedBox(label, printed.text, MOST_SHOWN, MOST_LINES);
}

/** Return a label and the beginning of a text that code has printed. */
export function printedBox(label, text, most, lines) {
  const box = h("pre", { class: "hp-printed", tabindex: "0" }, h("code", {}, beginning(text, most, lines)));
  return [h("p", { class: "hp-label" }, label), box];
}

function value(label, text) {
  return h("div", {}, h("p", { class: "hp-label" }, label), code(text));
}

function code(text) {
  return h("pre", { tabindex: "0" }, h("code", {}, cut(text, 4_000, 60)));
}

/** Return the address of a section of the book; "" for what is none. */
function section(see, root) {
  return /^book\/[\w-]+\.html(#[\w-]*)?$/.test(see ?? "") ? new URL(see.slice("book/".length), root).href : "";
}

function link(line, goTo) {
  if (line === null) return null;
  return [" ", h("button", { type: "button", class: "hp-goto", onclick: () => goTo(line) }, `Go to line ${line}`)];
}
