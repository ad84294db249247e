// What a reader wrote and reached, kept in this browser: one record an exercise, so that two pages never write the same.
//
//   code     what stands in the editor, "" for    saved    when, in milliseconds
//            the starter
//   version  the exercise's, as it was then       tries    how many different answers were run to the end
//   tried    the last of them, as a digest        best     {score, max, version} of the best run, or null
//   solution the code of the last run with every point, "" for none
//   told     what a reader says of an exercise that only runs elsewhere: true where it is solved

export const PREFIX = "half-precision/1/";
export const EMPTY = { code: "", version: "", saved: 0, tries: 0, tried: "", best: null, solution: "", told: false };
const MOST_CODE = 2_000_000;

/** Return a record with every field of its kind; what is damaged is left empty. */
export function clean(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const entry = { ...EMPTY };
  for (const [name, kept] of Object.entries(EMPTY))
    if (kept !== null && typeof value[name] === typeof kept) entry[name] = value[name];
  if (!Number.isFinite(entry.saved) || !Number.isFinite(entry.tries) || entry.code.length > MOST_CODE) return null;
  if (entry.solution.length > MOST_CODE) entry.solution = "";
  const best = value.best;
  if (best && Number.isFinite(best.score) && Number.isFinite(best.max) && typeof best.version === "string")
    entry.best = { score: best.score, max: best.max, version: best.version };
  return entry;
}

/** Return whether a record says that its exercise is solved. */
export function isSolved(entry) {
  return Boolean(entry && (entry.told || (entry.best && entry.best.score >= entry.best.max)));
}

export class Store {
  /** Where `storage` cannot be used, or is full, records live as long as the page. */
  constructor(open = () => window.localStorage) {
    this.memory = new Map();
    this.trouble = "";
    this.listeners = [];
    window.addEventListener("storage", (event) => {
      if (event.key === null) this.tell(null, true);
      else if (event.key.startsWith(PREFIX)) this.tell(event.key.slice(PREFIX.length), true);
    });
    try {
      this.storage = open();
      this.storage.getItem(PREFIX);
      if (this.storage.lastsAsLongAsThePage) throw new DOMException("no storage", "SecurityError"); // theme.py's
    } catch {
      this.storage = null;
      this.trouble = "forbidden";
    }
  }

  /** Return the record of an exercise, or null. */
  read(slug) {
    if (this.memory.has(slug)) return this.memory.get(slug);
    try {
      return clean(JSON.parse(this.storage?.getItem(PREFIX + slug) ?? "null"));
    } catch {
      return null;
    }
  }

  /** Keep a change to an exercise's record; `trouble` then says "", "full" or "forbidden". Return the record. */
  write(slug, change) {
    const entry = { ...EMPTY, ...this.read(slug), ...change };
    try {
      if (!this.storage) throw new DOMException("no storage", "SecurityError");
      this.storage.setItem(PREFIX + slug, JSON.stringify(entry));
      this.memory.delete(slug);
      this.trouble = this.memory.size ? this.trouble : "";
    } catch (error) {
      this.memory.set(slug, entry);
      this.trouble = error.name === "SecurityError" ? "forbidden" : "full";
    }
    this.tell(slug, false);
    return entry;
  }

  /** Return every record by slug, those of the page first. */
  all() {
    const found = new Map();
    for (let index = 0; index < (this.storage?.length ?? 0); index += 1) {
      const key = this.storage.key(index);
      if (key.startsWith(PREFIX)) found.set(key.slice(PREFIX.length), null);
    }
    for (const slug of this.memory.keys()) found.set(slug, null);
    for (const slug of found.keys()) found.set(slug, this.read(slug));
    return new Map([...found].filter(([, entry]) => entry));
  }

  /** Call `changed(slug, elsewhere)` when a record was written, here or in another page of this browser; null: any. */
  listen(changed) {
    this.listeners.push(changed);
  }

  tell(slug, elsewhere) {
    for (const changed of this.listeners) changed(slug, elsewhere);
  }
}
