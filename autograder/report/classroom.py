"""The class report: what an instructor looks at after a class was graded.

One static page, drawn with the feedback page's own machinery: no script, no request, every name and message escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final, TypeVar

from markupsafe import Markup

from autograder.models import CheckResult, Exercise, Score
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
from autograder.report.html import base_url, render
from autograder.report.places import section_name
from autograder.report.untrusted import one_line

BLOCK: Final = 250
"""Rows of a table; more are put in folded blocks, which a browser need not lay out."""
_NAME: Final = 60
_REASON: Final = 500
_SIGN_CLASSES: Final = {"✓": "y", "✗": "n", "…": "w"}
_T = TypeVar("_T")


def class_page(
    scores: Iterable[Score],
    exercises: Mapping[str, Exercise],
    *,
    address: Callable[[Score], str],
    book_url: str = "",
    look_again: Mapping[tuple[str, str], Sequence[str]] | None = None,
) -> str:
    """Return the class report as one HTML document; the same for the same scores, in whatever order they come.

    Args:
        scores: of several for the same student and exercise, the last counts.
        exercises: by slug; every score's is among them.
        address: returns the relative URL of a submission's feedback page.
        book_url: where the book is; without it, sections are named and not linked.
        look_again: by student and exercise, the checks whose marks, given by hand, wait for another look.
    """
    found = class_statistics(scores, exercises, look_again)
    handed_in = {statistics.exercise.slug for statistics in found}
    return render(
        "classroom.html",
        headline=_headline(found),
        sections=[_section(statistics, address) for statistics in found],
        absent=[exercise.title for slug, exercise in exercises.items() if slug not in handed_in],
        book_url=base_url(book_url),
        section_name=section_name,
        number=words.number,
        points=words.points,
        share=words.share,
        counted=counted,
        thousands="{:,}".format,
        block_name=_block_name,
        slow=words.number(SLOW),
    )


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 student", "2 students"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def _headline(found: Sequence[ExerciseStatistics]) -> str:
    students = {score.student for statistics in found for score in statistics.scores}
    graded = sum(statistics.graded for statistics in found)
    submissions = sum(len(statistics.scores) for statistics in found)
    if not found:
        return "Nothing was handed in."
    return f"{counted(submissions, 'submission')} of {counted(len(students), 'student')}, {graded:,} graded."


# ---------------------------------------------------------------------------- sections


@dataclass(frozen=True, slots=True)
class Student:
    """A submission as a link to its feedback page."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Row:
    """A submission in the table of all."""

    student: Student
    marks: str
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
class Bar:
    """A bar of the picture of scores, in the units of its drawing."""

    x: float
    height: float
    count: int
    label: str


@dataclass(frozen=True, slots=True)
class Belief:
    """A misconception with those who hold it."""

    belief: str
    truth: str
    see: str
    students: list[Student]
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
    beliefs: list[Belief]
    looks: list[list[Look]]
    rows: list[list[Row]]


def _section(statistics: ExerciseStatistics, address: Callable[[Score], str]) -> Section:
    students = {score.student: _student(score, address) for score in statistics.scores}
    return Section(
        statistics=statistics,
        numbers=list(_numbers(statistics)),
        bars=_bars(statistics.bins),
        picture=_picture(statistics),
        checks=[(tally, _lost(tally)) for tally in statistics.checks],
        beliefs=[
            Belief(
                tally.belief,
                tally.truth,
                tally.see,
                [students[score.student] for score in tally.scores],
                _shown_by(tally),
            )
            for tally in statistics.beliefs
        ],
        looks=_by_kind([_look(trouble, students[trouble.score.student]) for trouble in statistics.troubles]),
        rows=_blocks([_row(score, students[score.student]) for score in statistics.scores]),
    )


def _student(score: Score, address: Callable[[Score], str]) -> Student:
    return Student(one_line(score.student, _NAME).strip() or "(a blank name)", address(score))


