"""What pages need in order to run Python: Pyodide's files, the worker, and the archive that it unpacks.

Both folders are named by what they hold, so that a browser may keep them for ever::

    _static/pyodide-<version>-<digest>/   pyodide.mjs, pyodide.asm.mjs, pyodide.asm.wasm, python_stdlib.zip, ...
    _static/solve-<digest>/               worker.mjs, python.mjs, course.zip

A page with an exercise that runs in a browser carries their addresses, relative to itself, and nothing loads them
before its script does: ``<script type="application/json" id="hp-solve">{"worker": ..., "exercises": [...], "sections":
{...}}</script>``. The sections are those that the exercises' checks name, with their titles.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from autograder import catalog
from autograder.browser import archive
from course_book.graded import course_root

PACKAGE: Final = "build/assets/node_modules/pyodide"
"""Where scripts/book.sh installs Pyodide, in the course's folder."""
_COPIED: Final = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
_LOCK: Final = "pyodide-lock.json"
_SCRIPTS: Final = ("worker.mjs", "python.mjs")
_NOTICE: Final = """\
This folder holds files of Pyodide {version}, unchanged but for pyodide-lock.json, from which the list of packages is
taken out. Pyodide is licensed under the Mozilla Public License 2.0; its source, and that of what it is built from,
is at https://github.com/pyodide/pyodide/tree/{version}. It contains CPython and its standard library, under the
Python Software Foundation License 2.0: https://docs.python.org/3/license.html
"""
_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the two folders are in a site, relative to ``_static``."""

    pyodide: str
    solve: str

    def worker(self, up: str = "") -> str:
        """Return the worker's address.

        Args:
            up: the way from a page to the site's root, "" or "../"s.
        """
        return f"{up}_static/{self.solve}/worker.mjs?pyodide=../{self.pyodide}/"


def write(root: Path, static: Path) -> Places:
    """Write both folders into a site's ``_static`` and return their names; what is there already stays.

    Args:
        root: the course's folder, in which Pyodide is installed.
        static: the site's folder for files that pages load.

    Raises:
        FileNotFoundError: Pyodide is not installed.
        CourseError: an exercise cannot be packed.
    """
    places = Places(_pyodide_name(root / PACKAGE), f"solve-{archive.digest(_solve(root))}")
    if not (static / places.pyodide).is_dir():
        _write_pyodide(root / PACKAGE, _fresh(static, places.pyodide))
    if not (static / places.solve).is_dir():
        files = archive.contents(root)
        folder = _fresh(static, places.solve)
        (folder / "course.zip").write_bytes(archive.packed(files))
        for name in _SCRIPTS:
            shutil.copyfile(Path(__file__).with_name(name), folder / name)
    return places


def _solve(root: Path) -> dict[str, bytes]:
    return archive.contents(root) | {name: Path(__file__).with_name(name).read_bytes() for name in _SCRIPTS}


def _pyodide_name(package: Path) -> str:
    version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    whole = hashlib.sha256(_NOTICE.encode())
    for name in (*_COPIED, _LOCK):
        with open(package / name, "rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return f"pyodide-{version}-{whole.hexdigest()[:8]}"


def _write_pyodide(package: Path, folder: Path) -> None:
    for name in _COPIED:
        shutil.copyfile(package / name, folder / name)
    # The list of packages, 119 KB, names files that no site of ours has: Python alone is what there is.
    info = json.loads((package / _LOCK).read_text(encoding="utf-8"))["info"]
    (folder / _LOCK).write_text(json.dumps({"info": info, "packages": {}}), encoding="utf-8")
    version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    (folder / "NOTICE.txt").write_text(_NOTICE.format(version=version), encoding="utf-8")


def _fresh(static: Path, name: str) -> Path:
    """Return a new folder of that name, without those that earlier builds have left for the same purpose."""
    for old in static.glob(f"{name.partition('-')[0]}-*"):
        shutil.rmtree(old)
    folder = static / name
    folder.mkdir(parents=True)
    return folder


# ------------------------------------------------------------------------------- sphinx


def _before(app: Sphinx) -> None:
    """Write the folders before the pages: their names stand in them."""
    if app.builder.format != "html":
        return
    try:
        app.course_solve = write(course_root(app), Path(app.outdir, "_static"))  # type: ignore[attr-defined]
    except FileNotFoundError:
        log.warning("Pyodide is not there, so pages could not run Python: run `make book`, which installs it")


def _tell_page(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    places: Places | None = getattr(app, "course_solve", None)
    able = archive.slugs(course_root(app)) if places else ()
    here = [slug for slug in app.env.metadata.get(page, {}).get("graded", []) if slug in able]
    if places is None or not here:
        return
    told = {
        "worker": places.worker("../" * page.count("/")),
        "exercises": here,
        "sections": _sections(app.env, course_root(app), here),
    }
    app.add_js_file(None, body=json.dumps(told), type="application/json", id="hp-solve")


def _sections(env: BuildEnvironment, root: Path, slugs: list[str]) -> dict[str, str]:
    """Return the titles of the sections that exercises' checks name: ``One scaler step, “Judge the gradients”``."""
    named = {check.see for slug in slugs for check in catalog.load(slug, root).checks if check.see}
    labels = {(page, label): title for page, label, title in env.get_domain("std").labels.values()}  # type: ignore[attr-defined]
    found = {}
    for see in sorted(named):
        page, _, anchor = see.removeprefix("book/").partition("#")
        name = page.removesuffix(".html")
        section = labels.get((name, anchor), "")
        if name in env.titles and (section or not anchor):
            title = env.titles[name].astext()
            found[see] = _powers(f"{title}, “{section}”" if section else title)
    return found


def _powers(title: str) -> str:
    """Return a title whose formulas are powers, ``2^{-25}``, in plain characters: 2⁻²⁵."""
    return re.sub(r"\^\{?(-?\d+)\}?", lambda found: found[1].translate(_RAISED), title)


def setup(app: Sphinx) -> None:
    """Connect what is written before the pages, and what each page is told."""
    app.connect("builder-inited", _before, priority=600)  # after theme's, which makes _static a folder
    app.connect("html-page-context", _tell_page)
