"""Scores as HTML: a fragment for a notebook's output, and the feedback page that a student reads.

Both are static: no script, no request. Every value that a template prints passes through ``_printed`` and is escaped,
so that a name, an output or a cell can put neither markup nor a control character on the page. Only the exercise's own
Markdown and colored listings are markup.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from autograder.models import Cell, CheckResult, Exercise, Score
from autograder.report import words
from autograder.report.listing import Line, colored, listing, numbered
from autograder.report.places import section_name
from autograder.report.untrusted import cut, escaped, one_line, visible

_PLACE: Final = re.compile(r"line (\d{1,6}) of cell (\d{1,6})|cell (\d{1,6}), line (\d{1,6})")
_TICKED: Final = re.compile(r"`([^`\n]{1,200})`")
_CODE: Final = 200_000
"""Characters of a submission's code that are shown, and below, how many of its cells."""
_CELLS: Final = 100
_HEADINGS: Final = {f"h{level}": f"h{min(level + 2, 6)}" for level in range(1, 7)}
"""In a page, a statement's headings stand below those of the page."""


def fragment(score: Score, hints: tuple[str, ...] = ()) -> str:
    """Return a score as one HTML element with its own style, for the output of a notebook's cell.

    It follows the theme of JupyterLab, Colab, VS Code and Jupyter Book, else the system's.
    """
    return render("fragment.html", score=score, hints=_hints(score, hints), book_url="", **_common(score))


def feedback_page(score: Score, exercise: Exercise, cells: tuple[Cell, ...], *, book_url: str = "") -> str:
    """Return the whole feedback page of a submission.

    Args:
        score: the submission's score.
        exercise: its exercise.
        cells: the student's code.
        book_url: where the book is; without it, sections are named and not linked.
    """
    return render(
        "page.html",
        style=_page_style(),
        score=score,
        title=exercise.title,
        statement=_markdown(exercise.statement),
        hints=_hints(score, exercise.hints),
        cells=list(_listings(score, cells)),
        cells_left=max(0, len(cells) - _CELLS),
        provenance=words.provenance(score),
        book_url=base_url(book_url),
        **_common(score),
    )


def base_url(book_url: str) -> str:
    """Return where the book is with a slash at the end; empty where it is nowhere."""
    return book_url and book_url.rstrip("/") + "/"


def _common(score: Score) -> dict[str, Any]:
    return {
        "headline": words.headline(score),
        "reason": words.reason(score),
        "marks": words.marks_of(score),
        "ring": _ring(tuple((each.points, _kind(score, each)) for each in score.checks), words.marks_of(score)),
        "cards": list(_cards(score)),
        "output": cut(score.output, 20_000, 400),
    }


def _hints(score: Score, hints: tuple[str, ...]) -> list[Markup]:
    return [] if words.is_full(score) or score.status == "unreadable" else [_markdown(hint) for hint in hints]


# ---------------------------------------------------------------------------- checks


@dataclass(frozen=True, slots=True)
class Card:
    """A check as the templates show it."""

    result: CheckResult
    sign: str
    earned: str
    kind: str
    """Class name: passed, lost, waiting (without an answer) or todo (nothing written yet)."""
    open: bool
    """Whether there is something of its own to say."""
    believed: bool
    """Whether its belief was already explained above."""
    section: str
    """The section of the book, in words."""


def _cards(score: Score) -> Iterable[Card]:
    quiet = score.status == "not_started" or bool(words.shared_trouble(score.checks))
    believed: set[str] = set()
    for result in score.checks:
        lost = result.status != "passed"
        yield Card(
            result,
            words.mark(result),
            words.earned(score, result),
            _kind(score, result),
            lost and not quiet,
            bool(result.belief) and result.belief in believed,
            section_name(result.see),
        )
        believed.add(result.belief)


def _kind(score: Score, result: CheckResult) -> str:
    if score.status == "not_started":
        return "todo"
    return {"✓": "passed", "✗": "lost", "…": "waiting"}[words.mark(result)]