def _numbers(statistics: ExerciseStatistics) -> Iterator[tuple[str, str]]:
    yield "mean", _points(statistics.mean)
    yield "median", _points(statistics.median)
    yield "handed in", f"{len(statistics.scores):,}"
    yield "graded", f"{statistics.graded:,}"
    yield "not started", f"{statistics.not_started:,}"
    yield "unreadable", f"{statistics.unreadable:,}"
    yield "out of time", f"{statistics.out_of_time:,}"


def _points(value: float | None) -> str:
    return "–" if value is None else words.number(round(value, 2))


def _lost(tally: CheckTally) -> str:
    return " · ".join(f"{count:,} {words.STATUSES[status]}" for status, count in tally.lost)


def _shown_by(belief: BeliefTally) -> str:
    everyone = len(belief.scores)
    return "; ".join(
        f"check {tally.number}, {tally.check.title}" + (f" ({count:,} of {everyone:,})" if count < everyone else "")
        for tally, count in belief.checks
    )


def _look(trouble: Trouble, student: Student) -> Look:
    score = trouble.score
    reason = words.first_problem(score) or words.headline(score)
    if score.look:
        reason = f"{'; '.join(score.look)}; {reason}"
    if trouble.by_hand:
        changed = (
            f"the code or the automatic score changed since a mark was given by hand ({', '.join(trouble.by_hand)})"
        )
        reason = f"{changed}; {reason}"
    return Look(student, trouble.kinds, _time(trouble), one_line(reason, _REASON))


def _time(trouble: Trouble) -> str:
    if not {"out of time", "slow"} & set(trouble.kinds):
        return ""
    times = f", {trouble.times_median:,.0f} × the median" if trouble.times_median >= SLOW else ""
    return f"{trouble.score.duration_s:.2g} s{times}"


def _blocks(rows: list[_T]) -> list[list[_T]]:
    return [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]


def _by_kind(looks: list[Look]) -> list[list[Look]]:
    if len(looks) <= BLOCK:
        return _blocks(looks)
    return [block for _, group in groupby(looks, key=lambda look: look.kinds[0]) for block in _blocks(list(group))]


def _block_name(block: Sequence[Row | Look]) -> str:
    first, last = block[0], block[-1]
    names = first.student.name if first is last else f"{first.student.name} – {last.student.name}"
    return f"{first.kinds[0]}: {names}" if isinstance(first, Look) else names


# ---------------------------------------------------------------------------- students


def _row(score: Score, student: Student) -> Row:
    strip = _strip(score.checks) if score.status == "graded" else Markup(score.status.replace("_", " "))
    return Row(student, words.marks_of(score), strip)


def _strip(checks: Sequence[CheckResult]) -> Markup:
    # One element for each run of equal signs: a class of thousands has a hundred thousand of them.
    signs = "".join(map(words.mark, checks))
    runs = (Markup("<b class={}>{}</b>").format(_SIGN_CLASSES[sign], "".join(run)) for sign, run in groupby(signs))
    return Markup('<span class="strip" role="img" aria-label="{}">{}</span>').format(
        _said(checks), Markup("").join(runs)
    )


def _said(checks: Sequence[CheckResult]) -> str:
    lost = [str(number) for number, result in enumerate(checks, 1) if result.status != "passed"]
    if not lost:
        return "all passed"
    return "none passed" if len(lost) == len(checks) else f"not passed: {', '.join(lost)}"


# ----------------------------------------------------------------------------- picture

BAR_WIDTH: Final = 40
BAR_HEIGHT: Final = 100


def _bars(bins: Sequence[Bin]) -> list[Bar]:
    highest = max((part.count for part in bins), default=0) or 1
    return [
        Bar(BAR_WIDTH * n, round(BAR_HEIGHT * part.count / highest, 1), part.count, words.number(part.low))
        for n, part in enumerate(bins)
    ]


def _picture(statistics: ExerciseStatistics) -> str:
    bins = statistics.bins
    parts = [
        f"from {words.number(part.low)} to under {words.points(after.low)}: {part.count:,}"
        for part, after in pairwise(bins)
        if part.count
    ]
    if bins[-1].count:
        parts.append(f"full marks, {words.points(bins[-1].low)}: {bins[-1].count:,}")
    return f"Scores of {counted(statistics.graded, 'graded submission')}; {'; '.join(parts)}."
