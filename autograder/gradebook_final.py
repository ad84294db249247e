"""The marks in a gradebook that are not what the checks of an exercise alone make of them.

nbgrader computes a mark from its cells each time: a manual score before the automatic one, with extra credit, and less
a late penalty. For nearly every submission that is the sum of our checks' automatic scores, so only the others are
looked for, in one pass over the grades, and only their marks are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, CompoundSelect, Connection, Select, and_, or_, select, union

from autograder.gradebook_db import among
from autograder.gradebook_tables import (
    ASSIGNMENT,
    BASE_CELL,
    GRADE,
    NOTEBOOK,
    SUBMITTED_ASSIGNMENT,
    SUBMITTED_NOTEBOOK,
)
from autograder.models import Exercise

_CHUNK: Final = 500
"""Submissions a statement: databases limit the number of its parameters."""


def given(connection: Connection, exercises: Mapping[str, Exercise]) -> Iterator[tuple[str, str, float]]:
    """Yield (student, exercise, mark) of each submission that a human, or nbgrader, gave another mark than our checks.

    A submission of which no cell has points of either kind has no mark, whatever else is said of it.

    Args:
        connection: within a transaction.
        exercises: by slug.
    """
    cells = _Cells(connection, exercises)
    found = connection.execute(_found(cells.others), execution_options={"yield_per": _CHUNK})
    for part in found.scalars().partitions():
        # By their ids, a few hundred at a time: in one statement, SQLite would read the grades of the whole class.
        yield from _marks(connection, part, cells)


class _Cells:
    """The cells that take points."""

    def __init__(self, connection: Connection, exercises: Mapping[str, Exercise]) -> None:
        self.others: list[str] = []
        """Those that are no check of ours: an instructor's own, and those of checks that are no more."""
        self.of: dict[str, list[str]] = {}
        """By notebook."""
        ours = {(slug, slug, check.id) for slug, exercise in exercises.items() for check in exercise.checks}
        query = (
            select(BASE_CELL.c.id, NOTEBOOK.c.id, ASSIGNMENT.c.name, NOTEBOOK.c.name, BASE_CELL.c.name)
            .join(NOTEBOOK, NOTEBOOK.c.id == BASE_CELL.c.notebook_id)
            .join(ASSIGNMENT, ASSIGNMENT.c.id == NOTEBOOK.c.assignment_id)
            .where(BASE_CELL.c.type.in_(("GradeCell", "TaskCell")))
        )
        for cell, notebook, *names in connection.execute(query):
            self.of.setdefault(notebook, []).append(cell)
            if tuple(names) not in ours:
                self.others.append(cell)


@dataclass(slots=True)
class _Sum:
    """What a submission's notebooks come to."""

    student: str
    exercise: str
    points: float = 0.0
    scored: bool = False


def _marks(connection: Connection, submissions: Sequence[str], cells: _Cells) -> Iterator[tuple[str, str, float]]:
    sums: dict[str, _Sum] = {}
    owners: dict[str, dict[str, str]] = {}
    for row in connection.execute(_notebooks(submissions)):
        one = sums.setdefault(row.submission, _Sum(row.student_id, row.name))
        one.points -= row.late_submission_penalty or 0.0
        owners.setdefault(row.notebook_id, {})[row.id] = row.submission
    for notebook, owner in owners.items():
        # nbgrader's index is over the cell, then the notebook: without the cells all rows are read.
        query = among(GRADE, "notebook_id", owner).where(GRADE.c.cell_id.in_(cells.of.get(notebook, [])))
        for grade in connection.execute(query):
            points = grade.auto_score if grade.manual_score is None else grade.manual_score
            if points is not None:
                one = sums[owner[grade.notebook_id]]
                one.points += points + (grade.extra_credit or 0.0)
                one.scored = True
    yield from ((one.student, one.exercise, max(0.0, one.points)) for one in sums.values() if one.scored)


def _found(others: list[str]) -> CompoundSelect[str]:
    """Return the query for the ids of the submissions that are looked for: one pass over the grades."""
    other: ColumnElement[bool] = or_(GRADE.c.manual_score.is_not(None), GRADE.c.extra_credit.is_not(None))
    if others:
        other = or_(other, and_(GRADE.c.auto_score != 0, GRADE.c.cell_id.in_(others)))
    submission = SUBMITTED_NOTEBOOK.c.assignment_id
    graded = select(submission).join(GRADE, GRADE.c.notebook_id == SUBMITTED_NOTEBOOK.c.id).where(other)
    return union(graded, select(submission).where(SUBMITTED_NOTEBOOK.c.late_submission_penalty != 0))


def _notebooks(submissions: Sequence[str]) -> Select[Any]:
    """Return the query for the submitted notebooks of submissions."""
    table, of = SUBMITTED_NOTEBOOK, SUBMITTED_ASSIGNMENT
    # nbgrader's index is over the notebook, then the submission.
    return (
        select(
            table.c.id,
            table.c.notebook_id,
            table.c.late_submission_penalty,
            of.c.id.label("submission"),
            of.c.student_id,
            ASSIGNMENT.c.name,
        )
        .select_from(of)
        .join(ASSIGNMENT, ASSIGNMENT.c.id == of.c.assignment_id)
        .join(NOTEBOOK, NOTEBOOK.c.assignment_id == ASSIGNMENT.c.id)
        .join(table, and_(table.c.notebook_id == NOTEBOOK.c.id, table.c.assignment_id == of.c.id))
        .where(of.c.id.in_(submissions))
    )
