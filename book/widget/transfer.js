// Progress as a file: to carry it to another browser, or to keep it.

import { clean, EMPTY, isSolved } from "./store.js";

const FORMAT = "half-precision-progress";
export const MOST = 20_000_000;

/** Return the text of a file with every record. */
export function exported(store) {
  return JSON.stringify({ format: FORMAT, version: 1, exercises: Object.fromEntries(store.all()) }, null, 1) + "\n";
}

/**
 * Take the records out of a file's text. Of an exercise that is here already the newer code is kept, with the better
 * score of the two; where there is code on one side alone, that is kept.
 *
 * Returns {taken, same, newer, use, undo}: the exercises that were brought in, those whose code is here already, and
 * those whose code here is newer and was kept; `use()` puts the file's in place of these, and `undo()` brings back every
 * record as it was. Throws, in a sentence, where the text is no such file.
 */
export function imported(store, text, slugs) {
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Error("This is not a progress file of this book: it is not JSON.");
  }
  if (file?.format !== FORMAT || typeof file.exercises !== "object" || file.exercises === null)
    throw new Error("This is not a progress file of this book.");
  if (file.version !== 1) throw new Error("This progress file was written by a newer version of the book.");
  const found = { taken: [], same: [], newer: [] };
  const before = new Map();
  const files = new Map();
  for (const slug of slugs.filter((slug) => Object.hasOwn(file.exercises, slug))) {
    const theirs = clean(file.exercises[slug]);
    if (!theirs) continue;
    const ours = store.read(slug);
    const same = Boolean(ours) && (theirs.code === ours.code || (!theirs.code && Boolean(ours.code)));
    const take = !ours || (!same && (!ours.code || theirs.saved > ours.saved));
    const { code, version, saved } = take ? theirs : ours;
    const best = better(theirs.best, ours?.best ?? null);
    const [first, second] = best === theirs.best ? [theirs, ours] : [ours, theirs];
    before.set(slug, ours ?? EMPTY);
    files.set(slug, theirs);
    store.write(slug, {
      code,
      version,
      saved: take ? Math.max(saved, (ours?.saved ?? 0) + 1) : saved, // so that other windows take it for the newer one
      best,
      solution: first?.solution || second?.solution || "",
      tries: Math.max(theirs.tries, ours?.tries ?? 0),
      tried: (take ? theirs : ours).tried,
      told: theirs.told || Boolean(ours?.told),
    });
    found[take ? "taken" : same ? "same" : "newer"].push(slug);
  }
  const put = (slug, { code, version }) => store.write(slug, { code, version, saved: Date.now() });
  return {
    ...found,
    use: () => found.newer.forEach((slug) => put(slug, files.get(slug))),
    undo: () => before.forEach((entry, slug) => store.write(slug, { ...entry, saved: Date.now() })),
  };
}

function better(one, other) {
  if (!one || !other) return one ?? other;
  if (isSolved({ best: one }) !== isSolved({ best: other })) return isSolved({ best: one }) ? one : other;
  return one.score / one.max >= other.score / other.max ? one : other;
}
