"""A class graded by a cluster, with the face of the pool of this machine's own processes.

Submissions go out in chunks, so that what it costs to send one does not count; the less is left, the smaller they are.
A worker stops at a chunk after a moment and gives back what it did not begin: nothing waits behind a slow submission.
Results are yielded in the order of the jobs, and pages are written here.
"""

from __future__ import annotations

import math
import pickle
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from types import TracebackType
from typing import Final, Self, TypeVar

from autograder.cluster.address import Certificates, checked, security
from autograder.cluster.members import Back, Chunk, ClusterError, Graded, Left, Members
from autograder.ordered import WINDOW, OrderedPass
from autograder.tasks import Done, Fault, Orders, Task

CHUNK: Final = 32
"""Submissions that a worker is given in one go, at most."""
_CHUNK_BYTES: Final = 2**20
_CHUNK_SECONDS: Final = 2.0
"""After which a worker begins nothing more of a chunk."""
_AHEAD: Final = 2_000
"""Submissions that are read and wait for a worker, at most."""
_AHEAD_BYTES: Final = 32 * 2**20
_SLOW_SECONDS: Final = 0.5
_ENDING: Final = "the workers end by themselves; if their machines are short of memory, use fewer on each"
_R = TypeVar("_R")


class Cluster:
    """Workers of a Dask cluster that grade a class. Use as a context manager; connects when it is first needed."""

    def __init__(
        self,
        address: str,
        slugs: Sequence[str],
        *,
        walled: bool = True,
        certificates: Certificates = Certificates(),  # noqa: B008  frozen
        wait: float = 30.0,
        say: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        """Prepare; nothing is asked of the cluster yet.

        Args:
            address: of the scheduler, tcp://HOST:PORT or tls://HOST:PORT.
            slugs: the exercises.
            walled: as for ``pool.Class``.
            certificates: for tls.
            wait: seconds for which there may be no worker at all.
            say: told one sentence on each worker that is left out.

        Raises:
            CourseError: the address is none, or a certificate is missing.
        """
        self.walled = walled
        self._address = checked(address)
        self._security = security(self._address, certificates)
        self._slugs, self._wait, self._say = tuple(slugs), wait, say
        self._members: Members | None = None
        self._numbers = count(1)
        """Of the tasks of all passes: an answer to one of before, which another gave as well, is of no other task."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, at_least: int = 0) -> None:
        """Connect, if that was not done; the workers' confined processes warm up while the caller goes on.

        Args:
            at_least: of no meaning here: all workers take part.

        Raises:
            CourseError: nobody answers there.
        """
        self.members()

    def members(self) -> Members:
        """Return the workers, connected."""
        if self._members is None:
            self._members = Members(
                self._address, self._security, self._slugs, walled=self.walled, wait=self._wait, say=self._say
            )
        return self._members

    def stop(self) -> None:
        """End all that was started on the workers; what is under way is lost."""
        members, self._members = self._members, None
        if members is not None:
            members.close()

    def layers(self) -> tuple[str, ...]:
        """Return the layers around each submission; waits until a worker is warm.

        Raises:
            CourseError: there is none that is fit.
        """
        return self.members().layers()

    def stream(
        self, jobs: Iterable[Task | _R], orders: Callable[[], Orders], arrived: Callable[[Task, Done], _R]
    ) -> Generator[_R, None, None]:
        """Yield the result of each job, in their order; as ``pool.Class.stream``, but that pages are written here.

        Raises:
            CourseError: the cluster cannot go on.
            OSError: a page cannot be written.
        """
        return _Stream(iter(jobs), orders, arrived, self._numbers, self).results(self.stop)


@dataclass(eq=False)
class _Stream(OrderedPass[_R]):
    """One pass over jobs, whose tasks are given to workers in chunks."""

    _cluster: Cluster
    _next: deque[tuple[int, bytes]] = field(default_factory=deque, init=False)
    """Tasks that wait for a worker, packed; those that one gave back come first."""
    _size: int = field(default=0, init=False)
    _alone: deque[Chunk] = field(default_factory=deque, init=False)
    """What was with a worker that died, one by one, so that what it died of is told from the rest."""

    def _begin_no_more(self) -> None:
        self._next.clear()
        self._alone.clear()
        members = self._cluster._members
        if members is not None and self._orders is not None:
            for member in members.ready:
                while len(member.given) > member.hands:
                    members.take_back(member)
            members.halt()

    def _is_under_way(self) -> bool:
        return self._cluster._members is not None and any(member.given for member in self._cluster._members.ready)

    def _draw(self) -> None:
        """Read jobs until there is enough for a while."""
        hands = max(1, self._cluster._members.hands if self._cluster._members is not None else 1)
        window, ahead = max(WINDOW, 8 * CHUNK * hands), min(_AHEAD, 2 * CHUNK * hands)
        while self._more and len(self._line) < window and len(self._next) < ahead and self._size < _AHEAD_BYTES:
            if (task := self._read()) is not None:
                packed = pickle.dumps(task)
                self._size += len(packed)
                self._next.append((task.number, packed))

    def _give_out(self) -> None:
        if self._orders is not None:
            self._share()
        if not self._next and not self._alone:
            return
        if self._orders is None:
            self._orders = self._ask()
            told = tuple(replace(one, root=None) for one in self._orders.told)
            output = self._orders.output
            if output is not None:  # links on pages are made there, where the working folder is another
                output = replace(output, folder=output.folder.absolute())
            self._cluster.members().order(Orders(told, output, writes=False))
        members = self._cluster.members()
        while self._next or self._alone:
            # A suspect has a worker for itself, and until all suspects have one nothing else is given out.
            ready = [one for one in members.ready if not (self._alone and one.given) and one.has_room]
            if not ready:
                return
            member = min(ready, key=lambda one: len(one.given) / one.hands)
            members.give(member, self._alone.popleft() if self._alone else self._chunk(members.hands), _CHUNK_SECONDS)
            if not self._next:
                self._draw()

    def _chunk(self, hands: int) -> Chunk:
        """Return what one worker does next: the less is left, the less, so that all end at about the same time."""
        wanted, size = min(CHUNK, math.ceil(len(self._next) / (2 * hands))), 0
        numbers: list[int] = []
        tasks: list[bytes] = []
        while self._next and len(tasks) < wanted and (not tasks or size + len(self._next[0][1]) <= _CHUNK_BYTES):
            number, task = self._next.popleft()
            size += len(task)
            numbers.append(number)
            tasks.append(task)
        self._size -= size
        return Chunk(numbers, tasks)

    def _share(self) -> None:
        """Take from workers what waits behind a slow submission: soon where another is free, else after a while."""
        members, now = self._cluster.members(), time.monotonic()
        free = not self._next and not self._alone and not self._more
        free = free and any(len(member.given) < member.hands and member.has_room for member in members.ready)
        patience = _SLOW_SECONDS if free else _CHUNK_SECONDS + _SLOW_SECONDS
        for member in members.ready:
            slow = [chunk for chunk in member.given if chunk.since and now - chunk.since > patience]
            for chunk in slow:
                members.ask_back(member, chunk)
            if free and slow and len(member.given) > member.hands:
                self._back(members.take_back(member))
                free = False

    def _wait(self) -> None:
        self._hear(_SLOW_SECONDS)

    def _hear(self, seconds: float) -> None:
        for came in self._cluster.members().hear(seconds):
            if isinstance(came, Graded | Back):
                self._take(came.answers)
                self._back(came.chunk)
            else:
                self._left(came)

    def _take(self, answers: Iterable[Done | Fault]) -> None:
        for answer in answers:
            if isinstance(answer, Fault):
                raise ClusterError(answer.text)
            self._done(answer)

    def _result(self, task: Task, done: Done) -> _R:
        output = self._orders.output if self._orders is not None else None
        if output is not None and done.pages is not None:
            output.write(done.row, done.pages)
        return self._arrived(task, replace(done, pages=None))

    def _back(self, chunk: Chunk) -> None:
        """Take what was not done of a chunk; it comes first."""
        for number, task in reversed(list(zip(chunk.numbers, chunk.tasks, strict=True))):
            if number in self._open:
                self._size += len(task)
                self._next.appendleft((number, task))

    def _left(self, left: Left) -> None:
        """Give out again what a worker had that is gone, but not for ever."""
        for chunk in left.given:
            if not left.died:
                self._back(chunk)
            elif chunk.suspect:
                (number,) = chunk.numbers
                if number in self._open:
                    task = pickle.dumps(self._lost(number, ClusterError(_ENDING)))
                    self._alone.append(Chunk((number,), (task,), suspect=True))
            else:  # which of it was under way is not known: results may have died with the worker
                tasks = zip(chunk.numbers, chunk.tasks, strict=True)
                self._alone.extend(Chunk((one,), (task,), suspect=True) for one, task in tasks if one in self._open)
