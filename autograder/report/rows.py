"""What a run holds of a submission once its record is written: one small row, from which every table is made.

A score is a few kilobytes, nearly all of it texts of its checks that only the student's own page and the record show. A
row is what the class report, the CSV and the terminal's table say, and no more. ``Shared`` holds once what many rows
have in common, which is most of it: a class of ten thousand is a few megabytes.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeVar

from autograder.models import CheckResult, CheckStatus, Score
from autograder.report import words

TEXT: Final = 1_000
"""Characters of a reason or of notes that a table shows. A row keeps one more, which says that there was more."""
PROBLEM: Final = 500
"""As ``TEXT``, of what to look at."""
_COMMON: Final = 10_000
"""Different values that ``Shared`` looks out for; what many rows have in common is among the first."""
_T = TypeVar("_T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a row keeps of a check's result."""

    id: str
    status: CheckStatus
    misconception: str = ""
    belief: str = ""
    truth: str = ""
    see: str = ""
    """Of the misconception; empty where none was recognized, like the two above."""


@dataclass(frozen=True, slots=True)
class Row:
    """One submission as the tables of a class see it; texts may be cut, see ``TEXT``."""

    student: str
    exercise: str
    status: Literal["graded", "unreadable", "not_started"]
    score: float | None
    max_score: float
    checks: tuple[Verdict, ...]
    duration_s: float
    reason: str
    """One line for the whole submission, where there is one to say."""
    problem: str
    """What to look at first, in a few words; empty where nothing is lost."""
    does_not_run: bool
    """Whether every check failed with the same error, about no call: there is no function, or a cell fails."""
    look: str
    """What an instructor may want to look at in the code."""
    notes: str
    seed_id: str
    version: str
    """The exercise's version."""
    tree: str
    """The class's folder, in which the work lay; a text that a class has in common."""
    final: float | None = None
    """What the gradebook holds where that is not what the checks alone make of it: a human gave points or extra credit,
    or nbgrader took a late penalty. Else None."""

    @property
    def mark(self) -> float | None:
        """What counts: what the gradebook holds."""
        return self.score if self.final is None else self.final

    @property
    def key(self) -> tuple[str, str]:
        """Student and exercise."""
        return self.student, self.exercise


def row_of(score: Score) -> Row:
    """Return the row of a score."""
    statuses = {result.status for result in score.checks}
    return Row(
        student=score.student,
        exercise=score.exercise,
        status=score.status,
        score=score.score,
        max_score=score.max_score,
        checks=tuple(map(_verdict, score.checks)),
        duration_s=score.duration_s,
        reason=score.reason[: TEXT + 1],
        problem=words.first_problem(score)[: PROBLEM + 1],
        does_not_run=statuses == {"error"} and bool(words.shared_trouble(score.checks)),
        look="; ".join(score.look)[: PROBLEM + 1],
        notes="; ".join(score.notes)[: TEXT + 1],
        seed_id=score.seed_id,
        version=score.version,
        tree=tree_of(score.path),
    )


def tree_of(path: str) -> str:
    """Return the class's folder of ``<class>/<student>/<exercise>/<file>``."""
    return os.path.dirname(os.path.dirname(os.path.dirname(path)))


def _verdict(result: CheckResult) -> Verdict:
    if not result.misconception:
        return Verdict(result.id, result.status)
    return Verdict(result.id, result.status, result.misconception, result.belief, result.truth, result.see)


class Shared:
    """Makes equal parts of rows one object; so do rows that came out of a pickle or a file."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._known: dict[Any, Any] = {}
        self._student = ""

    def row(self, row: Row) -> Row:
        """Return the row, with parts that an earlier one had in their place."""
        # A student's submissions come one after the other, and his name is nobody else's.
        self._student = self._student if self._student == row.student else row.student
        return replace(
            row,
            student=self._student,
            exercise=self._one(row.exercise),
            max_score=self._one(row.max_score),
            checks=self._one(tuple(map(self._one, row.checks))),
            reason=self._one(row.reason),
            problem=self._one(row.problem),
            look=self._one(row.look),
            notes=self._one(row.notes),
            seed_id=self._one(row.seed_id),
            version=self._one(row.version),
            tree=self._one(row.tree),
        )

    def _one(self, value: _T) -> _T:
        if len(self._known) < _COMMON:
            return self._known.setdefault(value, value)  # type: ignore[no-any-return]
        return self._known.get(value, value)  # type: ignore[no-any-return]
