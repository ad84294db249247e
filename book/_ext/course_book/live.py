"""Live figures: book/live, a script a kind of figure, loaded by the pages that hold one.

``figures.live.live`` writes the element; this finds it in the page, and adds its script::

    _static/live/sawtooth-<hash>.js    for <hp-live-sawtooth>
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any, Final

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from course_book import esbuild
from course_book.graded import course_root

SOURCES: Final = Path(__file__).resolve().parents[2] / "live"
FOLDER: Final = "live"
"""The scripts' folder in _static."""
_ELEMENT: Final = re.compile(r"<hp-live-([a-z]+)[ >]")
log = logging.getLogger(__name__)


def kinds() -> list[str]:
    """Return the kinds of live figures that there are: book/live has a script of that name for each."""
    return sorted(path.stem for path in SOURCES.glob("*.js") if "hp-live-" + path.stem in path.read_text("utf-8"))


def bundle(modules: Path, static: Path) -> dict[str, esbuild.Script]:
    """Write the scripts into a site's ``_static`` and return them by the kind of figure.

    Args:
        modules: the folder ``node_modules``.
        static: the site's folder for files that pages load.

    Raises:
        FileNotFoundError: esbuild is not installed.
        ExtensionError: a script cannot be bundled; esbuild's words say why.
    """
    folder = static / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    scripts = {kind: esbuild.bundled(SOURCES / f"{kind}.js", modules, folder)[0] for kind in kinds()}
    return {kind: esbuild.script(path, FOLDER) for kind, path in scripts.items()}


def _write(app: Sphinx, env: BuildEnvironment) -> None:
    if app.builder.format != "html":
        return
    try:
        app.course_live = bundle(course_root(app) / esbuild.MODULES, Path(app.outdir, "_static"))  # type: ignore[attr-defined]
    except FileNotFoundError:
        log.warning("esbuild is not there, so live figures would stand still: run `make book`, which installs it")


def _add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    scripts: dict[str, esbuild.Script] = getattr(app, "course_live", {})
    for kind in sorted(set(_ELEMENT.findall(context.get("body", "")))):
        if scripts and kind not in scripts:
            log.warning("%s: there is no live figure %r; there are: %s", page, kind, ", ".join(scripts))
        elif scripts:
            app.add_js_file(scripts[kind].path, type="module", integrity=scripts[kind].integrity)


def setup(app: Sphinx) -> None:
    """Connect what is written before the pages, and what each page loads."""
    app.connect("env-updated", _write)
    app.connect("html-page-context", _add_scripts)
