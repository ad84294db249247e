// How far a reader has come: beside each chapter in the sidebar, and in the table of exercises on the start page.

import { EXERCISES, pageOf, ROOT } from "./course.js";
import { h } from "./dom.js";
import { choose, save } from "./files.js";
import { isSolved } from "./store.js";
import { exported, imported, MOST } from "./transfer.js";
import { number } from "./words.js";

/** Return the state of an exercise in words, with the sign that stands before it. */
export function stateOf(entry, exercise) {
  if (isSolved(entry)) {
    const old = !entry.told && entry.best.version !== exercise.version;
    return { sign: "✓", words: old ? "Solved, as it was before it changed" : "Solved", solved: true };
  }
  if (entry?.best) return { sign: "◐", words: `${number(entry.best.score)} of ${number(entry.best.max)} points`, solved: false };
  if (entry?.code) return { sign: "◐", words: "Begun", solved: false };
  return { sign: "", words: "Not yet", solved: false };
}

export function progress(store) {
  const draw = () => {
    sidebar(store);
    table(store);
  };
  draw();
  store.listen(draw);
  window.addEventListener("pageshow", draw);
  const map = mapTable();
  if (map) map.after(panel(store));
}

// -------------------------------------------------------------------------- the sidebar

function sidebar(store) {
  for (const link of document.querySelectorAll(".bd-links a.reference")) {
    const page = link.getAttribute("href") === "#" ? pageOf(location.href) : pageOf(link.href);
    const here = Object.entries(EXERCISES).filter(([, exercise]) => exercise.page === page);
    const states = here.map(([slug, exercise]) => stateOf(store.read(slug), exercise));
    const solved = states.filter((state) => state.solved).length;
    const begun = states.some((state) => state.sign);
    link.querySelector(".hp-beside")?.remove();
    if (!begun) continue;
    const all = solved === here.length;
    const said = all ? "all exercises solved" : `${solved} of ${here.length} exercises solved`;
    link.append(
      h(
        "span",
        { class: `hp-beside${all ? " hp-all" : ""}` },
        h("span", { "aria-hidden": "true" }, all ? "✓" : `${solved}/${here.length}`),
        h("span", { class: "hp-unseen" }, ` (${said})`),
      ),
    );
  }
}

// -------------------------------------------------------------------------- the start page

/** Return the table that lists the exercises, or null where this page has none. */
function mapTable() {
  const tables = [...document.querySelectorAll(".bd-article table")];
  return tables.find((each) => each.querySelectorAll('tbody a[href*="#exercise-"]').length > 1) ?? null;
}

function table(store) {
  const map = mapTable();
  if (!map) return;
  const [head] = map.tHead.rows;
  // Beside the name, so that a phone shows it, too.
  if (!head.querySelector(".hp-yours")) head.cells[0].after(h("th", { class: "hp-yours" }, "Yours"));
  for (const row of map.tBodies[0].rows) {
    const slug = row.querySelector('a[href*="#exercise-"]')?.hash.slice("#exercise-".length);
    row.querySelector(".hp-yours")?.remove();
    const exercise = EXERCISES[slug];
    const state = exercise ? stateOf(store.read(slug), exercise) : { sign: "", words: "" };
    const text = state.sign ? [h("span", { "aria-hidden": "true" }, `${state.sign} `), state.words] : state.words;
    row.cells[0].after(h("td", { class: `hp-yours${state.solved ? " hp-all" : ""}`, "data-slug": slug }, text));
  }
}

/** Return what stands under the table: where progress is kept, and the two ways to carry it. */
function panel(store) {
  const said = h("p", { class: "hp-said-so", role: "status" });
  const say = (...words) => said.replaceChildren(...words);
  const kept = {
    "": "Your code and your progress are kept in this browser, and nowhere else.",
    full: "This browser's storage is full. What you do now is kept only while the page is open.",
    forbidden: "This browser lets pages keep nothing. What you do is gone when you close the page.",
  };
  const out = () => {
    save("half-precision-progress.json", exported(store), "application/json");
    say("Exported. The file holds your code and your scores.");
  };
  const take = async () => {
    try {
      const text = await choose(".json,application/json", MOST);
      if (text === null) return;
      const brought = imported(store, text, Object.keys(EXERCISES));
      say(...tellImported(brought, say), store.trouble ? ` ${kept[store.trouble]}` : "");
    } catch (error) {
      say(error.message);
    }
  };
  return h(
    "div",
    { class: "hp-progress", role: "group", "aria-label": "Your progress" },
    h("p", {}, kept[store.trouble], " To carry it elsewhere, take it along as a file."),
    h(
      "div",
      { class: "hp-row" },
      h("button", { type: "button", class: "hp-quiet", onclick: out }, "Export progress"),
      h("button", { type: "button", class: "hp-quiet", onclick: take }, "Import progress"),
    ),
    said,
  );
}

/** Return what is said of an import, with a button for what was not taken, and one that undoes what was. */
function tellImported(brought, say) {
  const { taken, same, newer } = brought;
  const button = (words, onclick) => h("button", { type: "button", class: "hp-goto", onclick }, words);
  const undo = button("Undo", () => {
    brought.undo();
    say("It is as it was before the import.");
  });
  const use = button("Use the file's code anyway", () => {
    brought.use();
    say(`The file's code is in place for ${names(newer)}. `, undo);
  });
  const here = same.length ? `Already here: ${count(same.length)}. ` : "";
  if (!taken.length && !newer.length) return [here.trim() || "This file holds none of the book's exercises."];
  return [
    ...(taken.length ? [`Imported: ${count(taken.length)}. `, undo, " "] : []),
    here,
    ...(newer.length ? [`Of ${count(newer.length)} the code in this browser is newer, and stays: ${names(newer)}. `, use] : []),
  ];
}

function names(slugs) {
  return slugs.map((slug) => EXERCISES[slug].title).join("; ");
}

function count(number) {
  return `${number} exercise${number === 1 ? "" : "s"}`;
}
