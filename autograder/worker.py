"""One grading process: from what was handed in to its record and pages, with a warm confined process of its own.

``Station`` does the work, and knows nothing of who asks for it. ``main`` is what runs in a process that the pool has
started with a new interpreter, and ``serve`` its loop: it takes orders, then tasks, over a socket pair, one after the
other, and answers each; ``Desk`` is where they lie until then. Both ends of it are the grader's own; what a student
handed in travels as bytes. Torch is not imported here: the judge is standard library, and what needs torch runs in the
confined process, or did in the main one.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Final, Self

from autograder import catalog
from autograder.attempt import Cage, grade_one, ungraded
from autograder.collect import Handed, read_handed
from autograder.earlier import chance
from autograder.errors import CourseError, sentence
from autograder.models import Cell, CheckStatus, Score, Submission
from autograder.notebooks import code_hash, graded_notebook, own_cells
from autograder.output import Output
from autograder.plan import Plan
from autograder.report.html import feedback_page
from autograder.report.records import from_record, json_line
from autograder.report.rows import row_of
from autograder.sandbox.runner import MAX_LOST
from autograder.sandbox.zygote import SandboxError
from autograder.tasks import (
    Answer,
    Asked,
    Done,
    Fault,
    Layers,
    Orders,
    Ready,
    TakeBack,
    TakenBack,
    Task,
    Told,
    unread,
    without_texts,
)
from autograder.untrusted_files import Refused, read_bytes

PRELOAD: Final = ("IPython.core.inputtransformer2",)
"""Imported by the confined processes of a class: some notebook will hold a magic."""
_OWN_FAULT: Final[frozenset[CheckStatus]] = frozenset(("timeout", "memory"))
_LOST_TWICE: Final = (
    "the confined process ended twice while this ran, so it counts as crashed; "
    "if the machine was short of memory, grade it again"
)
_LOST_EACH: Final = "the confined process ended more than once while this ran, so not all was run; the next run does"

# ---------------------------------------------------------------------------- station


class Station:
    """Grades submissions, one at a time."""

    def __init__(
        self, plans: Mapping[str, Plan], cage: Cage, output: Output | None = None, *, writes: bool = True
    ) -> None:
        """Prepare to grade.

        Args:
            plans: by exercise.
            cage: where submissions run.
            output: where pages belong; None to make none.
            writes: whether they are written there; else they come back with the result.
        """
        self._plans, self._cage, self._output, self._writes = plans, cage, output, writes
        self.writing = threading.Lock()
        """Held while pages are written."""

    def grade(self, task: Task) -> Done:
        """Grade a submission and make its pages; whatever it is or does becomes part of the score.

        Raises:
            OSError: a page cannot be written; the error names it.
        """
        try:
            return self._grade(task)
        except OSError:
            raise
        except Exception as error:  # a fault of ours, in reading it or in a page, must not stop the others
            why = f"the grader failed on it: {type(error).__name__}: {error}"
            return self._grade(unread(task, why))

    def _grade(self, task: Task) -> Done:
        work = task.work
        submission = work if isinstance(work, Submission) else read_handed(work)
        plan = self._plans[submission.exercise]
        score, line = _score_of(task.record), b""
        if score is None:
            score = counted(_tried(plan, submission, self._cage), _score_of(task.before))
            line = json_line(score).encode()
        own = own_cells(submission.cells, plan.exercise)
        pages = None
        if self._output is not None:
            pages = self._pages(self._output, plan, score, own, _bytes(work, submission))
            if self._writes:
                with self.writing:
                    self._output.write(score, pages)
                pages = None
        return Done(task.number, row_of(score), without_texts(score), line, code_hash(submission, own), pages)

    def _pages(self, output: Output, plan: Plan, score: Score, own: tuple[Cell, ...], data: bytes) -> tuple[str, str]:
        book = output.book_from(output.feedback(score))
        page = feedback_page(score, plan.exercise, own, book_url=book) if output.with_feedback else ""
        return page, graded_notebook(data, plan.exercise, score)


def _score_of(record: bytes) -> Score | None:
    """Return the score of a record; None where there is none, or none that reads back."""
    if record:
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
            return from_record(json.loads(record))
    return None


def _tried(plan: Plan, submission: Submission, cage: Cage) -> Score:
    """Grade a submission, once more where the confined process itself was lost: that may be no fault of it.

    What lost two of them in one try is not tried again, and a second try begins with the one that was lost: so no
    submission costs more than a few restarts.
    """
    score, lost = _attempt(plan, submission, cage)
    if 0 < lost < MAX_LOST:
        score, lost = _attempt(plan, submission, cage, lost)
    statuses = {check.status for check in score.checks}
    if not lost or score.status == "unreadable" or not statuses & {"crashed", "not_run"}:
        return score
    said = _LOST_TWICE if "crashed" in statuses else _LOST_EACH
    return replace(score, reason=score.reason or said, notes=(*score.notes, said))


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
    # exhausts time or memory may take its process with it, and is not given the same again. Full marks stay.
    statuses = {check.status for check in score.checks}
    return score, 0 if _OWN_FAULT & statuses or statuses == {"passed"} else cage.dropped - before


def counted(score: Score, before: Score | None) -> Score:
    """Return the score with how many runs in a row crashed like this one; ``before`` is that of the last."""
    if chance(check.status for check in score.checks) != {"crashed"}:
        return score
    once = replace(score, crashes=1)
    same = before is not None and replace(before, duration_s=score.duration_s, crashes=1) == once
    return replace(score, crashes=before.crashes + 1) if before is not None and same else once


def _bytes(work: Handed | Submission, submission: Submission) -> bytes:
    """Return the file as it was, where it is a notebook that could be read; else a notebook of the cells."""
    if submission.path.suffix == ".ipynb" and not submission.unreadable:
        if isinstance(work, Handed):
            return work.data
        with contextlib.suppress(OSError, Refused):
            data = read_bytes(submission.path)
            if hashlib.sha256(data).hexdigest() == submission.content_hash:  # it may have changed since it was read
                return data
    cells = [{"cell_type": "code", "source": cell.source, "metadata": {}, "outputs": []} for cell in submission.cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode() if cells else b""


# ---------------------------------------------------------------------------- process


def plans_of(told: Sequence[Told]) -> dict[str, Plan]:
    """Read the exercises and return their plans.

    Raises:
        CourseError: an exercise cannot be read, or is another than the one that is told of.
    """
    plans = {}
    for each in told:
        exercise = catalog.load(each.slug, each.root, parse_answers=False)
        if exercise.version != each.version:
            raise CourseError(
                f"{exercise.folder}: the exercise was changed while the class was graded (it was {each.version}, and "
                f"is {exercise.version}); run this again"
            )
        plans[each.slug] = Plan(replace(exercise, seconds=each.seconds), each.expectations, each.patterns)
    return plans


class Desk:
    """What the pool asks of this process, in that order, and the way back to it.

    A thread reads it, whatever is graded meanwhile: so a task is begun or given back, and never both, and the end of
    the pool is heard at once. Use as a context manager.
    """

    def __init__(self, connection: Connection, at_end: Callable[[], None]) -> None:
        """Read nothing yet.

        Args:
            connection: to the pool.
            at_end: called by the thread when the other end is closed.
        """
        self._connection, self._at_end = connection, at_end
        self._same = socket.socket(fileno=os.dup(connection.fileno()))
        self._asked: deque[Orders | Task | Layers] = deque()
        self._over = False
        self._change = threading.Condition()
        self._sending = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(self, *ending: object) -> None:
        with self._same, contextlib.suppress(OSError):
            self._same.shutdown(socket.SHUT_RDWR)  # else the thread goes on to read
        self._reader.join()

    def __iter__(self) -> Iterator[Orders | Task | Layers]:
        """Yield what is asked for, and take it for begun, until the other end is closed."""
        while True:
            with self._change:
                self._change.wait_for(lambda: self._asked or self._over)
                if self._over:
                    return
                asked = self._asked.popleft()
            yield asked

    def answer(self, answer: Answer) -> None:
        """Send an answer."""
        with self._sending, contextlib.suppress(BrokenPipeError, ConnectionResetError):  # that it is over is heard
            self._connection.send(answer)

    def _read(self) -> None:
        try:
            while True:
                message: Asked = self._connection.recv()
                if not isinstance(message, TakeBack):
                    with self._change:
                        self._asked.append(message)
                        self._change.notify()
                elif self._give_back(message.number):  # else it was begun, and its result says so
                    self.answer(TakenBack(message.number))
        except (EOFError, OSError):
            pass
        finally:
            with self._change:
                self._over = True
                self._change.notify()
            self._at_end()

    def _give_back(self, number: int) -> bool:
        with self._change:
            for asked in self._asked:
                if isinstance(asked, Task) and asked.number == number:
                    self._asked.remove(asked)
                    return True
        return False


def serve(
    connection: Connection, cage: Cage, stations: list[Station], at_end: Callable[[], None] = lambda: None
) -> None:
    """Answer what comes over a connection until its other end is closed.

    Args:
        connection: to the pool.
        cage: where submissions run.
        stations: gets the station that is at work.
        at_end: see ``Desk``.
    """
    trouble: Fault | None = None
    with Desk(connection, at_end) as desk:
        for asked in desk:
            if isinstance(asked, Task):
                desk.answer(trouble or _graded(stations[-1], asked))
                continue
            answer = _answer(asked, cage, stations)
            if isinstance(asked, Orders):  # nothing is graded by those of before
                trouble = answer if isinstance(answer, Fault) else None
            desk.answer(answer)


def _graded(station: Station, task: Task) -> Done | Fault:
    try:
        return station.grade(task)
    except OSError as error:
        return Fault(sentence(error))


def _answer(asked: Orders | Layers, cage: Cage, stations: list[Station]) -> Ready | Layers | Fault:
    try:
        if isinstance(asked, Layers):
            return Layers(_layers(cage))
        stations[:] = [Station(plans_of(asked.told), cage, asked.output, writes=asked.writes)]
    except SandboxError as error:
        return Fault(str(error), sandbox=True)
    except (CourseError, OSError) as error:
        return Fault(sentence(error))
    gc.collect()
    gc.freeze()  # what is expected stays for the whole run; the collector need not look at it again and again
    return Ready()


def _layers(cage: Cage) -> tuple[str, ...]:
    try:
        return cage.layers()
    except SandboxError:  # a process that is killed while it starts, for want of memory, costs no more than one later
        cage.drop()
        return cage.layers()


def main(descriptor: int, walled: bool) -> None:
    """Serve the pool at the other end of a socket; ends with it, and takes the confined process along."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process decides what an interruption ends
    cage = Cage(walled=walled, preload=PRELOAD, many=True)
    stations: list[Station] = []

    def end() -> None:
        with stations[-1].writing if stations else contextlib.nullcontext():  # no page is left half-written
            try:
                cage.close()
            finally:
                os._exit(0)  # whatever is under way

    with Connection(descriptor) as connection:
        serve(connection, cage, stations, end)
