"""Scores in a terminal: one student's feedback, and the table of a class.

Everything from a submission is passed through ``untrusted`` and drawn as plain Text, so that neither an escape
sequence nor rich's own markup in a name is obeyed.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.models import CheckResult, Score
from autograder.report import words
from autograder.report.places import Place, section_name
from autograder.report.rows import PROBLEM, Row
from autograder.report.untrusted import cut, one_line, visible
from autograder.values import brief

_STYLES: Final = {"✓": "green", "✗": "red", "…": "yellow"}
_BAR: Final = 40
_OUTPUT: Final = 1_500
"""Characters of printed output that are shown; the feedback page has more."""
_LISTED: Final = 30
_COLUMNS: Final[tuple[tuple[str, JustifyMethod], ...]] = (
    ("student", "left"),
    ("exercise", "left"),
    ("score", "right"),
    ("checks", "left"),
    ("look at first", "left"),
)
_GAP: Final = 3
"""Columns between two columns of the table."""


def feedback_text(
    score: Score,
    hints: tuple[str, ...] = (),
    *,
    width: int = 100,
    color: bool = False,
    place: Place = section_name,
) -> str:
    """Return one graded submission as its student reads it in a terminal.

    Args:
        score: the submission's score.
        hints: the exercise's hints; they are offered, not shown.
        width: columns; lines are folded to it.
        color: whether to add ANSI colors.
        place: says where a section of the book is; in words unless something better is known.
    """
    parts: list[RenderableType] = [_header(score)]
    if text := words.reason(score):
        parts.append(_text(visible(text)))
    if score.checks:
        parts.append(_checks(score, place))
    for note in score.notes:
        parts.append(_text(f"Note: {one_line(note)}", "dim"))
    for pointer in score.look:
        parts.append(_text(f"Worth a look: {one_line(pointer, PROBLEM)}", "dim"))
    if score.output:
        parts.append(Group(_text("Printed:", "dim"), Padding(_text(cut(score.output, _OUTPUT, 20)), (0, 0, 0, 2))))
    if hints and not words.is_full(score) and score.status != "unreadable":
        parts.append(_text(_offer(len(hints))))
    return drawn([part for item in parts for part in (item, Text())][:-1], width, color)


def _header(score: Score) -> RenderableType:
    title = Text(one_line(score.exercise), "bold")
    if score.student:
        title.append(f"  {one_line(score.student, 60)}", "dim")
    if score.score is None:
        return Group(title, Text(words.headline(score), "red"))
    share = score.score / score.max_score if score.max_score else 0.0
    # Rounded down, so that a full bar means full marks.
    full = max(0, min(_BAR, int(share * _BAR)))
    bar = Text("█" * full, "green") + Text("░" * (_BAR - full), "dim")
    return Group(title, bar.append(f"  {words.marks_of(score)}", "bold"), Text(words.headline(score)))


def _offer(count: int) -> str:
    if count == 1:
        return "Stuck? The exercise has a hint."
    return f"Stuck? The exercise has {count} hints: open one at a time, the first is only a nudge."


# ---------------------------------------------------------------------------- checks


def _checks(score: Score, place: Place) -> RenderableType:
    quiet = score.status == "not_started" or bool(words.shared_trouble(score.checks))
    rows: list[RenderableType] = []
    believed: set[str] = set()
    for result in score.checks:
        rows.append(_check_line(score, result))
        if result.status != "passed" and not quiet:
            below = 0 if result is score.checks[-1] else 1
            rows.append(Padding(_trouble(result, result.belief in believed, place), (0, 0, below, 4)))
            believed |= {result.belief} - {""}
    return Group(*rows)


def _check_line(score: Score, result: CheckResult) -> RenderableType:
    sign = "·" if score.status == "not_started" else words.mark(result)
    line = Table.grid(expand=True, padding=(0, 1))
    line.add_column(width=2, justify="right")
    line.add_column(ratio=1)
    line.add_column(justify="right", no_wrap=True)
    title = Text(one_line(result.title), "" if sign in "✓·" else "bold")
    line.add_row(Text(sign, _STYLES.get(sign, "")), title, Text(words.earned(score, result), "dim"))
    return line


def _trouble(result: CheckResult, said: bool, place: Place) -> RenderableType:
    if not result.difference:  # a record of another origin: its message says all
        return _text(visible(result.message))
    parts: list[RenderableType] = [_text(visible(result.rule))] if result.rule else []
    rows = [("Called", result.call)] if result.call else []
    if result.status == "failed":
        rows += [(words.LABELS[result.show], result.returned), ("Expected", result.expected)]
    parts += [_pairs(rows)] if rows else []
    parts.append(_text(visible(result.difference)))
    if result.belief:
        belief = _text("A belief behind this: ", "magenta").append(f"“{visible(result.belief)}” ")
        parts.append(belief.append("(as above)" if said else visible(result.truth)))
    if result.see and not said and result.status != "not_run":
        parts.append(_text(f"Read: {one_line(place(result.see))}", "dim"))
    return Group(*parts)


def _pairs(rows: Iterable[tuple[str, str]]) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for label, text in rows:
        grid.add_row(Text(label), _text(visible(text)))
    return grid


def _text(text: str, style: str = "") -> Text:
    # Folding instead of cutting: a long value has no blank to break at.
    return Text(text, style, overflow="fold", tab_size=4)


# ----------------------------------------------------------------------------- class


def class_table(rows: Sequence[Row], *, width: int = 120, color: bool = False) -> str:
    """Return a table of a class, one row a submission, by student then exercise, and a summary line below.

    Args:
        rows: the submissions, in any order.
        width: columns; what does not fit is cut with an ellipsis.
        color: whether to add ANSI colors.
    """
    lines = [_line(row) for row in sorted(rows, key=lambda row: row.key)]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    sizes = widths([name for name, _ in _COLUMNS], lines, width, cut=2)
    for (name, justify), columns in zip(_COLUMNS, sizes, strict=True):
        table.add_column(name, no_wrap=True, overflow="ellipsis", justify=justify, width=columns)
    for line in lines:
        table.add_row(*line)
    return drawn([table, Text(), _text(summary(rows))], width, color)


def widths(names: Sequence[str], lines: Sequence[Sequence[Text]], width: int, cut: int = 1) -> list[int]:
    """Return the widths of a table's columns: the first ``cut``, names, take up to a fifth of ``width`` each, those
    after them what they need, and the last the rest.
    """
    wanted = [max([len(name), *(line[column].cell_len for line in lines)]) for column, name in enumerate(names)]
    found = [min(columns, max(8, width // 5)) if n < cut else columns for n, columns in enumerate(wanted[:-1])]
    left = width - sum(found) - _GAP * len(found)
    return [*found, min(wanted[-1], max(8, left))]


def _line(row: Row) -> tuple[Text, ...]:
    strip = Text()
    for verdict in row.checks if row.status == "graded" else ():
        strip.append(words.mark(verdict), _STYLES[words.mark(verdict)])
    full = row.mark is not None and row.mark >= row.max_score and row.status == "graded"
    style = "green" if full else "red" if row.status == "unreadable" else ""
    marks = words.final_marks_of(row) if row.final is None else f"{words.BY_HAND} {words.final_marks_of(row)}"
    return (
        Text(one_line(row.student, 200)), Text(one_line(row.exercise)), Text(marks, style), strip,
        Text(one_line(row.problem)),
    )  # fmt: skip


def by_hand_text(rows: Iterable[Row]) -> str:
    """Return one line on how many marks are not those of the checks; "" where all are."""
    count = sum(row.final is not None for row in rows)
    if not count:
        return ""
    marks = "1 mark is" if count == 1 else f"{count:,} marks are"
    return (
        f"{marks} the gradebook's own (points by hand, extra credit or a late penalty): final_score in grades.csv; "
        "score is what the checks gave."
    )


def look_again_text(found: Mapping[tuple[str, str], Sequence[str]]) -> str:
    """Return one line on each submission whose mark, given by hand, waits for another look; "" where there is none.

    Args:
        found: the names of the checks, by student and exercise.
    """
    if not found:
        return ""
    lines = [
        f"  {one_line(student, 200)}: {one_line(exercise)} ({one_line(', '.join(checks), 200)})"
        for (student, exercise), checks in sorted(found.items())
    ]
    more = [f"  and {len(lines) - _LISTED} more, which the class report lists"] if len(lines) > _LISTED else []
    head = "Marked by hand before the code or the automatic score changed; the marks stay, look at them in formgrader:"
    return "\n".join([head, *lines[:_LISTED], *more])


def pointers_text(rows: Iterable[Row]) -> str:
    """Return one line on each submission whose code an instructor may want to look at; "" where there is none."""
    found = sorted((row.student, row.exercise, row.look) for row in rows if row.look)
    if not found:
        return ""
    lines = [
        f"  {one_line(student, 200)}: {one_line(exercise)}: {one_line(look, PROBLEM)}"
        for student, exercise, look in found[:_LISTED]
    ]
    more = [f"  and {len(found) - _LISTED} more, which the class report lists"] if len(found) > _LISTED else []
    return "\n".join(["Code to look at; no mark depends on it:", *lines, *more])


def summary(rows: Sequence[Row]) -> str:
    """Return how many were graded, their mean, how many could not be, and the time they took, in one line."""
    graded = [row for row in rows if row.status == "graded"]
    parts = [f"{len(graded):,} graded"]
    if graded:
        parts.append(f"mean {_mean(graded)}")
    for status, label in (("not_started", "not started"), ("unreadable", "unreadable")):
        if count := sum(row.status == status for row in rows):
            parts.append(f"{count:,} {label}")
    seconds = sum(row.duration_s for row in rows)
    parts.append(f"{brief(seconds, 3)} s of run time")
    return " · ".join(parts)


def _mean(graded: Sequence[Row]) -> str:
    highest = {row.max_score for row in graded}
    if len(highest) == 1:
        mean = sum(row.mark or 0.0 for row in graded) / len(graded)
        return f"{brief(mean, 3)}/{words.number(highest.pop())}"
    shares = [(row.mark or 0.0) / row.max_score for row in graded if row.max_score]
    return f"{100 * sum(shares) / len(shares):.3g}%"


def drawn(parts: Iterable[RenderableType], width: int, color: bool) -> str:
    """Return what rich makes of the parts, ``width`` columns wide, with or without ANSI colors."""
    # Width and height are both given, so that rich asks neither the environment nor a terminal; in a notebook it would
    # otherwise display by itself.
    console = Console(
        file=io.StringIO(),
        width=max(40, width),
        height=100,
        force_terminal=color,
        force_jupyter=False,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with console.capture() as captured:
        console.print(Group(*parts))
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))
