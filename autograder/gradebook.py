"""Write scores into nbgrader's own gradebook, for formgrader, feedback and export: one writer, one transaction a batch.

The tables are those of nbgrader.api; the statements are few and go to many rows at once, because nbgrader's own methods
commit for every row. Rows look as if nbgrader had written them: an assignment and its notebook are called like the
exercise, each check is a graded code cell, the answer is the solution cell, and every cell that nbgrader marks has its
source, so that ``nbgrader generate_assignment`` still works on the same course.

What a human wrote - manual scores, extra credit, manual comments - is never changed. A run changes automatic scores
and comments alone, and asks for another look at what a human gave where the code is another now.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from select import select as readable
from types import TracebackType
from typing import Any, Final, Protocol, Self

from sqlalchemy import Connection, Engine, Select, event, exists, or_, select

from autograder.gradebook_cells import prepare
from autograder.gradebook_db import (
    DamagedGradebookError,
    clean,
    create_or_check,
    expect_gradebook,
    expect_whole,
    expect_writable,
    file_of,
    name_of,
    open_engine,
    transaction,
)
from autograder.gradebook_db import GradebookError as GradebookError
from autograder.gradebook_db import url_of as url_of
from autograder.gradebook_final import given
from autograder.gradebook_rows import Marked, Place, write_rows
from autograder.gradebook_seen import Watch, file_fingerprint, server_fingerprint
from autograder.gradebook_server import LOCK, claim, keep_writers_out
from autograder.gradebook_tables import ASSIGNMENT, BASE_CELL, GRADE, SUBMITTED_ASSIGNMENT, SUBMITTED_NOTEBOOK
from autograder.models import Exercise

_CHUNK: Final = 500
"""Scores a statement: databases limit the number of its parameters."""
_CHANGES: Final = ("INSERT", "UPDATE", "DELETE", "CREATE")
_LET_GO_S: Final = 5.0
"""How long a server may take to say that it has our lock back."""
_NAME: Final = 128
"""Characters of a student's name that a server keeps; an SQLite file keeps them all."""

Key = tuple[str, str]
"""Student and exercise."""


