/* The worker in which a page's Python lives. Its address carries that of Pyodide's folder:
 *
 *     new Worker(new URL(solve.worker, document.baseURI), { type: "module" })
 *
 * where `solve` is the JSON of the page's <script id="hp-solve">. It says, in this order:
 *
 *     {type: "loading", stage: "python" | "course" | "judge"}
 *     {type: "ready", milliseconds}
 *
 * and answers {id, slug, source, ended, usedUp}, one at a time, with
 *
 *     {type: "started", id, seconds}                 twice so many are the end of a run in any case
 *     {type: "trying", id, check, number, of, case, allowed}
 *                                                    before each case: its check may take so many seconds; number 0 is
 *                                                    the code itself as it is read in
 *     {type: "printed", id, text}                    what the code prints, piece by piece: the beginning of it
 *     {type: "graded", id, record, marks, printed}   see autograder/browser/judge.py
 *
 * or, in place of the last one, {type: "failed", id, message}; or {type: "died", id, message}, id null before it is
 * ready: then there is no Python left in here, and the page must end this worker and make another. The clock is the
 * page's, too: it ends a worker that does not answer in time, and asks the next one with what has ended. */

import { isFatal, lastLine, start } from "./python.mjs";

const began = performance.now();
const folder = new URL(new URL(import.meta.url).searchParams.get("pyodide"), import.meta.url).href;
const say = (message) => self.postMessage(message);

// What these addresses name never changes, so what the browser has of it need not be asked for again: it may be offline.
const { fetch } = self;
self.fetch = (resource, options) => fetch(resource, { cache: "force-cache", ...options });

async function archive() {
  const response = await self.fetch(new URL("course.zip", import.meta.url));
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}: ${response.url}`);
  return response.arrayBuffer();
}

async function load() {
  const [{ loadPyodide }, bytes] = await Promise.all([import(`${folder}pyodide.mjs`), archive()]);
  const from = { loadPyodide, indexURL: folder, archive: bytes };
  return start(from, (stage) => say({ type: "loading", stage }));
}

const ended = (error) => say({ type: "died", id: null, message: lastLine(error) });
// Where a file of Pyodide's does not come, its promise of Python stays open for ever, and only this tells of it.
const refused = (event) => {
  event.preventDefault();
  ended(event.reason);
};
self.addEventListener("unhandledrejection", refused);

const python = load();
python.then(() => {
  self.removeEventListener("unhandledrejection", refused);
  say({ type: "ready", milliseconds: performance.now() - began });
}, ended);

self.addEventListener("message", async ({ data: { id, slug, source, ended, usedUp } }) => {
  let judge;
  try {
    judge = await python;
  } catch {
    return; // the page was told
  }
  try {
    say({ type: "started", id, seconds: judge.seconds(slug) });
    const trying = (check, number, of, place, allowed) =>
      say({ type: "trying", id, check, number, of, case: place, allowed });
    const printed = (text) => say({ type: "printed", id, text });
    say({ type: "graded", id, ...judge.answer(slug, source, trying, printed, ended, usedUp) });
  } catch (error) {
    say({ type: isFatal(error) ? "died" : "failed", id, message: lastLine(error) });
  }
});
