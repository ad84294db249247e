"""Which workers of a cluster grade: those on which a mark comes about as it does here."""

from __future__ import annotations

import pickle
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Literal, TypeAlias

from autograder.cluster import crew
from autograder.cluster.address import is_open
from autograder.cluster.alike import standing
from autograder.cluster.link import Link, Lost, Present
from autograder.errors import CourseError
from autograder.tasks import Done, Fault, Orders

WARM_SECONDS: Final = 75.0
"""How long a worker that is there may take until its confined processes are warm."""
_FAILURES: Final = 2
"""Chunks that a worker may fail at in a way that is none of a submission's."""
_UNREAD: Final = "deserialization of the task graph"
"""What Dask says where the scheduler lacks our code."""
_END_SECONDS: Final = 20.0


class ClusterError(CourseError):
    """The cluster cannot go on; one sentence says why."""


class Chunk:
    """Tasks that a worker is given in one go."""

    __slots__ = ("asked_back", "name", "numbers", "since", "suspect", "tasks")

    def __init__(self, numbers: Sequence[int], tasks: Sequence[bytes], *, suspect: bool = False) -> None:
        """Keep the tasks, packed, and their numbers.

        Args:
            numbers: of the tasks.
            tasks: packed.
            suspect: whether a worker that had it died; then it is the only thing that a worker has.
        """
        self.numbers, self.tasks, self.suspect = numbers, tasks, suspect
        self.name, self.asked_back, self.since = 0, len(tasks) < 2, 0.0


@dataclass(eq=False, slots=True)
class Member:
    """A worker of the cluster."""

    address: str
    stage: Literal["asked", "fit", "ready", "out"] = "asked"
    hands: int = 0
    """How many submissions it grades at a time."""
    layers: tuple[str, ...] = ()
    given: list[Chunk] = field(default_factory=list)
    """What it has not answered, in the order in which it was given."""

    @property
    def has_room(self) -> bool:
        """Whether it can be given more: one thing lies ready while it is at as many as it has hands."""
        return len(self.given) <= self.hands and not any(chunk.suspect for chunk in self.given)

    def mark(self) -> None:
        """Note when it begins what it begins now."""
        for chunk in self.given[: self.hands]:
            chunk.since = chunk.since or time.monotonic()


@dataclass(frozen=True, slots=True)
class Graded:
    """What came of a chunk."""

    member: Member
    chunk: Chunk
    answers: Sequence[Done | Fault]
    """Of its first tasks."""


@dataclass(frozen=True, slots=True)
class Left:
    """A worker is gone, or has forgotten us; it is given nothing any more."""

    member: Member
    given: Sequence[Chunk]
    """What it had."""
    died: bool = True
    """Whether it may have died of what it had."""


@dataclass(frozen=True, slots=True)
class Back:
    """What came of a chunk so far, and what its worker had not begun, and does not begin any more."""

    chunk: Chunk
    answers: Sequence[Done | Fault]


News: TypeAlias = Graded | Left | Back