class Keyed(Protocol):
    """What says whose work it is, and of what."""

    @property
    def student(self) -> str: ...
    @property
    def exercise(self) -> str: ...


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
        self._session: Connection | None = None
        self._before_change = before_change
        self._changed = False
        self._written = False
        self._file: Path | None = None
        self._identity: tuple[int, int] | None = None
        self._alone = False
        self._version: tuple[object, int] | None = None
        self._others: Watch | None = None

    def __enter__(self) -> Self:
        """Open the gradebook; GradebookError where that cannot be done, LockError where another grader has it."""
        self._engine = engine = open_engine(self._url)
        self._file = file_of(engine)
        event.listen(engine, "before_cursor_execute", self._watch)
        try:
            if engine.dialect.name == "postgresql":
                self._session = _connected(engine)
                event.listen(engine, "after_cursor_execute", self._count)
                claim(self._session)
            with self._transaction() as connection:
                expect_whole(connection)
                create_or_check(connection)
                self._note_version(connection)
                if self._session is not None:
                    self._others = Watch(connection)
            expect_writable(engine)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self._alone, self._identity = True, self._seen()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            _let_go(self._session)
            self._session.invalidate()  # closed, and not kept: with it our lock goes, if it was not let go of
            self._session.close()
            self._session = None
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    @contextlib.contextmanager
    def _transaction(self, *, writing: bool = True) -> Iterator[Connection]:
        """Begin a transaction: on a server, on the one connection that holds our lock."""
        if self._engine is None:
            raise ValueError("the gradebook is not open; use `with GradebookWriter(...) as gradebook`")
        if self._session is not None and self._session.invalidated:
            raise GradebookError(f"{name_of(self._engine)}: the connection to the server was lost; run this again")
        with transaction(self._session or self._engine, writing=writing) as connection:
            yield connection

    def _watch(self, connection: Any, cursor: Any, statement: str, *others: Any) -> None:
        if not self._changed and statement.lstrip().upper().startswith(_CHANGES):
            self._before_change(self._file)
            self._changed = True

    def _count(self, connection: Any, cursor: Any, statement: str, *others: Any) -> None:
        words = statement.split(None, 3)
        if self._others is not None and words[0] in ("INSERT", "DELETE"):
            self._others.count(words[2].strip('"'), cursor.rowcount if words[0] == "INSERT" else -cursor.rowcount)

    def _note_version(self, connection: Connection) -> None:
        """Note an SQLite file's version, which for one connection moves where another one wrote."""
        now = _version(connection)
        if self._version is None:
            self._version = now
        elif now is None or now[0] is not self._version[0] or now[1] != self._version[1]:
            self._alone = False

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

    def fingerprint(self) -> str:
        """Return what tells this gradebook, as it is now, from what it was or will be at any other time.

        Keep it where a run ends. The next run asks for it before it writes - here, or of ``fingerprint_of(url)``, which
        opens nothing for a file - and where it finds the same, and has the same scores to write, it need not write
        them: every row is as the first run left it. That holds where the first run wrote all of its scores, or found
        the fingerprint of the run before it and wrote those that changed.

        Returns:
            A short text. It is "", which is never to be taken for the same, where others may have written since this
            writer was opened, in between what it wrote: then the next run compares the rows, as without a fingerprint.

        Raises:
            GradebookError: the database refuses.
            ValueError: the writer is not open.
        """
        with self._transaction() as connection:  # nobody writes meanwhile
            self._note_version(connection)
            if not self._alone:
                return ""
            if self._others is not None:
                keep_writers_out(connection)
                return "" if self._others.others_wrote(connection) else server_fingerprint(connection)
            return file_fingerprint(self._file) if self._file is not None and self._seen() == self._identity else ""

    def write(self, scores: Sequence[Marked], codes: Mapping[Key, str] | None = None) -> None:
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
        latest: dict[Place, Marked] = {}
        for score in scores:
            self._expect_known(score)
            latest[self._place(score)] = score
        if self._engine is None or latest:
            self._write(latest, codes or {})

    def _write(self, latest: Mapping[Place, Marked], codes: Mapping[Key, str]) -> None:
        self._expect_in_place()
        try:
            with self._transaction() as connection:
                if self._session is not None:
                    keep_writers_out(connection)
                self._note_version(connection)
                slugs = dict.fromkeys(slug for _, slug in latest)
                sheets = prepare(connection, (self._exercises[slug] for slug in slugs))
                pending = iter(latest.items())
                while chunk := dict(islice(pending, _CHUNK)):
                    used = {slug: sheets[slug] for slug in dict.fromkeys(slug for _, slug in chunk)}
                    known = {place: codes.get((score.student, score.exercise), "") for place, score in chunk.items()}
                    write_rows(connection, used, chunk, known)
                if self._others is not None:
                    self._others.note(connection)
        except BaseException as error:
            self._alone = False  # what was counted was not written
            if isinstance(error, DamagedGradebookError) and self._written:
                raise DamagedGradebookError(error.path, error.said, changed=True) from None
            raise
        self._written = True
        self._expect_in_place()

    def look_again(self, scores: Iterable[Keyed]) -> dict[Key, tuple[str, ...]]:
        """Return where a mark that a human gave waits for another look, by student and exercise of the scores.

        Returns:
            The names of the cells. Each was marked by hand, and the code or the automatic score changed since.

        Raises:
            GradebookError: the database refuses.
        """
        with self._transaction(writing=False) as connection:
            found: dict[Key, list[str]] = {}
            for student, exercise, cell in connection.execute(_look_again_query()):
                found.setdefault((student, exercise), []).append(cell)
        if not found:
            return {}
        places = (((score.student, score.exercise), self._place(score)) for score in scores)
        return {key: tuple(found[place]) for key, place in places if place in found}

    def final_scores(self, scores: Iterable[Keyed]) -> dict[int, float]:
        """Return what the gradebook holds for the scores that are not what our checks alone make of them.

        These are the submissions that a human gave points or extra credit, that nbgrader took a late penalty from, or
        whose instructor's own cells have points.

        Returns:
            By the place of a score, of several for one student and exercise that of the last: all points of the
            submission, manual before automatic, with extra credit, less a late penalty, and not below 0, as
            ``read_scores``.

        Raises:
            GradebookError: the database refuses.
        """
        found: dict[int, float] = {}
        places: dict[Place, int] = {}
        with self._transaction(writing=False) as connection:
            for student, exercise, final in given(connection, self._exercises):
                # Most classes have none, and pay nothing for this.
                places = places or {self._place(score): n for n, score in enumerate(scores)}
                if (n := places.get((student, exercise))) is not None:
                    found[n] = final
        return found

    def _place(self, score: Keyed) -> Place:
        student = clean(score.student)
        if len(student) > _NAME and self._session is not None:
            student = f"{student[: _NAME - 17]}~{hashlib.sha256(student.encode()).hexdigest()[:16]}"
        return student, score.exercise

    def _expect_known(self, score: Marked) -> None:
        exercise = self._exercises.get(score.exercise)
        if exercise is None:
            raise ValueError(f"{score.student}: a score of {score.exercise!r}, which is no exercise of this gradebook")
        unknown = {result.id for result in score.checks} - {check.id for check in exercise.checks}
        if unknown:
            raise ValueError(f"{score.student}: {score.exercise} has no check {', '.join(sorted(unknown))}")


