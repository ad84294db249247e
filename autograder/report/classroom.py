"""The class report: what an instructor looks at after a class was graded.

One static page, drawn with the feedback page's own machinery: no script, no request, every name and message escaped.
It is drawn a block of students at a time, so that a class of twenty thousand is never held as one text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Final, Generic, TypeAlias, TypeVar

from markupsafe import Markup

from autograder.models import Exercise
from autograder.report import words
from autograder.report.class_statistics import (
    SLOW,
    BeliefTally,
    Bin,
    CheckTally,
    ExerciseStatistics,
    Trouble,
    class_statistics,
)
from autograder.report.html import base_url, drawn
from autograder.report.places import section_name
from autograder.report.rows import PROBLEM, Row
from autograder.report.untrusted import one_line
from autograder.values import brief

BLOCK: Final = 250
"""Rows of a table; more are put in folded blocks, which a browser need not lay out."""
_FEW: Final = 12
"""Students of one belief that stand open, and beliefs of an exercise that do where there are many more."""
_LOOKS: Final = 50
"""Submissions to look at that stand open; more are folded, by kind."""
_NAME: Final = 60
_SIGN_CLASSES: Final = {"✓": "y", "✗": "n", "…": "w"}
_T = TypeVar("_T")

Address: TypeAlias = Callable[[Row], str]
"""From a submission to the relative URL of its feedback page."""


def class_page(
    rows: Iterable[Row],
    exercises: Mapping[str, Exercise],
    *,
    address: Address,
    book_url: str = "",
    look_again: Mapping[tuple[str, str], Sequence[str]] | None = None,
) -> Iterator[str]:
    """Yield the class report, one HTML document, in parts; the same for the same rows, in whatever order they come.

    Args:
        rows: of several for the same student and exercise, the last counts.
        exercises: by slug; every row's is among them.
        address: returns the relative URL of a submission's feedback page.
        book_url: where the book is; without it, sections are named and not linked.
        look_again: by student and exercise, the checks whose marks, given by hand, wait for another look.
    """
    found = class_statistics(rows, exercises, look_again)
    handed_in = {statistics.exercise.slug for statistics in found}
    return drawn(
        "classroom.html",
        headline=_headline(found),
        sections=[_section(statistics, address) for statistics in found],
        absent=[exercise.title for slug, exercise in exercises.items() if slug not in handed_in],
        book_url=base_url(book_url),
        section_name=section_name,
        number=words.number,
        brief=brief,
        points=words.points,
        share=words.share,
        counted=words.counted,
        thousands="{:,}".format,
        slow=words.number(SLOW),
    )


def _headline(found: Sequence[ExerciseStatistics]) -> str:
    students = {row.student for statistics in found for row in statistics.rows}
    graded = sum(statistics.graded for statistics in found)
    submissions = sum(len(statistics.rows) for statistics in found)
    if not found:
        return "Nothing was handed in."
    handed_in = f"{words.counted(submissions, 'submission')} of {words.counted(len(students), 'student')}"
    return f"{handed_in}, {graded:,} graded."


# ---------------------------------------------------------------------------- sections


@dataclass(frozen=True, slots=True)
class Student:
    """A submission as a link to its feedback page."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A submission in the table of all."""

    student: Student
    marks: str
    by_hand: tuple[str, ...]
    """What to say below marks that the checks alone did not give, in lines; else empty."""
    strip: Markup
    """A sign for each check, or why there is none."""


@dataclass(frozen=True, slots=True)
class Look:
    """A submission in the table of those to look at."""

    student: Student
    kinds: tuple[str, ...]
    time: str
    reason: str


