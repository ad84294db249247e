"""Grade a class: collect -> sandbox -> checks -> score -> gradebook -> report. The only module that knows of
parallelism.

Submissions stream through: workers (threads, each with a warm confined process of its own) take one each, write its
pages, and one writer takes the results in batches. Nothing holds the class but its scores.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote, urlsplit

from autograder import __version__, files
from autograder.attempt import Cage, grade_one, ungraded
from autograder.gradebook import GradebookWriter
from autograder.models import CheckStatus, Exercise, Score, Submission
from autograder.notebooks import graded_notebook, own_cells
from autograder.plan import Plan
from autograder.report.classroom import class_page
from autograder.report.html import feedback_page
from autograder.report.records import from_record, json_line
from autograder.report.tables import grades_csv
from autograder.untrusted_files import Refused, read_bytes

PRELOAD: Final = ("IPython.core.inputtransformer2",)
"""Imported by the confined processes of a class: some notebook will hold a magic."""
BATCH: Final = 100
"""Scores that the gradebook takes in one go."""
RECORDS: Final = "records.jsonl"
_STAMP: Final = "feedback/.made_by"
_CHANCE: Final[frozenset[CheckStatus]] = frozenset(("timeout", "memory", "crashed"))


@dataclass(frozen=True, slots=True)
class Graded:
    """A submission with its score."""

    submission: Submission
    score: Score
    reused: bool = False
    """Whether the score is that of an earlier run over the very same work."""


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
        known: Callable[[Submission], Score | None] = lambda submission: None,
        then: Callable[[Graded], None] = lambda graded: None,
    ) -> Iterator[Graded]:
        """Yield each submission with its score, in the order in which they come; few are under way at a time.

        Args:
            submissions: may be endless.
            plans: by exercise.
            known: returns the score of the very same work from an earlier run, if there is one.
            then: called in the worker for each result, for what can be written in parallel.
        """
        pending: deque[Future[Graded]] = deque()
        for submission in submissions:
            pending.append(self._pool.submit(self._one, plans[submission.exercise], submission, known, then))
            if len(pending) >= self._window:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()

    def _one(
        self,
        plan: Plan,
        submission: Submission,
        known: Callable[[Submission], Score | None],
        then: Callable[[Graded], None],
    ) -> Graded:
        if (score := known(submission)) is not None:
            graded = Graded(submission, score, reused=True)
            then(graded)
            return graded
        with self._free:
            cage = self._cages.popleft()
            try:
                score = grade_one(plan, submission, cage)
            except Exception as error:  # a fault of ours must not stop the others
                cage.drop()
                score = ungraded(plan, submission, f"the grader failed on it: {type(error).__name__}: {error}")
            finally:
                self._cages.append(cage)
        graded = Graded(submission, score)
        then(graded)
        return graded


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

    def feedback(self, score: Score) -> Path:
        """Return the path of a submission's feedback page."""
        return self.folder / "feedback" / score.student / score.exercise / f"{score.exercise}.html"

    def autograded(self, score: Score) -> Path:
        """Return the path of a submission's graded notebook, which nbgrader's formgrader reads."""
        return self.folder / "autograded" / score.student / score.exercise / f"{score.exercise}.ipynb"

    @property
    def report(self) -> Path:
        """The path of the class report."""
        return self.folder / "report" / "index.html"

    def feedback_address(self, score: Score) -> str:
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
) -> list[Score]:
    """Grade a class and write its gradebook, notebooks, feedback pages, records, CSV and report; return the scores.

    Work that an earlier run graded - same bytes, exercise, seed and torch - is not run again unless ``force``.
    """
    exercises: dict[str, Exercise] = {slug: plan.exercise for slug, plan in plans.items()}
    earlier = {} if force else _read_records(output.folder / RECORDS)

    def known(submission: Submission) -> Score | None:
        plan = plans[submission.exercise]
        score = earlier.get((submission.student, submission.exercise))
        same = score is not None and _same_work(score, submission, plan)
        if score is not None and score.sandbox and ("bubblewrap" in score.sandbox) != workers.walled:
            return None
        return score if same and output.feedback(score).exists() and output.autograded(score).exists() else None  # type: ignore[arg-type]

    # Pages of unchanged work are written anew where they would link elsewhere, or were made by another version.
    stamp, made_by = output.folder / _STAMP, f"{__version__} {output.book}\n"
    current = stamp.is_file() and stamp.read_text(encoding="utf-8", errors="replace") == made_by

    def write_pages(graded: Graded) -> None:
        if graded.reused and current:
            return
        score, exercise = graded.score, exercises[graded.score.exercise]
        own = own_cells(graded.submission.cells, exercise)
        path = output.feedback(score)
        files.write(path, feedback_page(score, exercise, own, book_url=output.book_from(path)))
        files.write(output.autograded(score), graded_notebook(_bytes(graded.submission), exercise, score))

    scores: list[Score] = []
    output.folder.mkdir(parents=True, exist_ok=True)
    with GradebookWriter(output.gradebook, exercises) as gradebook:
        batch: list[Score] = []
        for graded in workers.grade(submissions, plans, known, write_pages):
            scores.append(graded.score)
            batch.append(graded.score)
            on_result(graded)
            if len(batch) >= BATCH:
                gradebook.write(batch)
                batch.clear()
        gradebook.write(batch)
    files.write(output.folder / RECORDS, "".join(json_line(score) + "\n" for score in scores))
    files.write(output.folder / "grades.csv", grades_csv(scores))
    page = class_page(scores, exercises, address=output.feedback_address, book_url=output.book_from(output.report))
    files.write(output.report, page)
    files.write(stamp, made_by)
    return scores


def _same_work(score: Score, submission: Submission, plan: Plan) -> bool:
    then = (score.content_hash, score.version, score.seed_id, score.reference)
    now = (submission.content_hash, plan.exercise.version, plan.expectations.seed_id, plan.expectations.reference)
    return bool(submission.content_hash) and then == now and _lasts(score)


def _lasts(score: Score) -> bool:
    # Time, memory and a fault of ours depend on what else the machine did: worth another try, never a mark for good.
    return score.status != "unreadable" and not _CHANCE & {check.status for check in score.checks}


def _bytes(submission: Submission) -> bytes:
    # The file as it was, where it is a notebook that collect could read; else a notebook of the cells.
    if submission.path.suffix == ".ipynb" and not submission.unreadable:
        with contextlib.suppress(OSError, Refused):
            data = read_bytes(submission.path)
            if hashlib.sha256(data).hexdigest() == submission.content_hash:  # it may have changed since it was graded
                return data
    cells = [{"cell_type": "code", "source": cell.source, "metadata": {}, "outputs": []} for cell in submission.cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode() if cells else b""


def _read_records(path: Path) -> dict[tuple[str, str], Score]:
    scores = {}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        for line in path.read_text(encoding="utf-8").splitlines():
            record: dict[str, Any] = json.loads(line)
            score = from_record(record)
            scores[score.student, score.exercise] = score
    return scores
