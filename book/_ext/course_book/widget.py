"""The page's own scripts: book/widget, bundled by esbuild into files that are named by what they hold.

::

    _static/widget/solve-<hash>.js    pages with an exercise: the cards, the reader's progress
    _static/widget/page-<hash>.js     every other page: the reader's progress
    _static/widget/editor-<hash>.js   CodeMirror; fetched when a reader first wants to write
    _static/widget/LICENSES.txt       of what is bundled into the editor

A browser may keep them for ever. Each page names the scripts with their hashes, the editor's in an import map, so that
nothing else than what was built is run.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from autograder import catalog
from course_book import esbuild
from course_book.graded import course_root

SOURCES: Final = Path(__file__).resolve().parents[2] / "widget"
FOLDER: Final = "widget"
"""The scripts' folder in _static; book/widget/course.js counts on its depth."""
log = logging.getLogger(__name__)


def bundle(modules: Path, static: Path, exercises: Mapping[str, Mapping[str, Any]]) -> dict[str, esbuild.Script]:
    """Write the scripts into a site's ``_static`` and return them by name: solve, page, editor.

    Args:
        modules: the folder ``node_modules``.
        static: the site's folder for files that pages load.
        exercises: what the scripts know of the book's exercises; book/widget/course.js says what.

    Raises:
        FileNotFoundError: esbuild is not installed.
        ExtensionError: a script cannot be bundled; esbuild's words say why.
    """
    folder = static / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    course = folder / "course.json"
    course.write_text(json.dumps(exercises), encoding="utf-8")
    editor, packages = esbuild.bundled(SOURCES / "editor.js", modules, folder)
    (folder / "LICENSES.txt").write_text(_licenses(modules, packages), encoding="utf-8")
    more = (f"--alias:hp-course={course}", f"--define:EDITOR_FILE={json.dumps('./' + editor.name)}")
    scripts = {name: esbuild.bundled(SOURCES / f"{name}.js", modules, folder, *more)[0] for name in ("solve", "page")}
    course.unlink()
    return {name: esbuild.script(path, FOLDER) for name, path in (scripts | {"editor": editor}).items()}


def _licenses(modules: Path, packages: set[str]) -> str:
    texts = (
        f"{name}\n\n{(modules / name / 'LICENSE').read_text(encoding='utf-8').strip()}\n" for name in sorted(packages)
    )
    return f"\n{'-' * 80}\n\n".join(texts)


# ------------------------------------------------------------------------------- sphinx


def _exercises(app: Sphinx, env: BuildEnvironment) -> dict[str, dict[str, Any]]:
    """Return what the scripts know of the exercises, in the order of the pages."""
    found = {}
    for page in sorted(env.found_docs):
        for slug in env.metadata.get(page, {}).get("graded", []):
            exercise = catalog.load(slug, course_root(app))
            facts = {"title": exercise.title, "version": exercise.version, "max": exercise.max_score}
            found[slug] = {"page": f"{page}.html", **facts}
    return found


def _write(app: Sphinx, env: BuildEnvironment) -> None:
    """Bundle the scripts once all pages are read, and before the first is written."""
    if app.builder.format != "html":
        return
    modules = course_root(app) / esbuild.MODULES
    try:
        app.course_widget = bundle(modules, Path(app.outdir, "_static"), _exercises(app, env))  # type: ignore[attr-defined]
    except FileNotFoundError:
        log.warning(
            "esbuild is not there, so exercises could not be solved in the page: run `make book`, which installs it"
        )


def _add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    scripts: dict[str, esbuild.Script] = getattr(app, "course_widget", {})
    if not scripts:
        return
    solves = bool(app.env.metadata.get(page, {}).get("graded"))
    if solves:
        editor = scripts["editor"]
        address = f"./{'../' * page.count('/')}_static/{editor.path}"
        app.add_js_file(
            None, body=json.dumps({"integrity": {address: editor.integrity}}), type="importmap", priority=100
        )
    script = scripts["solve" if solves else "page"]
    app.add_js_file(script.path, type="module", integrity=script.integrity)


def setup(app: Sphinx) -> None:
    """Connect what is written before the pages, and what each page loads."""
    app.connect("env-updated", _write)
    app.connect("html-page-context", _add_scripts)