class Members:
    """The workers of a cluster, asked one by one whether they are fit."""

    def __init__(
        self,
        address: str,
        security: Any,
        slugs: Sequence[str],
        *,
        walled: bool,
        wait: float,
        say: Callable[[str], None],
    ) -> None:
        """Connect, and ask all that are there.

        Args:
            address: of the scheduler.
            security: Dask's, for tls; else None.
            slugs: the exercises.
            walled: whether walls must stand.
            wait: seconds for which there may be no worker at all.
            say: told one sentence on each worker that is left out.

        Raises:
            CourseError: nobody answers there, or an exercise cannot be read.
        """
        self._address, self._slugs, self._walled, self._wait, self._say = address, slugs, walled, wait, say
        self._run, self._here = uuid.uuid4().hex, standing(slugs)
        self._orders, self._names = b"", count(1)
        self._known: dict[str, Member] = {}
        self._failed: Counter[str] = Counter()
        self._why = ""
        """Why the last one was left out."""
        self._idle_since = time.monotonic()
        self._link = Link(address, security, wait)

    @property
    def ready(self) -> list[Member]:
        """Those that can be given something."""
        return [member for member in self._known.values() if member.stage == "ready"]

    @property
    def hands(self) -> int:
        """How many submissions can be graded at a time, now or in a moment."""
        return sum(member.hands for member in self._known.values())

    def layers(self) -> tuple[str, ...]:
        """Wait for a worker that is fit, and return the layers around a submission there.

        Raises:
            ClusterError: there is none.
        """
        while not (fit := [member for member in self._known.values() if member.stage in ("fit", "ready")]):
            self.hear(0.5)
        return fit[0].layers

    def order(self, orders: Orders) -> None:
        """Tell all of them, now and later, what tasks are graded by."""
        self._orders = pickle.dumps(orders)
        for member in self._known.values():
            if member.stage in ("fit", "ready"):  # ready for those of an earlier pass
                member.stage = "fit"
                self._brief(member)

    def give(self, member: Member, chunk: Chunk, seconds: float) -> None:
        """Have a worker grade a chunk, or as much of it as it can in that time."""
        member.given.append(chunk)
        member.mark()
        chunk.name = next(self._names)
        tasks = pickle.dumps(list(chunk.tasks))
        self._link.ask(chunk, member.address, crew.grade, self._run, chunk.name, tasks, seconds)

    def take_back(self, member: Member) -> Chunk:
        """Take the newest chunk back from a worker."""
        chunk = member.given.pop()
        self._link.drop(chunk)
        return chunk

    def ask_back(self, member: Member, chunk: Chunk) -> None:
        """Ask a worker for what it has done of a chunk, and what it has not begun; comes as ``Back``."""
        if not chunk.asked_back:
            chunk.asked_back = True
            self._link.call(("back", member, chunk), member.address, crew.give_back, self._run, chunk.name)

    def halt(self) -> None:
        """Let no worker begin anything more."""
        self._link.tell([member.address for member in self.ready], crew.halt, self._run, 1.0)

    def close(self) -> None:
        """End what was started on the workers."""
        there = [member.address for member in self._known.values() if member.stage != "out"]
        self._link.tell(there, crew.dismiss, self._run, _END_SECONDS)
        self._link.close()

    def hear(self, seconds: float) -> list[News]:
        """Return what came from the workers; wait for it so long.

        Raises:
            ClusterError: the scheduler is lost, or no worker is there that is fit, and none has come for long.
        """
        came: list[News] = []
        for news in self._link.news(seconds):
            if isinstance(news, Lost):
                raise ClusterError(f"the scheduler at {self._address} is gone; start it and its workers again")
            if isinstance(news, Present):
                came += self._present(news.threads)
            elif isinstance(news.tag, Chunk):
                came += self._graded(news.tag, news.value, news.trouble)
            else:
                came += self._answered(news.tag, news.value, news.trouble)
        self._be_patient()
        return came

    # ------------------------------------------------------------------------- steps

    def _present(self, threads: Mapping[str, int]) -> list[News]:
        left: list[News] = [
            self._forget(member) for address, member in list(self._known.items()) if address not in threads
        ]
        for address, hands in threads.items():
            if address not in self._known:
                self._enlist(address, hands)
        return left

    def _enlist(self, address: str, threads: int) -> None:
        member = self._known[address] = Member(address, hands=threads)
        self._link.ask(("enlist", member), address, crew.enlist, self._run, self._here, self._slugs, self._walled)

    def _forget(self, member: Member) -> Left:
        self._known.pop(member.address, None)
        given, member.given = member.given, []
        for chunk in given:
            self._link.drop(chunk)
        return Left(member, given)

    def _answered(self, tag: Any, value: Any, trouble: str) -> list[News]:
        step: str = tag[0]
        member: Member = tag[1]
        if step == "back":
            return [] if trouble else self._given_back(member, tag[2], *value)
        if self._known.get(member.address) is not member:
            return []
        if _UNREAD in trouble:
            raise ClusterError(
                f"the scheduler at {self._address} cannot read what the grader sends; start it in the same environment"
            )
        if trouble:
            return self._leave_out(member, f"cannot run this grader ({trouble}); install the same packages there")
        if step == "enlist" and value["trouble"]:
            return self._leave_out(member, value["trouble"])
        if step == "enlist":
            member.layers, member.hands, member.stage = tuple(value["layers"]), value["count"], "fit"
            if self._orders:
                self._brief(member)
        elif tag[2] is not self._orders:
            pass  # there are others by now, and an answer to them comes
        elif value is None:
            self._again(member)
        elif value:
            return self._leave_out(member, f"cannot grade: {value}")
        else:
            member.stage = "ready"
        return []

    def _brief(self, member: Member) -> None:
        self._link.ask(("brief", member, self._orders), member.address, crew.brief, self._run, self._orders)

    def _graded(self, chunk: Chunk, value: bytes | None, trouble: str) -> list[News]:
        member = next((one for one in self._known.values() if chunk in one.given), None)
        if member is None:
            return []
        if trouble:
            self._failed[member.address] += 1
            if self._failed[member.address] > _FAILURES:
                return self._leave_out(member, f"fails again and again ({trouble})")
            left = self._forget(member)
            self._enlist(member.address, member.hands)  # where it died, that is heard of a moment later
            return [left]
        if value is None:
            left = self._forget(member)
            self._enlist(member.address, member.hands)
            return [Left(member, left.given, died=False)]
        member.given.remove(chunk)
        member.mark()
        return [Graded(member, chunk, crew.unpacked(value))]

    def _given_back(self, member: Member, chunk: Chunk, answers: bytes, many: int) -> list[News]:
        if chunk not in member.given:
            return []  # what came of it says the same
        kept = len(chunk.tasks) - many
        back = Chunk(chunk.numbers[kept:], chunk.tasks[kept:])
        chunk.numbers, chunk.tasks = chunk.numbers[:kept], chunk.tasks[:kept]
        return [Back(back, crew.unpacked(answers))]

    def _again(self, member: Member) -> None:
        self._forget(member)
        self._enlist(member.address, member.hands)

    def _leave_out(self, member: Member, why: str) -> list[News]:
        self._why = f"the worker {member.address} {why}"
        self._say(f"{self._why}; it is left out")
        left = self._forget(member)
        member.stage, member.hands = "out", 0
        self._known[member.address] = member
        return [left]

    def _be_patient(self) -> None:
        stages = {member.stage for member in self._known.values()}
        now = time.monotonic()
        if "ready" in stages or (not self._orders and "fit" in stages):
            self._idle_since = now
        elif stages == {"out"} and now - self._idle_since > min(self._wait, 2.0):
            raise ClusterError(f"no worker at {self._address} is fit to grade: {self._why}")
        elif now - self._idle_since > self._wait + (WARM_SECONDS if stages - {"out"} else 0.0):
            if stages:
                raise ClusterError(
                    f"the workers at {self._address} do not answer; if they are at other work, wait, or start more"
                )
            # Without it Dask's worker listens on every network, to whoever comes.
            here = "" if is_open(self._address) or self._address.startswith("tls") else " --host 127.0.0.1"
            raise ClusterError(
                f"no worker has come to the scheduler at {self._address} within {self._wait:.0f} s; start some with "
                f"`dask worker {self._address}{here}` (--wait waits longer)"
            )
