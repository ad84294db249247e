"""The table of the exercises, read from their folders and from the pages that hold them (chapter 0)."""

from __future__ import annotations

import html
import re
from pathlib import Path

from autograder import catalog
from autograder.models import Exercise
from autograder.notebook_cells import points
from figures.style import Picture

COLUMNS = ("Exercise", "Chapter", "Checks", "Points")
BOOK = Path(__file__).resolve().parents[1]
_GRADED = re.compile(r"^```\{graded\} (\w+)\s*$", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def places(book: Path = BOOK) -> dict[str, tuple[str, str]]:
    """Return for each exercise, in the order of the chapters, the page that holds it and that page's title."""
    found = {}
    for page in sorted(book.glob("[0-9][0-9]_*.md")):
        text = page.read_text(encoding="utf-8")
        title = _TITLE.search(text)
        for slug in _GRADED.findall(text):
            found[slug] = (page.stem, title[1] if title else page.stem)
    return found


def table(book: Path = BOOK) -> Picture:
    """Return a table with a row for each exercise that a page holds: title, chapter, checks, points."""
    exercises = catalog.load_all(book.parent)
    rows = [(exercises[slug], page, title) for slug, (page, title) in places(book).items()]
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    body = "".join(_row(*row) for row in rows)
    markup = f'<table class="table hp-stack hp-exercises"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return Picture(markup, "; ".join(f"{exercise.title}, in {title}" for exercise, _, title in rows))


def _row(exercise: Exercise, page: str, title: str) -> str:
    link = f'<a href="{page}.html#exercise-{exercise.slug}">{html.escape(exercise.title)}</a>'
    link += " (stretch)" if exercise.stretch else ""
    cells = (link, html.escape(title), str(len(exercise.checks)), points(exercise.max_score).split()[0])
    labels = [f'<span class="hp-column" data-column="{name}"></span>' for name in COLUMNS]
    return f"<tr>{''.join(f'<td>{label}{cell}</td>' for label, cell in zip(labels, cells, strict=True))}</tr>"
