// Progress as a file: to carry it to another browser, or to keep it.

import { clean, isSolved } from "./store.js";

const FORMAT = "half-precision-progress";
export const MOST = 20_000_000;

/** Return the text of a file with every record. */
export function exported(store) {
  return JSON.stringify({ format: FORMAT, version: 1, exercises: Object.fromEntries(store.all()) }, null, 1) + "\n";
}

/**
 * Take the records out of a file's text. Of an exercise that is here already the newer code is kept, with the better
 * score of the two.
 *
 * Returns how many exercises were brought in, and how many were kept as they are here. Throws, in a sentence, where the
 * text is no such file.
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
  const counts = { taken: 0, kept: 0 };
  for (const slug of slugs.filter((slug) => Object.hasOwn(file.exercises, slug))) {
    const theirs = clean(file.exercises[slug]);
    if (!theirs) continue;
    const ours = store.read(slug);
    const newer = !ours || theirs.saved > ours.saved;
    const merged = newer ? { ...theirs } : { ...ours };
    merged.best = better(theirs.best, ours?.best ?? null);
    merged.tries = Math.max(theirs.tries, ours?.tries ?? 0);
    merged.told = theirs.told || Boolean(ours?.told);
    store.write(slug, merged);
    counts[newer ? "taken" : "kept"] += 1;
  }
  return counts;
}

function better(one, other) {
  if (!one || !other) return one ?? other;
  if (isSolved({ best: one }) !== isSolved({ best: other })) return isSolved({ best: one }) ? one : other;
  return one.score / one.max >= other.score / other.max ? one : other;
}
