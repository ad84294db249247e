/* Run the page's Python in Node: `node driver.mjs <Pyodide's folder> <solve's folder>`, one job a line on stdin.
 *
 * A job is {"slug", "source", "ended"?, "usedUp"?} or {"run": Python source}; its answer is a line on stdout: {"ready": {...}} first, then
 * {"answer": ..., "tried": [what was told before each case], "printed", "milliseconds"}, {"value": ...} or {"error": "...", "died"}. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [pyodideFolder, solveFolder] = process.argv.slice(2).map((name) => `${resolve(name)}/`);
const { loadPyodide } = await import(pathToFileURL(`${pyodideFolder}pyodide.mjs`));
const { isFatal, lastLine, start } = await import(pathToFileURL(`${solveFolder}python.mjs`));
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const stages = [];
const began = performance.now();
let pyodide;
const kept = async (options) => (pyodide = await loadPyodide(options));
const archive = new Uint8Array(readFileSync(`${solveFolder}course.zip`));
const judge = await start({ loadPyodide: kept, indexURL: pyodideFolder, archive }, (stage) => stages.push(stage));
say({ ready: { stages, slugs: judge.slugs(), milliseconds: performance.now() - began } });

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  const since = performance.now();
  try {
    if (job.run !== undefined) {
      say({ value: pyodide.runPython(job.run) ?? null });
      continue;
    }
    const tried = [];
    const pieces = [];
    const told = (check, number, of, place, allowed) => tried.push([check, number, of, place, allowed]);
    const answer = judge.answer(job.slug, job.source, told, (text) => pieces.push(text), job.ended, job.usedUp);
    say({ answer, tried, printed: pieces.join(""), clock: judge.seconds(job.slug), milliseconds: performance.now() - since });
  } catch (error) {
    say({ error: lastLine(error), died: isFatal(error) });
  }
}
