"""The pool: grading processes, each with one task at a time and at most one more ahead.

A worker that has nothing left to do takes over what waits behind another's slow task. One that dies is replaced, and
its task is given out once more. Results come as soon as they are there, and are yielded in the order of the jobs.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import selectors
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

from autograder.collect import Handed
from autograder.errors import CourseError
from autograder.models import Score, Submission
from autograder.output import Output
from autograder.plan import Plan
from autograder.report.records import from_record
from autograder.sandbox.zygote import SandboxError
from autograder.tasks import Done, Fault, Layers, Orders, TakeBack, Task, Told, unread

WINDOW: Final = 1_000
"""Jobs between the oldest that is not done and the newest: what is held of one is its result, and that is small."""
_AHEAD: Final = 64 * 2**10
"""Bytes of a submission that is given to a worker before it is free: as many as a socket takes without its reader."""
_TRIES: Final = 2
_SLOW_SECONDS: Final = 0.1
"""A worker that is at its task for so long does not begin the one behind it in the moment in which it is taken over."""
_LAST_SECONDS: Final = 2.0
"""How long a run that is stopped half-way waits for what is under way: those results count."""
_END_SECONDS: Final = 15.0
"""A worker whose confined process is cold ends once that is warm."""
_PACKAGES: Final = str(Path(__file__).resolve().parent.parent)
START: Final = (
    f"import sys; sys.path.insert(0, {_PACKAGES!r}); from autograder.worker import main; "
    "main(int(sys.argv[1]), sys.argv[2] == '1')"
)
ENDED_TWICE: Final = (
    "the grading process ended twice while this was graded; if the machine was short of memory, grade it again"
)
_ENDING: Final = "the grading processes end by themselves; if the machine is short of memory, use fewer (--workers)"
_R = TypeVar("_R")


class PoolError(CourseError):
    """The workers cannot go on; one sentence says why."""


class Worker:
    """The pool's end of one grading process."""

    def __init__(self, *, walled: bool, start: str = START) -> None:
        """Start it; its confined process warms up while the caller goes on.

        Args:
            walled: as for ``Class``.
            start: what its interpreter runs; only tests have another.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            # A new interpreter, and no fork of this one, which may hold torch, threads and an open gradebook.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-W", "ignore", "-c", start, str(theirs.fileno()), str(int(walled))],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,  # Ctrl-C is for the main process: it ends this one
            )
        self.connection = Connection(ours.detach())
        self.given: deque[Task] = deque()
        """Tasks that it has not answered, in the order in which they were given."""
        self.since = 0.0
        """When it began the first of them, of ``time.monotonic``."""

    def end(self) -> None:
        """End it and all that it started; what it was doing is lost, and no page is half-written."""
        self.connection.close()
        try:
            self._process.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Job(Generic[_R]):
    """A job in the order of results; ``result`` is there once it is done."""

    __slots__ = ("lost", "result", "task")

    def __init__(self, task: Task | None, result: _R | None = None) -> None:
        self.task, self.result, self.lost = task, result, 0


class Class:
    """Workers that grade a class. Use as a context manager; the processes start when they are first needed."""

    def __init__(self, *, workers: int = 0, walled: bool = True) -> None:
        """Prepare for so many ``workers``; one a core where it is 0. Nothing is started yet."""
        self.walled = walled
        self._count = workers or _cores()
        self._workers: list[Worker] = []
        self._selector = selectors.DefaultSelector()
        self._numbers = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._selector.close()

    def start(self) -> None:
        """Start the workers, if that was not done; their confined processes warm up while the caller goes on."""
        while len(self._workers) < self._count:
            self._add()

    def stop(self) -> None:
        """End the workers and all that they started; what is under way is lost."""
        workers, self._workers = self._workers, []
        for worker in workers:  # first all of them: each may have to wait for its confined process
            self._selector.unregister(worker.connection)
            worker.connection.close()
        for worker in workers:
            worker.end()

    def layers(self) -> tuple[str, ...]:
        """Return the layers around each submission; waits until a process is warm.

        Raises:
            SandboxError: they are not what they must be.
        """
        self.start()
        for _ in range(_TRIES + 1):
            worker = self._workers[0]
            try:
                worker.connection.send(Layers())
                answer = worker.connection.recv()
            except (EOFError, OSError):
                self._replace(worker)
                continue
            _raise_fault(answer)
            return tuple(answer.names)
        raise PoolError(_ENDING)

    def grade(
        self, submissions: Iterable[Handed | Submission], plans: Mapping[str, Plan]
    ) -> Generator[Score, None, None]:
        """Yield the score of each submission, in the order in which they come; no page is written.

        Args:
            submissions: may be endless.
            plans: by exercise.
        """
        orders = orders_of(plans)
        for done in self.stream(map(Task, submissions), lambda: orders, lambda task, done: done):
            yield from_record(json.loads(done.line))

    def stream(
        self, jobs: Iterable[Task | _R], orders: Callable[[], Orders], arrived: Callable[[Task, Done], _R]
    ) -> Generator[_R, None, None]:
        """Yield the result of each job, in their order.

        Args:
            jobs: tasks for the workers, and results that are there already; may be endless.
            orders: called once, before the first task is given out; the workers are started by then or after it.
            arrived: called for each result of a worker as soon as it comes, in whatever order; returns what is yielded.

        Raises:
            PoolError: the workers cannot go on.
        """
        run = _Stream(self, iter(jobs), orders, arrived)
        try:
            yield from run.results()
        except BaseException:
            run.wind_up()
            self.stop()  # whoever stops half-way closes what the workers write to: none may be at it still
            raise

    # ------------------------------------------------------------------------- steps

    def _add(self) -> Worker:
        worker = self._started()
        self._workers.append(worker)
        self._selector.register(worker.connection, selectors.EVENT_READ, worker)
        return worker

    def _started(self) -> Worker:
        return Worker(walled=self.walled)

    def _replace(self, worker: Worker) -> Worker:
        self._selector.unregister(worker.connection)
        self._workers.remove(worker)
        worker.end()
        return self._add()


class _Stream(Generic[_R]):
    """One pass over jobs."""

    def __init__(
        self,
        pool: Class,
        jobs: Iterator[Task | _R],
        orders: Callable[[], Orders],
        arrived: Callable[[Task, Done], _R],
    ) -> None:
        self._pool, self._jobs, self._ask, self._arrived = pool, jobs, orders, arrived
        self._orders: Orders | None = None
        self._line: deque[Job[_R]] = deque()
        self._open: dict[int, Job[_R]] = {}
        self._next: deque[Task] = deque()
        """Tasks that wait for a worker; those of one that died come first."""
        self._more, self._ending = True, False
        self._deaths = 0

    def results(self) -> Iterator[_R]:
        while True:
            self._give_out()
            while self._line and self._line[0].result is not None:
                yield self._line.popleft().result  # type: ignore[misc]
                if self._open:  # the caller may have taken his time
                    self._hear(0.0)
                    self._give_out()
            if self._line:
                self._hear(None if self._more else _SLOW_SECONDS)
            elif not self._more:
                return

    def wind_up(self) -> None:
        """Take what the workers come to within a moment; what is not begun is not begun any more."""
        self._more, self._ending = False, True
        self._next.clear()
        workers = self._pool._workers
        for worker in workers:
            while len(worker.given) > 1:
                self._send(worker, TakeBack(worker.given.pop().number))
        until = time.monotonic() + _LAST_SECONDS
        with contextlib.suppress(CourseError, OSError):  # the first trouble is the one that is told
            while any(worker.given for worker in workers) and (left := until - time.monotonic()) > 0:
                self._hear(left)

    def _give_out(self) -> None:
        while self._next or (self._more and len(self._line) < WINDOW):
            if not self._next:
                self._draw()
            elif (worker := self._with_room(self._next[0])) is not None:
                self._give(worker, self._next.popleft())
            else:
                return
        if not self._more:
            self._take_over()

    def _draw(self) -> None:
        job = next(self._jobs, None)
        if job is None:
            self._more = False
        elif isinstance(job, Task):
            task = replace(job, number=next(self._pool._numbers))
            self._open[task.number] = Job(task)
            self._line.append(self._open[task.number])
            self._next.append(task)
        else:
            self._line.append(Job(None, job))

    def _with_room(self, task: Task) -> Worker | None:
        """Return a worker that is free, else one that may have a small task ahead."""
        if self._orders is None:
            self._orders = self._ask()
            self._pool.start()
            for worker in list(self._pool._workers):
                self._send(worker, self._orders)
        least = min(self._pool._workers, key=lambda worker: len(worker.given))
        return least if len(least.given) <= _fits(task) else None

    def _take_over(self) -> None:
        """Let workers that are free do what waits behind another's slow task; that one is told not to begin it."""
        workers = list(self._pool._workers)
        for worker in workers:
            if not worker.given:
                busy = min(workers, key=lambda other: other.since if len(other.given) > 1 else math.inf)
                if len(busy.given) < 2 or time.monotonic() - busy.since < _SLOW_SECONDS:
                    return
                task = busy.given.pop()
                self._send(busy, TakeBack(task.number))
                self._give(worker, task)

    def _give(self, worker: Worker, task: Task) -> None:
        if not worker.given:
            worker.since = time.monotonic()
        worker.given.append(task)
        self._send(worker, task)

    def _send(self, worker: Worker, message: Orders | Task | TakeBack) -> None:
        with contextlib.suppress(OSError):  # it ended: that is heard, and what it was given is given to another
            worker.connection.send(message)

    def _hear(self, seconds: float | None) -> None:
        """Take what the workers have to say; wait for it so long, or until there is something."""
        for key, _ in self._pool._selector.select(seconds):
            worker: Worker = key.data
            try:
                message = worker.connection.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            _raise_fault(message)
            if isinstance(message, Done):
                self._done(worker, message)

    def _done(self, worker: Worker, done: Done) -> None:
        worker.given = deque(task for task in worker.given if task.number != done.number)
        worker.since = time.monotonic()
        job = self._open.pop(done.number, None)
        if job is not None:  # else it is of an earlier run that was given up, or was begun in that very moment
            assert job.task is not None
            job.result = self._arrived(job.task, done)
            job.task = None

    def _bury(self, worker: Worker) -> None:
        """Replace a worker that died; what it had is given out again, but not for ever."""
        given = [task for task in worker.given if task.number in self._open]
        self._deaths = self._deaths + 1 if not given else self._deaths
        if given:
            job = self._open[given[0].number]
            job.lost += 1
            if job.lost == _TRIES:
                given[0] = job.task = replace(given[0], work=unread(given[0].work, ENDED_TWICE), record=b"")
        if self._ending:
            raise PoolError("a grading process ended")
        if self._deaths > _TRIES or (given and job.lost > _TRIES):
            raise PoolError(_ENDING)
        self._next.extendleft(reversed(given))
        assert self._orders is not None
        self._send(self._pool._replace(worker), self._orders)


def orders_of(plans: Mapping[str, Plan], output: Output | None = None) -> Orders:
    """Return what workers are told for these plans."""
    told = []
    for slug, plan in plans.items():
        exercise, root = plan.exercise, plan.exercise.folder.parent.parent
        told.append(Told(slug, root, exercise.version, exercise.seconds, plan.expectations, plan.patterns))
    return Orders(tuple(told), None if output is None else replace(output, gradebook=""))


def _fits(task: Task) -> int:
    """Return how many unanswered tasks a worker may have that is given this one."""
    size = len(task.record) + len(task.before)
    size += len(task.work.data) if isinstance(task.work, Handed) else sum(len(c.source) for c in task.work.cells) * 4
    return int(size <= _AHEAD)


def _raise_fault(message: object) -> None:
    if isinstance(message, Fault):
        raise SandboxError(message.text) if message.sandbox else PoolError(message.text)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
