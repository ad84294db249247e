"""Rows of submissions in nbgrader's gradebook: a batch of scores in few statements, whatever the exercises.

A row is looked for by the columns of an index of nbgrader's, so that the work for a score is the same in a gradebook of
twenty submissions and of twenty thousand; what was just made is not looked for at all.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import Connection, Table, bindparam, insert, select, update

from autograder.gradebook_cells import Sheet
from autograder.gradebook_db import among, clean, insert_rows, new_id, update_rows
from autograder.gradebook_tables import CODE, COMMENT, GRADE, STUDENT, SUBMITTED_ASSIGNMENT, SUBMITTED_NOTEBOOK
from autograder.times import TIMESTAMP, time_of
from autograder.untrusted_files import Refused, read_bytes

Place = tuple[str, str]
"""A row's student and the exercise's slug."""


class Earned(Protocol):
    """What is needed of a check's result."""

    @property
    def id(self) -> str: ...
    @property
    def earned(self) -> float: ...


class Marked(Protocol):
    """What is needed of a score; ``models.Score`` has it."""

    @property
    def student(self) -> str: ...
    @property
    def exercise(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def checks(self) -> Sequence[Earned]: ...


def write_rows(
    connection: Connection, sheets: Mapping[str, Sheet], scores: Mapping[Place, Marked], codes: Mapping[Place, str]
) -> None:
    """Write scores, and the hashes of their code where these are known."""
    students = {student for student, _ in scores}
    known = connection.scalars(among(STUDENT, "id", students, "id"))
    insert_rows(connection, STUDENT, [{"id": student} for student in sorted(students - set(known))])
    submissions, fresh = _submissions(connection, sheets, scores)
    notebooks, new = _notebooks(connection, sheets, submissions, fresh)
    renewed = _write_codes(connection, {submissions[place]: code for place, code in codes.items() if code})
    held = _Held(connection, {row: notebook for (_, notebook), row in notebooks.items() if row not in new})
    grades, comments = _Changes(GRADE), _Changes(COMMENT)
    found_grades = held.rows(GRADE, sheets.values(), graded=True)
    found_comments = held.rows(COMMENT, sheets.values(), graded=False)
    for (student, slug), submission in submissions.items():
        sheet, score = sheets[slug], scores[student, slug]
        for notebook in sheet.graded:
            row = notebooks[submission, notebook]
            ours = score if notebook == sheet.notebook else None
            other = ours is not None and submission in renewed
            _grade(sheet, notebook, row, ours, found_grades, grades, other=other)
            _comment(sheet, notebook, row, ours, found_comments, comments)
    grades.write(connection, {"auto_score": "points", "needs_manual_grade": "look"})
    comments.write(connection, {"auto_comment": "text"})


class _Changes:
    """Rows of a table that are to be inserted and updated."""

    def __init__(self, table: Table) -> None:
        self.new: list[dict[str, Any]] = []
        self.changed: list[dict[str, Any]] = []
        self._table = table

    def write(self, connection: Connection, columns: Mapping[str, str]) -> None:
        insert_rows(connection, self._table, self.new)
        update_rows(connection, self._table, columns, self.changed)


class _Held:
    """Reads the rows that belong to submitted notebooks, which were there before."""

    def __init__(self, connection: Connection, notebooks: Mapping[str, str]) -> None:
        """Take submitted notebooks, each with the notebook that it is of."""
        self._connection = connection
        self._by_notebook: dict[str, list[str]] = {}
        for row, notebook in notebooks.items():
            self._by_notebook.setdefault(notebook, []).append(row)

    def rows(self, table: Table, sheets: Iterable[Sheet], *, graded: bool) -> dict[tuple[str, str], Any]:
        """Return the rows of grades or comments, by (submitted notebook, cell)."""
        found: dict[tuple[str, str], Any] = {}
        for sheet in sheets:
            for notebook, cells in (sheet.graded if graded else sheet.commented).items():
                if cells and (rows := self._by_notebook.get(notebook)):
                    # nbgrader's index is over the cell, then the notebook: without the cells all rows are read.
                    query = among(table, "notebook_id", rows).where(table.c.cell_id.in_(cells))
                    found |= {(row.notebook_id, row.cell_id): row for row in self._connection.execute(query)}
        return found


def _submissions(
    connection: Connection, sheets: Mapping[str, Sheet], scores: Mapping[Place, Marked]
) -> tuple[dict[Place, str], set[str]]:
    """Return the id of each score's submission, with its time brought up to date, and which of them are new."""
    table, slugs = SUBMITTED_ASSIGNMENT, {sheet.assignment: slug for slug, sheet in sheets.items()}
    times = {place: _timestamp(score.path) for place, score in scores.items()}
    query = among(table, "student_id", {student for student, _ in scores}).where(table.c.assignment_id.in_(list(slugs)))
    found: dict[Place, str] = {}
    later = []
    for row in connection.execute(query):
        if (place := (row.student_id, slugs[row.assignment_id])) in scores:
            found[place] = row.id
            if times[place] not in (None, row.timestamp):
                later.append({"row": row.id, "time": times[place]})
    made = {place: new_id() for place in scores if place not in found}
    rows = [
        {"id": row, "assignment_id": sheets[slug].assignment, "student_id": student, "timestamp": times[student, slug]}
        for (student, slug), row in made.items()
    ]
    insert_rows(connection, table, rows)
    update_rows(connection, table, {"timestamp": "time"}, later)
    return found | made, set(made.values())


def _notebooks(
    connection: Connection, sheets: Mapping[str, Sheet], submissions: Mapping[Place, str], fresh: Collection[str]
) -> tuple[dict[tuple[str, str], str], set[str]]:
    """Return the id of each submitted notebook, by (submission, notebook), and which of them are new."""
    table = SUBMITTED_NOTEBOOK
    found: dict[tuple[str, str], str] = {}
    if before := [row for row in submissions.values() if row not in fresh]:
        all_notebooks = [notebook for sheet in sheets.values() for notebook in sheet.graded]
        query = among(table, "assignment_id", before).where(table.c.notebook_id.in_(all_notebooks))
        found = {(row.assignment_id, row.notebook_id): row.id for row in connection.execute(query)}
    wanted = ((row, notebook) for (_, slug), row in submissions.items() for notebook in sheets[slug].graded)
    made = {key: new_id() for key in wanted if key not in found}
    rows = [{"id": row, "assignment_id": a, "notebook_id": n, "flagged": False} for (a, n), row in made.items()]
    insert_rows(connection, table, rows)
    return found | made, set(made.values())


def _write_codes(connection: Connection, codes: Mapping[str, str]) -> set[str]:
    """Keep the hash of each submission's code; return the submissions that had another one."""
    if not codes:
        return set()
    query = select(CODE).where(CODE.c.submission_id.in_(list(codes)))
    found = {row.submission_id: row.code for row in connection.execute(query)}
    new = [{"submission_id": row, "code": code} for row, code in codes.items() if row not in found]
    if new:
        connection.execute(insert(CODE), new)
    other = {row for row, code in codes.items() if found.get(row, code) != code}
    if other:
        renewed = update(CODE).where(CODE.c.submission_id == bindparam("row")).values(code=bindparam("now"))
        connection.execute(renewed, [{"row": row, "now": codes[row]} for row in sorted(other)])
    return other


def _grade(
    sheet: Sheet,
    notebook: str,
    row: str,
    score: Marked | None,
    found: Mapping[tuple[str, str], Any],
    grades: _Changes,
    *,
    other: bool,
) -> None:
    """Note what becomes of the grades of a submitted notebook.

    Args:
        sheet: the exercise's.
        notebook: the notebook that it is of.
        row: the submitted notebook.
        score: None where the notebook is an instructor's own.
        found: the grades that are there.
        grades: takes what changes.
        other: whether the code changed since the grades were written.
    """
    earned = _earned(sheet, score) if score is not None else {}
    for cell in sheet.graded[notebook]:
        old = found.get((row, cell))
        points = earned.get(cell, 0.0 if cell in sheet.retired else None)
        if old is None:
            grade = {"id": new_id(), "notebook_id": row, "cell_id": cell}
            grades.new.append({**grade, "auto_score": points, "needs_manual_grade": points is None})
        elif (then := _changed(old, earned.get(cell, old.auto_score), cell in earned, other)) is not None:
            grades.changed.append({"row": old.id, **then})


def _changed(old: Any, points: float | None, automatic: bool, other_code: bool) -> dict[str, Any] | None:
    """Return what becomes of a grade, None where it stays.

    Args:
        old: the row.
        points: the automatic score that it gets.
        automatic: whether it is a check of ours; an instructor's own cell keeps what it has.
        other_code: whether the code changed since the row was written.
    """
    if old.manual_score is not None or old.extra_credit is not None:
        look = bool(old.needs_manual_grade) or other_code or points != old.auto_score
    else:
        look = points is None if automatic else bool(old.needs_manual_grade)
    same = (old.auto_score, bool(old.needs_manual_grade)) == (points, look)
    return None if same else {"points": points, "look": look}


def _earned(sheet: Sheet, score: Marked) -> dict[str, float | None]:
    """Return the automatic score of each check's cell; None where a human has to look."""
    readable = score.status != "unreadable"
    results = {result.id: result.earned for result in score.checks if readable}
    return {cell: results.get(check) for check, cell in sheet.checks.items()}


def _comment(
    sheet: Sheet,
    notebook: str,
    row: str,
    score: Marked | None,
    found: Mapping[tuple[str, str], Any],
    comments: _Changes,
) -> None:
    """Note what becomes of the comments of a submitted notebook; arguments as for ``_grade``."""
    for cell in sheet.commented[notebook]:
        mine = score is not None and cell == sheet.answer
        text = (clean(score.reason) or None) if score is not None and mine else None
        old = found.get((row, cell))
        if old is None:
            comments.new.append({"id": new_id(), "notebook_id": row, "cell_id": cell, "auto_comment": text})
        elif mine and old.auto_comment != text:
            comments.changed.append({"row": old.id, "text": text})


# ------------------------------------------------------------------------------- time


def _timestamp(path: str) -> datetime | None:
    """Return the time in ``timestamp.txt`` beside a submission's file, in UTC without saying so, as nbgrader does."""
    if not path:
        return None
    try:
        return time_of(read_bytes(os.path.join(os.path.dirname(path), TIMESTAMP)))
    except (OSError, Refused):
        return None