def _connected(engine: Engine) -> Connection:
    with transaction(engine, writing=False):
        pass  # what is wrong with the server is said here, in one sentence
    return engine.connect()


def _let_go(session: Connection) -> None:
    """Give our lock back before the connection is dropped, of whose end the server hears when it comes to it.

    Whoever grades next would be told of another grader, which has ended. A server that cannot be asked, or does not
    answer in that time, is left to itself: with the connection the lock goes in any case.
    """
    with contextlib.suppress(Exception):
        if not session.invalidated:  # else it would connect anew
            server: Any = session.connection.driver_connection
            server.pgconn.send_query(f"SELECT pg_advisory_unlock({LOCK})".encode())
            readable([server], [], [], _LET_GO_S)


def _version(connection: Connection) -> tuple[object, int] | None:
    if connection.dialect.name != "sqlite":
        return None
    return connection.connection.dbapi_connection, int(connection.exec_driver_sql("PRAGMA data_version").scalar_one())


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
    by_hand = or_(GRADE.c.manual_score.is_not(None), GRADE.c.extra_credit.is_not(None))
    return (
        select(SUBMITTED_ASSIGNMENT.c.student_id, ASSIGNMENT.c.name, BASE_CELL.c.name)
        .select_from(GRADE)
        .join(BASE_CELL, BASE_CELL.c.id == GRADE.c.cell_id)
        .join(SUBMITTED_NOTEBOOK, SUBMITTED_NOTEBOOK.c.id == GRADE.c.notebook_id)
        .join(SUBMITTED_ASSIGNMENT, SUBMITTED_ASSIGNMENT.c.id == SUBMITTED_NOTEBOOK.c.assignment_id)
        .join(ASSIGNMENT, ASSIGNMENT.c.id == SUBMITTED_ASSIGNMENT.c.assignment_id)
        .where(GRADE.c.needs_manual_grade, by_hand)
        .order_by(SUBMITTED_ASSIGNMENT.c.student_id, ASSIGNMENT.c.name, BASE_CELL.c.name)
    )


def _row(student: str, exercise: str, score: float, max_score: float, manual: bool, scored: bool) -> dict[str, Any]:
    return {
        "student": student,
        "exercise": exercise,
        "score": max(0.0, score) if scored else None,
        "max_score": max_score,
        "needs_manual_grade": bool(manual),
    }