@dataclass(frozen=True, slots=True)
class Block(Generic[_T]):
    """Students that are drawn together."""

    name: str
    """Its first and last student."""
    items: Sequence[_T]
    view: Callable[[_T], Any]
    """Returns what is drawn of an item: made when the block is, and dropped with it."""
    folded: bool

    def entries(self) -> Iterator[Any]:
        """Yield what is drawn."""
        return map(self.view, self.items)


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the picture of scores, in the units of its drawing."""

    x: float
    height: float
    count: int
    short: str
    """The count where there is little room, of a thousand and more: "9.3k"; else empty."""
    label: str


@dataclass(frozen=True, slots=True)
class Belief:
    """A misconception with those who hold it."""

    belief: str
    truth: str
    see: str
    count: int
    """Of students."""
    folded: bool
    students: list[Block[Row]]
    shown_by: str


@dataclass(frozen=True, slots=True)
class Section:
    """One exercise as the template shows it."""

    statistics: ExerciseStatistics
    numbers: list[tuple[str, str]]
    bars: list[Bar]
    picture: str
    """The picture of scores in words."""
    checks: list[tuple[CheckTally, str]]
    """Each check, and in words how those did who did not pass."""
    beliefs: list[list[Belief]]
    """Those to show, and, of many, the rarer ones to fold."""
    looks: list[Block[Trouble]]
    rows: list[Block[Row]]


def _section(statistics: ExerciseStatistics, address: Address) -> Section:
    def student(row: Row) -> Student:
        return Student(_name(row), address(row))

    def entry(row: Row) -> Entry:
        strip = _strip(row) if row.status == "graded" else Markup(row.status.replace("_", " "))
        return Entry(student(row), words.final_marks_of(row), _by_hand(row), strip)

    def look(trouble: Trouble) -> Look:
        return Look(student(trouble.row), trouble.kinds, _time(trouble), _reason(trouble))

    return Section(
        statistics=statistics,
        numbers=list(_numbers(statistics)),
        bars=_bars(statistics.bins),
        picture=_picture(statistics),
        checks=[(tally, _lost(tally)) for tally in statistics.checks],
        beliefs=_commoner_first([_belief(tally, student) for tally in statistics.beliefs]),
        looks=_by_kind(statistics.troubles, look),
        rows=_blocks(statistics.rows, entry),
    )


def _by_hand(row: Row) -> tuple[str, ...]:
    if row.final is None:
        return ()
    return words.BY_HAND, f"checks: {'–' if row.score is None else words.number(row.score)}"


def _belief(tally: BeliefTally, student: Callable[[Row], Student]) -> Belief:
    count = len(tally.rows)
    return Belief(
        tally.belief,
        tally.truth,
        tally.see,
        count,
        count > _FEW,
        _blocks(tally.rows, student),
        _shown_by(tally),
    )


def _commoner_first(beliefs: list[Belief]) -> list[list[Belief]]:
    if len(beliefs) <= _FEW + _FEW // 2:  # a fold for a few is not worth a click
        return [beliefs] if beliefs else []
    return [beliefs[:_FEW], beliefs[_FEW:]]


def _name(row: Row) -> str:
    return one_line(row.student, _NAME).strip() or "(a blank name)"


def _numbers(statistics: ExerciseStatistics) -> Iterator[tuple[str, str]]:
    yield "mean", _points(statistics.mean)
    yield "median", _points(statistics.median)
    yield "handed in", f"{len(statistics.rows):,}"
    yield "graded", f"{statistics.graded:,}"
    yield "not started", f"{statistics.not_started:,}"
    yield "unreadable", f"{statistics.unreadable:,}"
    yield "out of time", f"{statistics.out_of_time:,}"


def _points(value: float | None) -> str:
    return "–" if value is None else words.number(round(value, 2))


def _lost(tally: CheckTally) -> str:
    return " · ".join(f"{count:,} {words.STATUSES[status]}" for status, count in tally.lost)


def _shown_by(belief: BeliefTally) -> str:
    everyone = len(belief.rows)
    return "; ".join(
        f"check {tally.number}, {tally.check.title}" + (f" ({count:,} of {everyone:,})" if count < everyone else "")
        for tally, count in belief.checks
    )


def _reason(trouble: Trouble) -> str:
    row = trouble.row
    reason = row.problem or words.headline(row)
    if row.look:
        reason = f"{row.look}; {reason}"
    if trouble.by_hand:
        changed = (
            f"the code or the automatic score changed since a mark was given by hand ({', '.join(trouble.by_hand)})"
        )
        reason = f"{changed}; {reason}"
    return one_line(reason, PROBLEM)


def _time(trouble: Trouble) -> str:
    if not {"out of time", "slow"} & set(trouble.kinds):
        return ""
    times = f", {trouble.times_median:,.0f} × the median" if trouble.times_median >= SLOW else ""
    return f"{brief(trouble.row.duration_s, 2)} s{times}"


def _blocks(rows: Sequence[Row], view: Callable[[Row], Any]) -> list[Block[Row]]:
    return [
        Block(_span(part[0], part[-1]), part, view, folded=len(rows) > BLOCK)
        for part in (rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK))
    ]


def _by_kind(troubles: Sequence[Trouble], view: Callable[[Trouble], Look]) -> list[Block[Trouble]]:
    folded = len(troubles) > _LOOKS
    groups = [list(group) for _, group in groupby(troubles, key=lambda trouble: trouble.kinds[0])]
    return [
        Block(f"{part[0].kinds[0]}: {_span(part[0].row, part[-1].row)}", part, view, folded)
        for group in (groups if folded else [list(troubles)] if troubles else [])
        for part in (group[start : start + BLOCK] for start in range(0, len(group), BLOCK))
    ]


def _span(first: Row, last: Row) -> str:
    return _name(first) if first is last else f"{_name(first)} – {_name(last)}"


# ---------------------------------------------------------------------------- students


def _strip(row: Row) -> Markup:
    # One element for each run of equal signs: a class of thousands has a hundred thousand of them.
    signs = "".join(map(words.mark, row.checks))
    runs = (Markup("<b class={}>{}</b>").format(_SIGN_CLASSES[sign], "".join(run)) for sign, run in groupby(signs))
    return Markup('<span class="strip" role="img" aria-label="{}">{}</span>').format(_said(row), Markup("").join(runs))


def _said(row: Row) -> str:
    lost = [str(number) for number, verdict in enumerate(row.checks, 1) if verdict.status != "passed"]
    if not lost:
        return "all passed"
    return "none passed" if len(lost) == len(row.checks) else f"not passed: {', '.join(lost)}"


# ----------------------------------------------------------------------------- picture

BAR_WIDTH: Final = 40
BAR_HEIGHT: Final = 100


def _bars(bins: Sequence[Bin]) -> list[Bar]:
    highest = max((part.count for part in bins), default=0) or 1
    return [
        Bar(
            BAR_WIDTH * n,
            round(BAR_HEIGHT * part.count / highest, 1),
            part.count,
            _short(part.count),
            words.number(part.low),
        )
        for n, part in enumerate(bins)
    ]


def _short(count: int) -> str:
    if count < 1_000:
        return ""
    return f"{count / 1_000:.1f}k" if count < 9_950 else f"{count / 1_000:,.0f}k"


def _picture(statistics: ExerciseStatistics) -> str:
    bins = statistics.bins
    parts = [
        f"from {words.number(part.low)} to under {words.points(after.low)}: {part.count:,}"
        for part, after in pairwise(bins)
        if part.count
    ]
    if bins[-1].count:
        parts.append(f"full marks, {words.points(bins[-1].low)}: {bins[-1].count:,}")
    return f"Scores of {words.counted(statistics.graded, 'graded submission')}; {'; '.join(parts)}."
