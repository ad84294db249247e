// What results say, in the words of autograder/report/words.py; a test compares the two.

export const LABELS = {
  returned: "It returned",
  after: "It left its arguments as",
  later: "Read again later, it was",
  kept: "Read again after all calls, it was",
};
const NO_ANSWER = ["timeout", "not_run"];

/** Return ✓ for a check that passed, … for one without an answer, ✗ for the others; · where nothing was written yet. */
export function mark(record, check) {
  if (record.status === "not_started") return "·";
  if (check.status === "passed") return "✓";
  return NO_ANSWER.includes(check.status) ? "…" : "✗";
}

/** Return a number without needless zeros. */
export function number(value) {
  return String(Number(value.toFixed(4)));
}

/** Return a number of points with its unit: 1 point, 0.5 points. */
export function points(value) {
  return `${number(value)} point${value === 1 ? "" : "s"}`;
}

/** Return what a check earned: "1 point", or "0 of 1 point"; what it is worth where nothing was written yet. */
export function earned(record, check) {
  if (check.earned === check.points || record.status === "not_started") return points(check.points);
  return `${number(check.earned)} of ${points(check.points)}`;
}

/** Return whether nothing is left to earn. */
export function isFull(record) {
  return record.status === "graded" && record.score !== null && record.score >= record.max_score;
}

/** Return one sentence on how the code did. */
export function headline(record) {
  const passed = record.checks.filter((check) => check.status === "passed").length;
  if (record.status === "unreadable") return "This submission could not be graded.";
  if (record.status === "not_started") return `Not started yet${record.reason ? `: ${sentence(record.reason)}` : "."}`;
  if (isFull(record)) return "Every check passes. Full marks.";
  return passed ? `${passed} of ${record.checks.length} checks pass.` : "No check passes yet.";
}

/** Return the one thing to say about the whole of it, beside the headline; "" where there is none. */
export function reason(record) {
  return record.status === "not_started" ? "" : sentence(record.reason || sharedTrouble(record.checks));
}

/** Return the message where it is the same for every check and about no call: said once, it is not ten errors. */
export function sharedTrouble(checks) {
  const [first] = checks;
  if (!first || first.status === "passed" || first.call) return "";
  return checks.every((check) => check.message === first.message) ? first.message : "";
}

function sentence(text) {
  return !text || /[.!?…”)]$/.test(text) ? text : `${text}.`;
}

/** Return a section of the book in words: "One scaler step, “judge”" for `book/04_one_scaler_step.html#judge`. */
export function sectionName(see) {
  const [page, anchor] = see.replace(/^book\//, "").split("#");
  const name = page.replace(/\.html$/, "").replace(/^\d+_/, "").replaceAll("_", " ");
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  return anchor ? `${title}, “${anchor.replaceAll("-", " ")}”` : title;
}
