"""Write scores into nbgrader's own gradebook, for formgrader, feedback and export: one writer, one transaction a batch.

The tables are those of nbgrader.api; the statements are few and go to many rows at once, because nbgrader's own methods
commit for every row. Rows look as if nbgrader had written them: an assignment and its notebook are called like the
exercise, each check is a graded code cell, the answer is the solution cell, and every cell that nbgrader marks has its
source, so that ``nbgrader generate_assignment`` still works on the same course.

What a human wrote - manual scores, extra credit, manual comments - is never changed. A run changes automatic scores
and comments alone, and asks for another look at what a human gave where the code is another now.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from sqlalchemy import Connection, Engine, Select, event, exists, insert, or_, select, update

from autograder.gradebook_cells import Sheet, prepare
from autograder.gradebook_db import (
    CODE,
    among,
    clean,
    create_or_check,
    expect_gradebook,
    expect_writable,
    file_of,
    insert_rows,
    new_id,
    open_engine,
    table_of,
    transaction,
    update_rows,
)
from autograder.gradebook_db import GradebookError as GradebookError
from autograder.gradebook_db import url_of as url_of
from autograder.models import Exercise, Score
from autograder.report.rows import Row
from autograder.untrusted_files import Refused, read_bytes

_CHUNK: Final = 500
"""Scores a statement: databases limit the number of its parameters."""
_CHANGES: Final = ("INSERT", "UPDATE", "DELETE", "CREATE")

Key = tuple[str, str]
"""Student and exercise."""


class GradebookWriter:
    """The one writer of a gradebook. Use as a context manager: entering opens it, and creates an empty one."""

    def __init__(
        self,
        url: str,
        exercises: Mapping[str, Exercise],
        before_change: Callable[[Path | None], None] = lambda path: None,
    ) -> None:
        """Prepare; nothing is opened yet.

        Args:
            url: SQLAlchemy's.
            exercises: by slug.
            before_change: called once, before the first statement that changes something, while no other program can
                write; with the database's file, or None where it has none. What it raises ends the transaction.
        """
        self._url = url
        self._exercises = dict(exercises)
        self._engine: Engine | None = None
        self._before_change = before_change
        self._changed = False
        self._file: Path | None = None
        self._identity: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        """Open the gradebook; GradebookError where that cannot be done."""
        engine = open_engine(self._url)
        self._file = file_of(engine)
        event.listen(engine, "before_cursor_execute", self._watch)
        try:
            with transaction(engine) as connection:
                create_or_check(connection)
            expect_writable(engine)
        except BaseException:
            engine.dispose()
            raise
        self._engine, self._identity = engine, self._seen()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _watch(self, connection: Any, cursor: Any, statement: str, *others: Any) -> None:
        if not self._changed and statement.lstrip().upper().startswith(_CHANGES):
            self._before_change(self._file)
            self._changed = True

    def _seen(self) -> tuple[int, int] | None:
        try:
            found = self._file.stat() if self._file else None
        except OSError:
            return None
        return (found.st_dev, found.st_ino) if found else None

    def _expect_in_place(self) -> None:
        # SQLite goes on writing to a file that has no name any more, and says nothing.
        if self._seen() != self._identity:
            raise GradebookError(
                f"{self._file}: the gradebook was removed or replaced while it was written; "
                "put it back, or do without it, then run this again"
            )

    def write(self, scores: Sequence[Score], codes: Mapping[Key, str] | None = None) -> None:
        """Write a batch of scores, all or none of it; of several for one student and exercise, the last counts.

        Students, assignments and cells are created where they are missing, and points follow the exercise. Writing the
        same scores again changes nothing. A check's automatic score is what it earned; a submission that cannot be
        graded gets none and is marked for manual grading, so that a human sees it. A manual score stays, and is marked
        for another look where the code, or the automatic score beside it, changed since. The comment on the answer is
        the score's reason. The time of submission is that of ``timestamp.txt`` beside the file, as in nbgrader, and
        unknown without one.

        Args:
            scores: the batch.
            codes: by student and exercise, a hash of the code that was graded; it is kept, so that the next write
                knows whether the code changed. Without one nothing is said of that.

        Raises:
            GradebookError: the database refuses, is locked for long, or is gone.
            ValueError: a score of an unknown exercise or check, or the writer is not open.
        """
        if self._engine is None:
            raise ValueError("the gradebook is not open; use `with GradebookWriter(...) as gradebook`")
        by_slug: dict[str, dict[str, Score]] = {}
        for score in scores:
            self._expect_known(score)
            by_slug.setdefault(score.exercise, {})[clean(score.student)] = score
        if not by_slug:
            return
        known = codes or {}
        self._expect_in_place()
        with transaction(self._engine) as connection:
            for slug, latest in by_slug.items():
                sheet = prepare(connection, self._exercises[slug])
                pending = iter(latest.items())
                while chunk := dict(islice(pending, _CHUNK)):
                    found = {student: known.get((score.student, slug), "") for student, score in chunk.items()}
                    _write(connection, sheet, chunk, found)
        self._expect_in_place()

    def look_again(self, scores: Sequence[Score | Row]) -> dict[Key, tuple[str, ...]]:
        """Return where a mark that a human gave waits for another look, by student and exercise of the scores.

        Returns:
            The names of the cells. Each was marked by hand, and the code or the automatic score changed since.

        Raises:
            GradebookError: the database refuses.
        """
        if self._engine is None:
            raise ValueError("the gradebook is not open; use `with GradebookWriter(...) as gradebook`")
        with transaction(self._engine, writing=False) as connection:
            found: dict[Key, list[str]] = {}
            for student, exercise, cell in connection.execute(_look_again_query()):
                found.setdefault((student, exercise), []).append(cell)
        keys = [(score.student, score.exercise) for score in scores]
        return {key: tuple(found[row]) for key in keys if (row := (clean(key[0]), key[1])) in found}

    def _expect_known(self, score: Score) -> None:
        exercise = self._exercises.get(score.exercise)
        if exercise is None:
            raise ValueError(f"{score.student}: a score of {score.exercise!r}, which is no exercise of this gradebook")
        unknown = {result.id for result in score.checks} - {check.id for check in exercise.checks}
        if unknown:
            raise ValueError(f"{score.student}: {score.exercise} has no check {', '.join(sorted(unknown))}")


def read_scores(url: str) -> list[dict[str, Any]]:
    """Return what a gradebook holds, by student, then exercise.

    Returns:
        One dict a submission: ``student``, ``exercise``, ``score`` (as nbgrader exports it: manual before automatic,
        with extra credit, less a late penalty; None where no check has a score of either kind), ``max_score``,
        ``needs_manual_grade``.

    Raises:
        GradebookError: there is no gradebook.
    """
    engine = open_engine(url, reading=True)
    try:
        with transaction(engine, writing=False) as connection:
            expect_gradebook(connection)
            return [_row(*row) for row in connection.execute(_scores_query())]
    finally:
        engine.dispose()


def _scores_query() -> Select[Any]:
    from nbgrader.api import Assignment, Grade, SubmittedAssignment, SubmittedNotebook

    scored = exists().where(
        SubmittedNotebook.assignment_id == SubmittedAssignment.id,
        Grade.notebook_id == SubmittedNotebook.id,
        or_(Grade.auto_score.is_not(None), Grade.manual_score.is_not(None)),
    )
    return (
        select(
            SubmittedAssignment.student_id,
            Assignment.name,
            SubmittedAssignment.score - SubmittedAssignment.late_submission_penalty,
            SubmittedAssignment.max_score,
            SubmittedAssignment.needs_manual_grade,
            scored,
        )
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .order_by(SubmittedAssignment.student_id, Assignment.name)
    )


def _look_again_query() -> Select[Any]:
    grade, cell, notebook = table_of("grade"), table_of("base_cell"), table_of("submitted_notebook")
    submission, assignment = table_of("submitted_assignment"), table_of("assignment")
    return (
        select(submission.c.student_id, assignment.c.name, cell.c.name)
        .select_from(grade)
        .join(cell, cell.c.id == grade.c.cell_id)
        .join(notebook, notebook.c.id == grade.c.notebook_id)
        .join(submission, submission.c.id == notebook.c.assignment_id)
        .join(assignment, assignment.c.id == submission.c.assignment_id)
        .where(grade.c.needs_manual_grade, or_(grade.c.manual_score.is_not(None), grade.c.extra_credit.is_not(None)))
        .order_by(submission.c.student_id, assignment.c.name, cell.c.name)
    )


def _row(student: str, exercise: str, score: float, max_score: float, manual: bool, scored: bool) -> dict[str, Any]:
    return {
        "student": student,
        "exercise": exercise,
        "score": max(0.0, score) if scored else None,
        "max_score": max_score,
        "needs_manual_grade": bool(manual),
    }


# ------------------------------------------------------------------------- submissions


def _write(connection: Connection, sheet: Sheet, scores: Mapping[str, Score], codes: Mapping[str, str]) -> None:
    """Write scores and hashes of code, both by student, of one exercise."""
    known = connection.scalars(among("student", "id", scores, "id"))
    insert_rows(connection, "student", [{"id": student} for student in sorted(scores.keys() - set(known))])
    submissions = _submissions(connection, sheet, scores)
    notebooks = _notebooks(connection, sheet, submissions)
    ours = {notebooks[submissions[student], sheet.notebook]: score for student, score in scores.items()}
    where = {row: notebook for (_, notebook), row in notebooks.items()}
    renewed = _write_codes(connection, {submissions[student]: code for student, code in codes.items() if code})
    other = {notebooks[submission, sheet.notebook] for submission in renewed}
    _write_grades(connection, sheet, where, ours, other)
    _write_comments(connection, sheet, where, ours)


def _submissions(connection: Connection, sheet: Sheet, scores: Mapping[str, Score]) -> dict[str, str]:
    """Return the id of each student's submission, with its time brought up to date."""
    table = table_of("submitted_assignment")
    times = {student: _timestamp(score.path) for student, score in scores.items()}
    query = among("submitted_assignment", "student_id", scores).where(table.c.assignment_id == sheet.assignment)
    found, later = {}, []
    for row in connection.execute(query):
        found[row.student_id] = row.id
        if times[row.student_id] not in (None, row.timestamp):
            later.append({"row": row.id, "time": times[row.student_id]})
    made = {student: new_id() for student in scores if student not in found}
    rows = [
        {"id": made[student], "assignment_id": sheet.assignment, "student_id": student, "timestamp": times[student]}
        for student in made
    ]
    insert_rows(connection, "submitted_assignment", rows)
    update_rows(connection, "submitted_assignment", {"timestamp": "time"}, later)
    return found | made


