"""What a class's rows say together: counts, averages, checks, beliefs, and which submissions to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final

from autograder.models import Check, CheckStatus, Exercise
from autograder.report import words
from autograder.report.rows import Row, Verdict

BINS: Final = 10
"""Parts of the distribution; full marks are one more."""
SLOW: Final = 4.0
"""A submission is slow when it takes so many times the median, and below, at least so many seconds."""
_SLOW_SECONDS: Final = 0.5
_WORTH_A_LOOK: Final[Mapping[CheckStatus, str]] = {
    "forbidden": "forbidden",
    "crashed": "crashed",
    "memory": "out of memory",
    "timeout": "out of time",
}
BY_HAND: Final = "marked by hand"
"""A mark that a human gave waits for another look: the code or the automatic score changed since."""
POINTED: Final = "code to look at"
"""The code names what a program can look into the grader with; see ``pointers``."""
KINDS: Final = ("unreadable", BY_HAND, "does not run", *_WORTH_A_LOOK.values(), POINTED, "slow")
"""What there is to look at, in the order in which it is shown."""


@dataclass(frozen=True, slots=True)
class Bin:
    """A part of the distribution of scores."""

    low: float
    """Points from which it counts; it ends where the next begins, and the last holds full marks only."""
    count: int


@dataclass(frozen=True, slots=True)
class CheckTally:
    """How the graded submissions did at one check."""

    number: int
    """Its place in the exercise, from 1."""
    check: Check
    passed: int
    lost: tuple[tuple[CheckStatus, int], ...]
    """How many did not pass, by status; the most frequent first."""
    graded: int
    hardest: bool
    """Whether fewer passed it than any other check; of several with as few, each is."""

    @property
    def waiting(self) -> int:
        """How many have no answer: out of time, or not run."""
        return sum(count for status, count in self.lost if status in words.NO_ANSWER)


@dataclass(frozen=True, slots=True)
class BeliefTally:
    """Who holds a misconception."""

    id: str
    belief: str
    truth: str
    see: str
    rows: tuple[Row, ...]
    """Their submissions, by student."""
    checks: tuple[tuple[CheckTally, int], ...]
    """The checks that showed it, in the exercise's order, and in how many submissions."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A submission to look at."""

    row: Row
    kinds: tuple[str, ...]
    times_median: float
    """Its run time over the median of those graded; 0 where there is none."""
    by_hand: tuple[str, ...] = ()
    """The checks whose marks, given by hand, wait for another look."""


@dataclass(frozen=True, slots=True)
class ExerciseStatistics:
    """One exercise, over the whole class."""

    exercise: Exercise
    rows: tuple[Row, ...]
    """Every submission, by student."""
    graded: int
    not_started: int
    unreadable: int
    out_of_time: int
    """Of those graded, how many lost at least one check to time."""
    mean: float | None
    """Of those graded, in points as the gradebook holds them; None where none was."""
    median: float | None
    bins: tuple[Bin, ...]
    by_hand: int
    """How many of all have a mark that the checks alone did not give."""
    checks: tuple[CheckTally, ...]
    beliefs: tuple[BeliefTally, ...]
    """By number of students; equal ones in the exercise's order."""
    troubles: tuple[Trouble, ...]
    seconds: float
    """Median run time of those graded."""


def class_statistics(
    rows: Iterable[Row],
    exercises: Mapping[str, Exercise],
    look_again: Mapping[tuple[str, str], Sequence[str]] | None = None,
) -> tuple[ExerciseStatistics, ...]:
    """Return the statistics of each exercise that somebody handed in, in the order of ``exercises``.

    Args:
        rows: in any order; of several for the same student and exercise, the last counts.
        exercises: by slug; every row's is among them.
        look_again: by student and exercise, the checks whose marks, given by hand, wait for another look.
    """
    latest = {row.key: row for row in rows}
    by_exercise: dict[str, list[Row]] = {slug: [] for slug in exercises}
    for key in sorted(latest):
        by_exercise[key[1]].append(latest[key])
    again = look_again or {}
    return tuple(_statistics(exercises[slug], tuple(found), again) for slug, found in by_exercise.items() if found)


