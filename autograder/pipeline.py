"""Grade a class: collect -> sandbox -> checks -> score -> gradebook -> report. The only module that knows of
parallelism.

Submissions stream through: workers (threads, each with a warm confined process of its own) take one each, note its
score in the journal, write its pages, and one writer takes the results in batches. A run that was interrupted, in
whatever way, is taken up by the next. What is held of a class is one small row a submission, see
``report.rows``, and, until its submission comes by, the score of an earlier run; equal texts of those are held once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote, urlsplit

from autograder import __version__, files
from autograder.attempt import Cage, grade_one, ungraded
from autograder.errors import CourseError, sentence
from autograder.gradebook import GradebookWriter, Key
from autograder.gradebook_copies import copy_gradebook
from autograder.gradebook_db import sqlite_file
from autograder.journal import Journal
from autograder.locks import locked
from autograder.models import Cell, CheckStatus, Exercise, Score, Submission
from autograder.notebooks import graded_notebook, own_cells
from autograder.plan import Plan
from autograder.report.classroom import class_page
from autograder.report.html import feedback_page
from autograder.report.records import json_line, read_records
from autograder.report.rows import Row, Shared, row_of
from autograder.report.tables import grades_csv
from autograder.sandbox.runner import MAX_LOST
from autograder.sandbox.zygote import SandboxError
from autograder.untrusted_files import Refused, read_bytes

PRELOAD: Final = ("IPython.core.inputtransformer2",)
"""Imported by the confined processes of a class: some notebook will hold a magic."""
BATCH: Final = 100
"""Scores that the gradebook takes in one go."""
RECORDS: Final = "records.jsonl"
_STAMP: Final = "feedback/.made_by"
_LOCK: Final = ".grading.lock"
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_LOST_TWICE: Final = (
    "the confined process ended twice while this ran, so it counts as crashed; "
    "if the machine was short of memory, grade it again"
)
_CHANCE: Final[frozenset[CheckStatus]] = frozenset(("timeout", "memory", "crashed"))
_ALIKE: Final = 2
"""Runs in a row after which a crash that was the very same in each counts as the code's own."""
_OWN_FAULT: Final[frozenset[CheckStatus]] = frozenset(("timeout", "memory"))


@dataclass(frozen=True, slots=True)
class Graded:
    """A submission with its score."""

    submission: Submission
    score: Score
    own: tuple[Cell, ...] = ()
    """The student's own cells, for the pages."""
    code: str = ""
    """Hash of those: what a mark given by hand is for."""
    reused: bool = False
    """Whether the score is that of an earlier run over the very same work."""
    resumed: bool = False
    """Whether the score is what this run graded before it was interrupted."""


class Interrupted(CourseError):
    """A run that could not be finished; one sentence says why, and that the next goes on where it stopped."""


class Class:
    """Workers that grade a class. Use as a context manager: the confined processes start at once, and warm up while the
    caller computes what is expected."""

    def __init__(self, *, workers: int = 0, walled: bool = True) -> None:
        """Start ``workers`` confined processes; one a core where it is 0."""
        count = workers or _cores()
        self.walled = walled
        self._cages = deque(Cage(walled=walled, preload=PRELOAD) for _ in range(count))
        self._free = threading.Semaphore(count)
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="worker")
        self._window = 4 * count

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        for cage in self._cages:
            cage.drop()

    def layers(self) -> tuple[str, ...]:
        """Return the layers around each submission; waits until a process is warm."""
        return self._cages[0].layers()

    def grade(
        self,
        submissions: Iterable[Submission],
        plans: Mapping[str, Plan],
        known: Callable[[Submission], Graded | None] = lambda submission: None,
        then: Callable[[Graded], Graded] = lambda graded: graded,
    ) -> Generator[Graded, None, None]:
        """Yield each submission with its score, in the order in which they come; few are under way at a time.

        Args:
            submissions: may be endless.
            plans: by exercise.
            known: returns the result for the very same work from an earlier run, if there is one.
            then: called in the worker for each result, for what can be written in parallel; returns what is yielded.
        """
        pending: deque[Future[Graded]] = deque()
        try:
            for submission in submissions:
                pending.append(self._pool.submit(self._one, plans[submission.exercise], submission, known, then))
                if len(pending) >= self._window:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:  # whoever stops half-way closes what ``then`` writes to: none may be at it still
            wait([future for future in pending if not future.cancel()])

    def _one(
        self,
        plan: Plan,
        submission: Submission,
        known: Callable[[Submission], Graded | None],
        then: Callable[[Graded], Graded],
    ) -> Graded:
        if (graded := known(submission)) is None:
            with self._free:
                cage = self._cages.popleft()
                try:
                    score = _tried(plan, submission, cage)
                finally:
                    self._cages.append(cage)
            graded = Graded(submission, score)
        own = tuple(own_cells(submission.cells, plan.exercise))
        return then(replace(graded, own=own, code=_code(submission, own)))


