"""The pool: grading processes, each with one task at a time and at most one more ahead.

There are no more of them than tasks: but where all are started at once, one is added each time a task waits while all
are busy. What waits behind a slow task is asked back for a worker that is free; no two are ever at the same. One that
dies is replaced, and its task is given out once more. Results come as soon as they are there, and are yielded in the
order of the jobs.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from autograder.collect import Handed
from autograder.errors import CourseError
from autograder.models import Score, Submission
from autograder.ordered import WINDOW, OrderedPass
from autograder.output import Output
from autograder.plan import Plan
from autograder.report.records import from_record
from autograder.sandbox.zygote import SandboxError
from autograder.tasks import Answer, Asked, Done, Fault, Layers, Orders, TakeBack, TakenBack, Task, Told

_AHEAD: Final = 64 * 2**10
"""Bytes of a submission that is given to a worker before it is free: as many as a socket takes while that starts."""
_A_CORE: Final = 4
_LEAST: Final = 8
"""How many workers a machine of few cores is let start: a few more than it has cores do no harm."""
_TRIES: Final = 2
_LINE_A_WORKER: Final = 256
"""Jobs between the oldest that is not done and the newest, where there are many workers."""
_END_SECONDS: Final = 15.0
"""A worker whose confined process is cold ends once that is warm."""
_PACKAGES: Final = str(Path(__file__).resolve().parent.parent)
START: Final = (
    f"import sys; sys.path.insert(0, {_PACKAGES!r}); from autograder.worker import main; "
    "main(int(sys.argv[1]), sys.argv[2] == '1')"
)
_ENDING: Final = "the grading processes end by themselves; if the machine is short of memory, use fewer (--workers)"
_R = TypeVar("_R")


class PoolError(CourseError):
    """The workers cannot go on; one sentence says why."""


class Worker:
    """The pool's end of one grading process: what it was given, and what it says."""

    def __init__(self, connection: Connection) -> None:
        """Nothing is given yet.

        Args:
            connection: to it.
        """
        self.connection = connection
        self.given: deque[Task] = deque()
        """Tasks that it has not answered, in the order in which they were given."""
        self.since = 0.0
        """When it began the first of them, of ``time.monotonic``."""
        self.is_torn = False
        """Whether an answer was read in part: what it says next is the rest of that."""
        self._asked_back: set[int] = set()

    @property
    def behind(self) -> list[Task]:
        """Tasks that wait behind its first, and that it was not asked for."""
        return [task for task in list(self.given)[1:] if task.number not in self._asked_back]

    @property
    def is_asked(self) -> bool:
        """Whether a task that it was asked for may come back: it has not answered, and was at another when it did."""
        return any(task.number in self._asked_back for task in list(self.given)[1:])

    def give(self, task: Task) -> None:
        """Give it a task."""
        if not self.given:
            self.since = time.monotonic()
        self.given.append(task)
        self.tell(task)

    def ask_back(self, task: Task) -> None:
        """Ask for a task: it comes as ``TakenBack``, or as ``Done`` where it was begun."""
        self._asked_back.add(task.number)
        self.tell(TakeBack(task.number))

    def tell(self, message: Asked) -> None:
        """Send a message; one that ended, or cannot be told for want of memory, says next that it ended."""
        try:
            self.connection.send(message)
        except OSError:
            self.hang_up()

    def hang_up(self) -> None:
        """Let it end, whatever is under way; whoever waits for its answer is told that it is gone."""
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self.connection.fileno())) as same:
            same.shutdown(socket.SHUT_RDWR)

    def answer(self) -> Answer:
        """Return what it says next; waits for it.

        Raises:
            EOFError, OSError: it ended.
        """
        self.is_torn = True
        answer: Answer = self.connection.recv()
        self.is_torn = False
        if isinstance(answer, Done | TakenBack):
            self._asked_back.discard(answer.number)
            self.given = deque(task for task in self.given if task.number != answer.number)
        if isinstance(answer, Done):
            self.since = time.monotonic()
        if isinstance(answer, Fault) and self.given:  # of the first, or of all: of its orders
            self.given.popleft()
        return answer

    def end(self) -> None:
        """End it and all that it started; what it was doing is lost, and no page is half-written."""
        self.connection.close()