def _statistics(
    exercise: Exercise, rows: tuple[Row, ...], look_again: Mapping[tuple[str, str], Sequence[str]]
) -> ExerciseStatistics:
    graded = [row for row in rows if row.status == "graded"]
    marks = [row.mark or 0.0 for row in graded]
    seconds = median([row.duration_s for row in graded]) if graded else 0.0
    checks = _checks(exercise, graded)
    return ExerciseStatistics(
        exercise=exercise,
        rows=rows,
        graded=len(graded),
        not_started=sum(row.status == "not_started" for row in rows),
        unreadable=sum(row.status == "unreadable" for row in rows),
        out_of_time=sum(any(verdict.status == "timeout" for verdict in row.checks) for row in graded),
        mean=fmean(marks) if marks else None,
        median=median(marks) if marks else None,
        bins=_bins(marks, exercise.max_score),
        by_hand=sum(row.final is not None for row in rows),
        checks=checks,
        beliefs=_beliefs(exercise, graded, checks),
        troubles=_troubles(rows, seconds, look_again),
        seconds=seconds,
    )


def _bins(marks: Sequence[float], highest: float) -> tuple[Bin, ...]:
    counts = Counter(_bin(mark, highest) for mark in marks)
    return tuple(Bin(highest * n / BINS, counts[n]) for n in range(BINS + 1))


def _bin(mark: float, highest: float) -> int:
    # 0.7 of 1 point is in the part that begins at 0.7, although 0.7 / 1 * 10 may be a little less than 7.
    return BINS if mark >= highest else min(int(mark / highest * BINS + 1e-9), BINS - 1)


def _checks(exercise: Exercise, graded: Sequence[Row]) -> tuple[CheckTally, ...]:
    counts = {check.id: Counter[CheckStatus]() for check in exercise.checks}
    for row in graded:
        for verdict in row.checks:
            counts[verdict.id][verdict.status] += 1
    passed = [count["passed"] for count in counts.values()]
    least, most = min(passed, default=0), max(passed, default=0)
    return tuple(
        CheckTally(
            number=number,
            check=check,
            passed=count["passed"],
            lost=tuple((status, n) for status, n in count.most_common() if status != "passed"),
            graded=count.total(),
            hardest=count["passed"] == least < most,
        )
        for number, (check, count) in enumerate(zip(exercise.checks, counts.values(), strict=True), 1)
    )


def _beliefs(exercise: Exercise, graded: Sequence[Row], checks: Sequence[CheckTally]) -> tuple[BeliefTally, ...]:
    shown: dict[str, list[tuple[Row, Verdict]]] = {}
    for row in graded:
        for verdict in row.checks:
            if verdict.status != "passed" and verdict.misconception:
                shown.setdefault(verdict.misconception, []).append((row, verdict))
    order = {name: place for place, name in enumerate(exercise.misconceptions)}
    tallies = [_belief(exercise, name, found, checks) for name, found in shown.items()]
    return tuple(sorted(tallies, key=lambda tally: (-len(tally.rows), order.get(tally.id, len(order)), tally.id)))


def _belief(
    exercise: Exercise, name: str, found: Sequence[tuple[Row, Verdict]], checks: Sequence[CheckTally]
) -> BeliefTally:
    known, (_, first) = exercise.misconceptions.get(name), found[0]
    counts = Counter(verdict.id for _, verdict in found)
    return BeliefTally(
        id=name,
        belief=known.belief if known else first.belief or name.replace("_", " "),
        truth=known.truth if known else first.truth,
        see=known.see if known else first.see,
        rows=tuple({row.student: row for row, _ in found}.values()),
        checks=tuple((tally, counts[tally.check.id]) for tally in checks if counts[tally.check.id]),
    )


def _troubles(
    rows: Iterable[Row], seconds: float, look_again: Mapping[tuple[str, str], Sequence[str]]
) -> tuple[Trouble, ...]:
    found = []
    for row in rows:
        by_hand = tuple(look_again.get(row.key, ()))
        more = [kind for kind, there in ((BY_HAND, by_hand), (POINTED, row.look)) if there]
        kinds = tuple(sorted((*_kinds(row, seconds), *more), key=KINDS.index))
        if kinds:
            found.append(Trouble(row, kinds, _ratio(row, seconds), by_hand))
    return tuple(sorted(found, key=lambda trouble: (KINDS.index(trouble.kinds[0]), trouble.row.student)))


def _kinds(row: Row, seconds: float) -> tuple[str, ...]:
    if row.status != "graded":
        return ("unreadable",) if row.status == "unreadable" else ()
    statuses = {verdict.status for verdict in row.checks}
    kinds = {_WORTH_A_LOOK[status] for status in statuses if status in _WORTH_A_LOOK}
    if row.does_not_run:
        kinds.add("does not run")
    if row.duration_s >= max(SLOW * seconds, _SLOW_SECONDS):
        kinds.add("slow")
    return tuple(sorted(kinds, key=KINDS.index))


def _ratio(row: Row, seconds: float) -> float:
    return row.duration_s / seconds if seconds else 0.0