def _tried(plan: Plan, submission: Submission, cage: Cage) -> Score:
    """Grade a submission, once more where the confined process itself was lost: that may be no fault of it.

    What lost two of them in one try is not tried again, and a second try begins with the one that was lost: so no
    submission costs more than a few restarts.
    """
    score, lost = _attempt(plan, submission, cage)
    if 0 < lost < MAX_LOST:
        score, lost = _attempt(plan, submission, cage, lost)
    if lost and any(check.status == "crashed" for check in score.checks) and score.status != "unreadable":
        return replace(score, reason=score.reason or _LOST_TWICE, notes=(*score.notes, _LOST_TWICE))
    return score


def _attempt(plan: Plan, submission: Submission, cage: Cage, lost: int = 0) -> tuple[Score, int]:
    """Return the score, and how many confined processes were lost on the way that are worth another try."""
    before = cage.dropped
    try:
        score = grade_one(plan, submission, cage, lost)
    except Exception as error:  # a fault of ours must not stop the others
        cage.drop()
        reason = f"the grader failed on it: {type(error).__name__}: {error}"
        return ungraded(plan, submission, reason), int(isinstance(error, SandboxError))
    # Whether a check shows it or not: what was lost may have been a look at the belief behind a wrong answer. What
    # exhausts time or memory may take its process with it, and is not given the same again.
    own = _OWN_FAULT & {check.status for check in score.checks}
    return score, 0 if own else cage.dropped - before


def _code(submission: Submission, own: Sequence[Cell]) -> str:
    if submission.unreadable:  # damaged work is other work than what was handed in before
        return _hash(f"unreadable {submission.content_hash}")
    return _hash(json.dumps([cell.source for cell in own]))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# ----------------------------------------------------------------------------- output


@dataclass(frozen=True, slots=True)
class Output:
    """Where a run leaves what it makes."""

    folder: Path
    gradebook: str
    """SQLAlchemy URL."""
    book: str = ""
    """Where the book is, for the links of the pages: an address, or a path from ``folder``; "" where it is nowhere."""

    def book_from(self, page: Path) -> str:
        """Return the URL of the book's folder as a page of this output links to it."""
        if not self.book or urlsplit(self.book).scheme:
            return self.book
        return quote(os.fsencode(os.path.relpath(self.folder / self.book, page.parent))) + "/"

    def feedback(self, score: Score | Row) -> Path:
        """Return the path of a submission's feedback page."""
        return self.folder / "feedback" / score.student / score.exercise / f"{score.exercise}.html"

    def autograded(self, score: Score | Row) -> Path:
        """Return the path of a submission's graded notebook, which nbgrader's formgrader reads."""
        return self.folder / "autograded" / score.student / score.exercise / f"{score.exercise}.ipynb"

    @property
    def report(self) -> Path:
        """The path of the class report."""
        return self.folder / "report" / "index.html"

    def feedback_address(self, score: Score | Row) -> str:
        """Return the URL of a submission's feedback page, relative to the class report."""
        below = self.feedback(score).relative_to(self.folder)
        return "../" + quote(os.fsencode(below.as_posix()))


