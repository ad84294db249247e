"""A class in a terminal: each submission where they are few; of many, how each exercise went and what to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from autograder.models import Exercise
from autograder.report import words
from autograder.report.class_statistics import BY_HAND, KINDS, POINTED, ExerciseStatistics, class_statistics
from autograder.report.rows import Row
from autograder.report.terminal import class_table, drawn, summary, widths
from autograder.report.untrusted import one_line

LISTED: Final = 200
"""Submissions that are listed one by one; a table of more is not read, it scrolls by."""
_NAMED: Final = 3
_COLUMNS: Final[tuple[tuple[str, JustifyMethod], ...]] = (
    ("exercise", "left"),
    ("handed in", "right"),
    ("graded", "right"),
    ("mean", "right"),
    ("median", "right"),
    ("hardest check", "left"),
)


def class_text(rows: Sequence[Row], exercises: Mapping[str, Exercise], *, width: int = 120, color: bool = False) -> str:
    """Return what a terminal shows of a class: ``class_table``, or an overview where that would be too long.

    Args:
        rows: the submissions, in any order.
        exercises: by slug; every row's is among them.
        width: columns; what does not fit is cut with an ellipsis.
        color: whether to add ANSI colors.
    """
    if len(rows) <= LISTED:
        return class_table(rows, width=width, color=color)
    found = class_statistics(rows, exercises)
    lines = [tuple(_cells(statistics)) for statistics in found]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for (name, justify), columns in zip(_COLUMNS, widths([name for name, _ in _COLUMNS], lines, width), strict=True):
        table.add_column(name, no_wrap=True, overflow="ellipsis", justify=justify, width=columns)
    for line in lines:
        table.add_row(*line)
    looks = [Text(line, no_wrap=True, overflow="ellipsis") for line in _looks(found)]
    more = f"The {len(rows):,} submissions, one by one, are in the class report and in grades.csv."
    return drawn([table, Text(), *looks, *([Text()] if looks else []), Text(summary(rows)), Text(more)], width, color)


def _cells(statistics: ExerciseStatistics) -> Iterator[Text]:
    return map(Text, _texts(statistics))


def _texts(statistics: ExerciseStatistics) -> Iterator[str]:
    highest = words.number(statistics.exercise.max_score)
    yield one_line(statistics.exercise.slug)
    yield f"{len(statistics.rows):,}"
    yield f"{statistics.graded:,}"
    for value in (statistics.mean, statistics.median):
        yield "–" if value is None else f"{words.number(round(value, 2))}/{highest}"
    hardest = next((tally for tally in statistics.checks if tally.hardest), None)
    yield f"{words.share(hardest.passed, hardest.graded)} pass: {one_line(hardest.check.title)}" if hardest else ""


def _looks(found: Sequence[ExerciseStatistics]) -> Iterator[str]:
    """Yield a line for each kind of submission to look at: how many there are, and who the first are."""
    # What was marked by hand and what points into the grader is listed by itself, whatever else is to be said of it.
    who: dict[str, list[Row]] = {kind: [] for kind in KINDS if kind not in (BY_HAND, POINTED)}
    for statistics in found:
        for trouble in statistics.troubles:
            if kind := next((kind for kind in trouble.kinds if kind in who), ""):
                who[kind].append(trouble.row)
    if not any(who.values()):
        return
    yield "To look at:"
    size = max(len(f"{len(rows):,}") for rows in who.values())
    for kind, rows in who.items():
        if rows:
            some = ", ".join(_named(row, len(found) > 1) for row in rows[:_NAMED])
            yield f"  {len(rows):>{size},} {kind}: {some}{', …' if len(rows) > _NAMED else ''}"


def _named(row: Row, of_several: bool) -> str:
    name = one_line(row.student, 40)
    return f"{name} ({one_line(row.exercise, 40)})" if of_several else name
