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
 *   slugs(), seconds(slug), tooLate(slug), answer(slug, source, trying): autograder/browser/judge.py says what they do.
 */
export async function start({ loadPyodide, indexURL, archive }, told = () => {}) {
  told("python");
  const silent = () => {};
  // Nobody is at a keyboard, so `input()` meets the end of its file; what is printed is part of the answer.
  const pyodide = await loadPyodide({ indexURL, stdin: () => null, stdout: silent, stderr: silent });
  told("course");
  pyodide.unpackArchive(archive, "zip", { extractDir: "/course" });
  told("judge");
  pyodide.runPython("import sys\nsys.path.insert(0, '/course')");
  const judge = pyodide.pyimport("autograder.browser.judge");
  return {
    slugs: () => JSON.parse(judge.slugs()),
    seconds: (slug) => judge.seconds(slug),
    tooLate: (slug) => judge.too_late(slug),
    answer: (slug, source, trying) => JSON.parse(judge.answer(slug, source, trying)),
  };
}
