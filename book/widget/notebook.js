// The reader's code in the exercise's notebook, ready to submit.

import { save } from "./files.js";

/** Put code into the cell of a student's notebook that holds the answer. Throws where there is no such cell. */
export function withAnswer(notebook, slug, code) {
  const answer = notebook.cells?.find((cell) => cell.metadata?.nbgrader?.grade_id === `${slug}_solution`);
  if (!answer) throw new Error(`the notebook has no cell ${slug}_solution`);
  const lines = code.replace(/^\n+|\n+$/g, "").split("\n");
  const source = lines.map((line, index) => (index < lines.length - 1 ? `${line}\n` : line));
  const filled = source.length === 1 && !source[0] ? [] : source;
  return { ...notebook, cells: notebook.cells.map((cell) => (cell === answer ? { ...cell, source: filled } : cell)) };
}

/** Fetch an exercise's notebook, fill it in, and hand it to the reader as a file. */
export async function download(address, slug, code) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  const notebook = withAnswer(await answer.json(), slug, code);
  save(`${slug}.ipynb`, JSON.stringify(notebook, null, 1) + "\n", "application/x-ipynb+json");
}