def grade_class(
    workers: Class,
    submissions: Iterable[Submission],
    plans: Mapping[str, Plan],
    output: Output,
    *,
    force: bool = False,
    on_result: Callable[[Graded], None] = lambda graded: None,
    on_look_again: Callable[[Mapping[Key, Sequence[str]]], None] = lambda found: None,
) -> list[Row]:
    """Grade a class and write its gradebook, notebooks, feedback pages, records, CSV and report; return the rows.

    The scores themselves are in the records, as ``read_records`` returns them.

    Work that an earlier run graded - same bytes, exercise, seed and torch - is not run again unless ``force``; what a
    run graded that was interrupted is not run again, and all is written that it would have written.

    Args:
        workers: grade.
        submissions: in the order of the records.
        plans: by exercise.
        output: where it all goes; one run at a time writes there.
        force: grade again what is unchanged.
        on_result: called for each submission, in their order.
        on_look_again: called once, with the cells of each submission whose mark given by hand waits for another look.

    Raises:
        CourseError: another run is writing there, the gradebook cannot be used, a file cannot be written.
        OSError: as for CourseError, before anything was graded.
    """
    output.folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        for lock, what in _locks(output):
            stack.enter_context(locked(lock, what))
        texts: dict[str, str] = {}
        journal = stack.enter_context(Journal(output.folder, forced=force, texts=texts))
        run = _Run(workers, plans, output, journal, {} if force else read_records(output.folder / RECORDS, texts))
        try:
            found = run.grade(submissions, on_result)
        except (CourseError, OSError) as error:
            if journal.kept:
                kept = "1 score is" if journal.kept == 1 else f"{journal.kept} scores are"
                raise Interrupted(
                    f"{sentence(error)}. The marks of before are whole, and {kept} kept in {journal.path}: "
                    "the same command goes on from there"
                ) from None
            if not journal.resumed:
                journal.remove()  # nothing was done
            raise
    on_look_again(found)
    return run.rows


def _locks(output: Output) -> Iterator[tuple[Path, str]]:
    yield output.folder / _LOCK, str(output.folder)
    file = sqlite_file(output.gradebook)
    # Where no lock can be made no gradebook can be written, and that is said in better words when it is opened.
    if file is not None and os.access(file.parent, os.W_OK):
        yield file.with_name(f".{file.resolve().name}.lock"), str(file)


class _Run:
    """One run over a class."""

    def __init__(
        self, workers: Class, plans: Mapping[str, Plan], output: Output, journal: Journal, earlier: dict[Key, Score]
    ) -> None:
        self.rows: list[Row] = []
        self._shared = Shared()
        self._records = files.Spool(output.folder / RECORDS)
        self._workers, self._plans, self._output, self._journal, self._earlier = (
            workers, plans, output, journal, earlier,
        )  # fmt: skip
        self._crashed: dict[Key, Score] = {}
        self._exercises: dict[str, Exercise] = {slug: plan.exercise for slug, plan in plans.items()}
        # Pages of unchanged work are written anew where they would link elsewhere, were made by another version, or
        # where an interruption, of the run or of the machine, may have left others.
        self._stamp, self._made_by = output.folder / _STAMP, f"{__version__} {output.book} {_boot()}\n"
        stamped = self._stamp.is_file() and self._stamp.read_text(encoding="utf-8", errors="replace") == self._made_by
        self._pages_are_current = stamped and not journal.resumed

    def grade(
        self, submissions: Iterable[Submission], on_result: Callable[[Graded], None]
    ) -> dict[Key, tuple[str, ...]]:
        """Grade all and write everything; return the marks given by hand that wait for another look."""
        if self._journal.resumed:
            self._sweep()
        with self._records:
            with (
                GradebookWriter(self._output.gradebook, self._exercises, self._before_change) as gradebook,
                contextlib.closing(self._workers.grade(submissions, self._plans, self._known, self._keep)) as results,
            ):
                batch: list[Graded] = []
                for graded in results:
                    self.rows.append(self._shared.row(row_of(graded.score)))
                    self._records.add(json_line(graded.score))
                    # Of the submission only this much is needed, and not the whole batch's code.
                    batch.append(replace(graded, own=(), submission=replace(graded.submission, cells=())))
                    on_result(batch[-1])
                    if len(batch) >= BATCH:
                        self._journal.sync()
                        _write(gradebook, batch)
                        batch.clear()
                _write(gradebook, batch)
                look_again = gradebook.look_again(self.rows)
            self._finish(look_again)
        return look_again

    def _known(self, submission: Submission) -> Graded | None:
        # Taken out, so that a score is held once: what is not taken up again is forgotten here.
        plan, key = self._plans[submission.exercise], (submission.student, submission.exercise)
        taken, score = self._journal.scores.pop(key, None), self._earlier.pop(key, None)
        if taken is not None and self._same_work(taken, submission, plan):
            return Graded(submission, taken, resumed=True)
        if score is None or not self._same_work(score, submission, plan):
            return None
        if not _lasts(score):
            self._crashed[key] = score  # to be compared with what comes of this run
            return None
        pages = self._output.feedback(score), self._output.autograded(score)
        return Graded(submission, score, reused=True) if all(page.exists() for page in pages) else None

    def _same_work(self, score: Score, submission: Submission, plan: Plan) -> bool:
        if score.sandbox and ("bubblewrap" in score.sandbox) != self._workers.walled:
            return False
        return _same_work(score, submission, plan)

    def _keep(self, graded: Graded) -> Graded:
        """Note a result in the journal, then write its pages; called in the worker."""
        if not graded.reused and not graded.resumed:
            score = graded.score
            graded = replace(graded, score=_counted(score, self._crashed.pop((score.student, score.exercise), None)))
            self._journal.append(graded.score)
        if graded.reused and self._pages_are_current:
            return graded
        score, exercise = graded.score, self._exercises[graded.score.exercise]
        path = self._output.feedback(score)
        files.write(path, feedback_page(score, exercise, graded.own, book_url=self._output.book_from(path)))
        files.write(self._output.autograded(score), graded_notebook(_bytes(graded.submission), exercise, score))
        return graded

    def _before_change(self, gradebook: Path | None) -> None:
        if self._journal.gradebook_changed:
            return  # the copy was made before the run was interrupted
        if gradebook is not None:
            copy_gradebook(gradebook)
        self._journal.mark_gradebook_changed()

    def _finish(self, look_again: Mapping[Key, Sequence[str]]) -> None:
        output = self._output
        page = class_page(
            self.rows,
            self._exercises,
            address=output.feedback_address,
            book_url=output.book_from(output.report),
            look_again=look_again,
        )
        files.write_parts(output.report, page)
        files.write(self._stamp, self._made_by)
        files.write_lines(output.folder / "grades.csv", grades_csv(self.rows))
        # From the records all else can be made again: with them on the disk, the journal has done its work.
        self._records.put(durable=True)
        self._journal.remove()

    def _sweep(self) -> None:
        files.sweep(self._output.folder, below=False)
        for name in ("feedback", "autograded", "report"):
            files.sweep(self._output.folder / name, below=True)


