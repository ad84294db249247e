/* Python for "solve in the page": Pyodide, the course's archive, and the functions that judge. It knows no page and no
 * worker, so that tests run this very file in Node. */

/**
 * Start Python and unpack the course.
 *
 * @param {object} from
 *   loadPyodide: Pyodide's function; indexURL: the address or path of its folder, which ends in a slash;
 *   archive: the bytes of course.zip.
 * @param {(stage: string) => void} told
 *   is called with "python", "course" and "judge", as each begins.
 * @returns {Promise<object>}
 *   slugs(), seconds(slug), answer(slug, source, trying, printed, ended, usedUp): autograder/browser/judge.py says what
 *   they do.
 */
export async function start({ loadPyodide, indexURL, archive }, told = () => {}) {
  told("python");
  const silent = () => {};
  // Nobody is at a keyboard, so `input()` meets the end of its file; what is printed is part of the answer.
  const pyodide = await loadPyodide({ indexURL, stdin: () => null, stdout: silent, stderr: silent });
  told("course");
  pyodide.unpackArchive(archive, "zip", { extractDir: "/course" });
  told("judge");
  pyodide.runPython("import sys\nsys.path.insert(0, '/course')\nimport torch");
  const judge = pyodide.pyimport("autograder.browser.judge");
  return {
    slugs: () => JSON.parse(judge.slugs()),
    seconds: (slug) => judge.seconds(slug),
    answer: (slug, source, trying, printed, ended = [], usedUp = false) =>
      JSON.parse(judge.answer(slug, source, trying, printed, JSON.stringify(ended), usedUp)),
  };
}

/** Return what an error says in one line: of a Python traceback the last one. */
export function lastLine(error) {
  return String(error?.message ?? error).trim().split("\n").at(-1);
}

/** Return whether there is no Python left after an error: the stack or the memory that it lives in is used up. */
export function isFatal(error) {
  return error?.pyodide_fatal_error === true || error?.constructor?.name !== "PythonError";
}