def _notebooks(connection: Connection, sheet: Sheet, submissions: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Return the id of each submitted notebook, by (submission, notebook)."""
    query = among("submitted_notebook", "assignment_id", submissions.values())
    found = {(row.assignment_id, row.notebook_id): row.id for row in connection.execute(query)}
    wanted = ((row, notebook) for row in submissions.values() for notebook in sheet.graded)
    made = {key: new_id() for key in wanted if key not in found}
    rows = [{"id": made[a, n], "assignment_id": a, "notebook_id": n, "flagged": False} for a, n in made]
    insert_rows(connection, "submitted_notebook", rows)
    return found | made


def _write_codes(connection: Connection, codes: Mapping[str, str]) -> set[str]:
    """Keep the hash of each submission's code; return the submissions that had another one."""
    query = select(CODE).where(CODE.c.submission_id.in_(list(codes)))
    found = {row.submission_id: row.code for row in connection.execute(query)}
    new = [{"submission_id": row, "code": code} for row, code in codes.items() if row not in found]
    if new:
        connection.execute(insert(CODE), new)
    other = {row for row, code in codes.items() if found.get(row, code) != code}
    for row in sorted(other):
        connection.execute(update(CODE).where(CODE.c.submission_id == row).values(code=codes[row]))
    return other


def _write_grades(
    connection: Connection,
    sheet: Sheet,
    where: Mapping[str, str],
    ours: Mapping[str, Score],
    other: Collection[str],
) -> None:
    """Write the automatic scores; ``other`` are the submitted notebooks whose code changed."""
    found = {(row.notebook_id, row.cell_id): row for row in connection.execute(among("grade", "notebook_id", where))}
    new, changed = [], []
    for row, notebook in where.items():
        earned = _earned(sheet, ours[row]) if row in ours else {}
        for cell in sheet.graded.get(notebook, ()):
            old = found.get((row, cell))
            points = earned.get(cell, 0.0 if cell in sheet.retired else None)
            if old is None:
                grade = {"id": new_id(), "notebook_id": row, "cell_id": cell}
                new.append({**grade, "auto_score": points, "needs_manual_grade": points is None})
            elif (then := _changed(old, earned.get(cell, old.auto_score), cell in earned, row in other)) is not None:
                changed.append({"row": old.id, **then})
    insert_rows(connection, "grade", new)
    update_rows(connection, "grade", {"auto_score": "points", "needs_manual_grade": "look"}, changed)


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


def _earned(sheet: Sheet, score: Score) -> dict[str, float | None]:
    """Return the automatic score of each check's cell; None where a human has to look."""
    readable = score.status != "unreadable"
    results = {result.id: result.earned for result in score.checks if readable}
    return {cell: results.get(check) for check, cell in sheet.checks.items()}


def _write_comments(connection: Connection, sheet: Sheet, where: Mapping[str, str], ours: Mapping[str, Score]) -> None:
    query = among("comment", "notebook_id", where)
    found = {(row.notebook_id, row.cell_id): row for row in connection.execute(query)}
    new, changed = [], []
    for row, notebook in where.items():
        for cell in sheet.commented.get(notebook, ()):
            mine = row in ours and cell == sheet.answer
            text = (clean(ours[row].reason) or None) if mine else None
            old = found.get((row, cell))
            if old is None:
                new.append({"id": new_id(), "notebook_id": row, "cell_id": cell, "auto_comment": text})
            elif mine and old.auto_comment != text:
                changed.append({"row": old.id, "text": text})
    insert_rows(connection, "comment", new)
    update_rows(connection, "comment", {"auto_comment": "text"}, changed)


def _timestamp(path: str) -> datetime | None:
    """Return the time in ``timestamp.txt`` beside a submission's file, in UTC without saying so, as nbgrader does."""
    if not path:
        return None
    from nbgrader.utils import parse_utc

    try:
        text = read_bytes(Path(path).with_name("timestamp.txt"))[:100].decode("ascii").strip()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown names of time zones: a student may write anything
            found = parse_utc(text) if text else None
    except (OSError, Refused, ValueError, OverflowError, TypeError):
        return None
    return found if isinstance(found, datetime) else None