def _write(gradebook: GradebookWriter, batch: Sequence[Graded]) -> None:
    codes = {(graded.score.student, graded.score.exercise): graded.code for graded in batch}
    gradebook.write([graded.score for graded in batch], codes)


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _same_work(score: Score, submission: Submission, plan: Plan) -> bool:
    then = (score.content_hash, score.version, score.seed_id, score.reference)
    now = (submission.content_hash, plan.exercise.version, plan.expectations.seed_id, plan.expectations.reference)
    return bool(submission.content_hash) and then == now and score.status != "unreadable"


def _lasts(score: Score) -> bool:
    # Time, memory and a fault of ours depend on what else the machine did: worth another try, never a mark for good. So
    # may a crash, whatever it looks like; but chance does not end a submission in the same way at the same call twice.
    chance = _CHANCE & {check.status for check in score.checks}
    return not chance or (chance == {"crashed"} and score.crashes >= _ALIKE)


def _counted(score: Score, before: Score | None) -> Score:
    """Return the score with how many runs in a row crashed like this one; ``before`` is that of the last."""
    if _CHANCE & {check.status for check in score.checks} != {"crashed"}:
        return score
    counted = replace(score, crashes=1)
    same = before is not None and replace(before, duration_s=score.duration_s, crashes=1) == counted
    return replace(score, crashes=before.crashes + 1) if before is not None and same else counted


def _bytes(submission: Submission) -> bytes:
    # The file as it was, where it is a notebook that collect could read; else a notebook of the cells.
    if submission.path.suffix == ".ipynb" and not submission.unreadable:
        with contextlib.suppress(OSError, Refused):
            data = read_bytes(submission.path)
            if hashlib.sha256(data).hexdigest() == submission.content_hash:  # it may have changed since it was graded
                return data
    cells = [{"cell_type": "code", "source": cell.source, "metadata": {}, "outputs": []} for cell in submission.cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode() if cells else b""