class Process(Worker):
    """One that this process has started."""

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
        super().__init__(Connection(ours.detach()))

    def end(self) -> None:
        """End it and all that it started; what it was doing is lost, and no page is half-written."""
        super().end()
        try:
            self._process.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Class:
    """Workers that grade a class. Use as a context manager; the processes start when they are first needed."""

    slow_seconds = 0.1
    """What waits behind a task is asked back once a worker has been at that for so long."""

    def __init__(self, *, workers: int = 0, walled: bool = True) -> None:
        """Prepare for so many ``workers`` at most; one a core where it is 0. Nothing is started yet."""
        self.walled = walled
        self._count = workers or cores()
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

    def start(self, at_least: int = 0) -> None:
        """Start workers that are not there yet; their confined processes warm up while the caller goes on.

        Args:
            at_least: how many there are to be; all where it is 0. Others are started as they are needed.
        """
        while len(self._workers) < min(at_least or self._count, self._count):
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
        self.start(1)
        for _ in range(_TRIES + 1):
            worker = min(self._workers, key=lambda worker: len(worker.given))
            worker.tell(Layers())
            try:
                while not isinstance(answer := worker.answer(), Layers):  # there may be others that nobody waited for
                    _raise_fault(answer)
            except (EOFError, OSError):
                self._remove(worker)
                self.start(1)
                continue
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
            orders: called once, before the first task is given out; workers are started by then, or as tasks come.
            arrived: called for each result of a worker as soon as it comes, in whatever order; returns what is yielded.

        Raises:
            PoolError: the workers cannot go on.
        """
        return _Stream(iter(jobs), orders, arrived, self._numbers, self).results(self.stop)

    # ------------------------------------------------------------------------- steps

    def _add(self) -> Worker:
        worker = self._started()
        self._workers.append(worker)
        self._selector.register(worker.connection, selectors.EVENT_READ, worker)
        return worker

    def _started(self) -> Worker:
        return Process(walled=self.walled)

    def _remove(self, worker: Worker) -> None:
        self._selector.unregister(worker.connection)
        self._workers.remove(worker)
        worker.end()


@dataclass(eq=False)
class _Stream(OrderedPass[_R]):
    """One pass over jobs, whose tasks are given to workers one by one."""

    _pool: Class
    _next: deque[Task] = field(default_factory=deque, init=False)
    """Tasks that wait for a worker; those of one that died come first."""
    _ending: bool = field(default=False, init=False)
    _deaths: int = field(default=0, init=False)

    def _begin_no_more(self) -> None:
        self._ending = True
        self._next.clear()
        for worker in list(self._pool._workers):
            if worker.is_torn:  # what ends the pass came while it was heard
                self._pool._remove(worker)
                continue
            for task in worker.behind:
                worker.ask_back(task)

    def _is_under_way(self) -> bool:
        return any(worker.given for worker in self._pool._workers)

    def _draw(self) -> None:
        window = max(WINDOW, _LINE_A_WORKER * self._pool._count)
        while self._more and not self._next and len(self._line) < window:
            if (task := self._read()) is not None:
                self._next.append(task)

    def _give_out(self) -> None:
        self._draw()
        while self._next:
            if (worker := self._with_room(self._next[0])) is None:
                return
            worker.give(self._next.popleft())
            self._draw()
        self._ask_back()

    def _with_room(self, task: Task) -> Worker | None:
        """Return a worker that is free, else a new one, else one that may have a small task ahead."""
        if self._orders is None:
            self._orders = self._ask()
            self._pool.start(1)
            for worker in list(self._pool._workers):
                worker.tell(self._orders)
        least = min(self._pool._workers, key=lambda worker: len(worker.given))
        if least.given and len(self._pool._workers) < self._pool._count:
            least = self._pool._add()
            least.tell(self._orders)
        return least if len(least.given) <= _fits(task) else None

    def _ask_back(self) -> None:
        """Ask for what waits behind slow tasks, for workers that are free."""
        workers = self._pool._workers
        free = sum(not worker.given for worker in workers) - sum(worker.is_asked for worker in workers)
        if free <= 0:
            return
        slow = time.monotonic() - self._pool.slow_seconds
        busy = [worker for worker in workers if worker.behind and worker.since <= slow]
        for worker in sorted(busy, key=lambda worker: worker.since)[:free]:
            worker.ask_back(worker.behind[-1])

    def _wait(self) -> None:
        self._hear(self._pool.slow_seconds)

    def _hear(self, seconds: float) -> None:
        """Take all that the workers have to say; wait so long for the first of it."""
        for key, _ in self._pool._selector.select(seconds):
            worker: Worker = key.data
            while worker.connection.poll():
                given = {task.number: task for task in worker.given}
                try:
                    answer = worker.answer()
                except (EOFError, OSError):
                    self._bury(worker)
                    break
                if not self._ending:  # else there was trouble before, which is the one that is told
                    _raise_fault(answer)
                if isinstance(answer, TakenBack):
                    self._next.appendleft(given[answer.number])
                elif isinstance(answer, Done):
                    self._done(answer)

    def _bury(self, worker: Worker) -> None:
        """Replace a worker that died; what it had is given out again, but not for ever."""
        self._pool._remove(worker)
        if self._ending:
            return
        given = list(worker.given)
        if given:
            given[0] = self._lost(given[0].number, PoolError(_ENDING))
        else:
            self._deaths += 1
        if self._deaths > _TRIES:
            raise PoolError(_ENDING)
        self._next.extendleft(reversed(given))
        assert self._orders is not None
        self._pool._add().tell(self._orders)


def how_many(asked: int, tasks: int, cores: int) -> int:
    """Return how many workers to start.

    Args:
        asked: for so many; 0 for one a core.
        tasks: there are to do, at most.
        cores: of the machine.
    """
    return max(1, min(asked or cores, tasks, most(cores)))


def most(cores: int) -> int:
    """Return how many workers a machine of so many cores may have: more only take each other's time and memory."""
    return max(_LEAST, _A_CORE * cores)


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


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
