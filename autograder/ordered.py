"""Results in the order of the jobs, whoever does them: what the pool and the cluster have in common.

Jobs are read one by one and stand in a line. Those that are done already are results; the others are tasks, which are
given out and come back in any order. What is yielded is always the head of the line.
"""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from autograder.errors import CourseError
from autograder.tasks import Done, Orders, Task, unread

WINDOW: Final = 1_000
"""Jobs between the oldest that is not done and the newest: what is held of one is its result, and that is small."""
_TRIES: Final = 2
_LAST_SECONDS: Final = 2.0
"""How long a pass that is stopped half-way waits for what is under way: those results count."""
_R = TypeVar("_R")


@dataclass(slots=True)
class _Job(Generic[_R]):
    task: Task | None
    """Until it is done."""
    result: _R | None = None
    """Once it is done."""
    lost: int = 0
    """How often whoever was at it died."""


@dataclass(eq=False)
class OrderedPass(ABC, Generic[_R]):
    """One pass over jobs. Who is given what, and when, is said by the methods that have no body here."""

    _jobs: Iterator[Task | _R]
    _ask: Callable[[], Orders]
    """Called once, by whoever gives out the first task; what it returns is kept in ``_orders``."""
    _arrived: Callable[[Task, Done], _R]
    """Called once for each task, as soon as it is done; returns what is yielded."""
    _numbers: Iterator[int]
    """Of the tasks; none comes twice."""
    _orders: Orders | None = field(default=None, init=False)
    _line: deque[_Job[_R]] = field(default_factory=deque, init=False)
    _open: dict[int, _Job[_R]] = field(default_factory=dict, init=False)
    """Of the line, the tasks that are not done, by their numbers."""
    _more: bool = field(default=True, init=False)
    """Whether there may be jobs that are not read."""

    def results(self, stop: Callable[[], None]) -> Generator[_R, None, None]:
        """Yield the result of each job, in their order.

        Args:
            stop: ends the workers. Called where the pass is stopped half-way: whoever does that closes what the workers
                write to, so none may be at it still. What they come to within a moment is taken before.
        """
        try:
            yield from self._in_order()
        except BaseException:
            until = time.monotonic() + _LAST_SECONDS
            try:
                with contextlib.suppress(CourseError, OSError):  # the first trouble is the one that is told
                    self._begin_no_more()
                    while self._is_under_way() and (left := until - time.monotonic()) > 0:
                        self._hear(left)
            finally:
                stop()
            raise

    @abstractmethod
    def _draw(self) -> None:
        """Read as many jobs as are wanted now, each with ``_read``."""

    @abstractmethod
    def _give_out(self) -> None:
        """Give tasks to whoever is free."""

    @abstractmethod
    def _wait(self) -> None:
        """Take what comes next."""

    @abstractmethod
    def _hear(self, seconds: float) -> None:
        """Take what comes, each result with ``_done``; wait for it so long."""

    @abstractmethod
    def _begin_no_more(self) -> None:
        """Let go of all that is not begun."""

    @abstractmethod
    def _is_under_way(self) -> bool:
        """Return whether a worker has not answered."""

    # --------------------------------------------------------------- the steps that are the same for all

    def _in_order(self) -> Iterator[_R]:
        while True:
            self._draw()
            self._give_out()
            while self._line and self._line[0].result is not None:
                yield self._line.popleft().result  # type: ignore[misc]
                if self._open:  # the caller may have taken his time
                    self._hear(0.0)
                    self._give_out()
            if self._open:
                self._wait()
            elif not self._more:
                return

    def _read(self) -> Task | None:
        """Read one job, and return it where it is a task; then it has its number."""
        job = next(self._jobs, None)
        if job is None:
            self._more = False
        elif isinstance(job, Task):
            task = replace(job, number=next(self._numbers))
            self._open[task.number] = _Job(task)
            self._line.append(self._open[task.number])
            return task
        else:
            self._line.append(_Job(None, job))
        return None

    def _done(self, done: Done) -> None:
        """Take what came of a task; nothing happens where that is known already."""
        job = self._open.pop(done.number, None)
        if job is not None:  # else two did it, on a cluster; or it is of an earlier pass that was given up
            assert job.task is not None
            job.result = self._result(job.task, done)
            job.task = None

    def _result(self, task: Task, done: Done) -> _R:
        return self._arrived(task, done)

    def _lost(self, number: int, ending: CourseError) -> Task:
        """Return an open task as it is given out once more after its worker died, though not for ever.

        Raises:
            CourseError: ``ending``, where workers die of it even when nothing of the submission is read.
        """
        job = self._open[number]
        assert job.task is not None
        job.lost += 1
        if job.lost > _TRIES:
            raise ending
        if job.lost == _TRIES:
            job.task = unread(job.task)
        return job.task