@dataclass(frozen=True, slots=True)
class Arc:
    """A check's part of the ring around the score, in hundredths of the circle."""

    start: float
    length: float
    kind: str


def _arcs(parts: Sequence[tuple[float, str]]) -> list[Arc]:
    """Return the arcs of checks, each given by its points and its kind."""
    total = sum(points for points, _ in parts)
    if not total:
        return []
    arcs: list[Arc] = []
    start = 0.0
    gap = 1.2 if len(parts) > 1 else 0.0
    for points, kind in parts:
        share = 100 * points / total
        arcs.append(Arc(round(start + gap / 2, 2), round(max(share - gap, 0.2), 2), kind))
        start += share
    return arcs


def _listings(score: Score, cells: tuple[Cell, ...]) -> Iterator[tuple[int, list[Line]]]:
    places = _places(score)
    left = _CODE
    for cell in cells[:_CELLS]:
        yield cell.number, listing(cell.source, frozenset(places.get(cell.number, ())), left)
        left -= len(cell.source)


def _places(score: Score) -> dict[int, set[int]]:
    """Return the lines of each cell that an exception or a forbidden name was reported in."""
    found: dict[int, set[int]] = {}
    for result in score.checks:
        places = _PLACE.findall(result.message) if result.status in ("error", "forbidden", "memory") else ()
        if places:  # the last one: an exception's own text comes before it
            line, cell, cell_first, line_second = places[-1]
            found.setdefault(int(cell or cell_first), set()).add(int(line or line_second))
    return found


# --------------------------------------------------------------------------- drawing


def _printed(value: Any) -> str:
    return value if isinstance(value, Markup) else visible(str(value))


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printed,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "colored": colored, "numbered": numbered, "one_line": one_line, "ticked": _ticked, "sha256": _sha256,
    }  # fmt: skip
    environment.globals |= {"labels": words.LABELS, "check_head": _check_head}
    return environment


def _sha256(text: str) -> str:
    """Return the digest by which a Content-Security-Policy knows the page's one style sheet."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _ticked(text: str) -> Markup:
    """Return a message with what stands between backticks as code; all of it is escaped."""
    parts = map(escaped, _TICKED.split(visible(text)))
    return Markup("".join([f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts)]))


# Of what a class's pages are made of, the same few rings and heads of checks stand in most. None of it is a student's.


@functools.lru_cache(maxsize=512)
def _ring(parts: tuple[tuple[float, str], ...], marks: str) -> Markup:
    """Return the ring around a score, of the points and the kind of each check."""
    return Markup(_parts().ring(_arcs(parts), marks))


@functools.lru_cache(maxsize=2_048)
def _check_head(*shown: str | int | bool) -> Markup:
    """Return the beginning of a check's element: what is said of it in one line."""
    return Markup(_parts().head(*shown))


def _parts() -> Any:
    return _TEMPLATES.get_template("parts.html.j2").module


@functools.cache
def _page_style() -> Markup:
    """Return the style sheet of a page, which is the same for all."""
    return Markup(render("page.css"))


def render(template: str, **values: Any) -> str:
    """Return a template of this package, filled in; every value that is not ``Markup`` is made visible and escaped."""
    return _TEMPLATES.get_template(f"{template}.j2").render(values)


def drawn(template: str, **values: Any) -> Iterator[str]:
    """Yield what ``render`` returns in parts, each made when it is asked for."""
    return _TEMPLATES.get_template(f"{template}.j2").generate(values)


def _code_block(source: str, language: str, _attributes: str) -> str:
    return str(colored(source)) if language in ("", "py", "python") else ""


@functools.lru_cache(maxsize=256)
def _markdown(source: str) -> Markup:
    """Return the course's own Markdown as HTML; raw HTML in it stays text.

    Statements and hints are few, and stand in thousands of pages.
    """
    tokens = _MARKDOWN.parse(source)
    for token in tokens:
        token.tag = _HEADINGS.get(token.tag, token.tag)
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


_TEMPLATES: Final = _environment()
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False, "highlight": _code_block}).enable("table")
