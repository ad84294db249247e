"""What the pool and its workers say to each other: plain dataclasses, pickled between processes of the grader's own.

Of a student's there is nothing in them but bytes and texts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol, TypeAlias, TypeVar

from autograder.collect import Handed
from autograder.models import CheckResult, Score, Submission
from autograder.output import Output
from autograder.recognize import Pattern
from autograder.reference.expectations import Expectations
from autograder.report.rows import Row

_ENDED_TWICE: Final = (
    "the grading process ended twice while this was graded; if the machine was short of memory, grade it again"
)
_R = TypeVar("_R")


class Workers(Protocol):
    """What grades a class, see ``pool.Class``: processes of this machine, or those of a cluster."""

    walled: bool

    def start(self, at_least: int = 0) -> None:
        """Start workers that are not there yet: so many, where they are this machine's, or all where it is 0."""

    def layers(self) -> tuple[str, ...]:
        """Return the layers around each submission, once they stand."""

    def stream(
        self, jobs: Iterable[Task | _R], orders: Callable[[], Orders], arrived: Callable[[Task, Done], _R]
    ) -> Generator[_R, None, None]:
        """Yield the result of each job, in their order."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a worker is told of an exercise; the rest it reads itself, and it must be of the same version."""

    slug: str
    root: Path | None
    """The course's folder; None for the one that the worker finds."""
    version: str
    seconds: float
    expectations: Expectations
    patterns: Mapping[str, Pattern]


@dataclass(frozen=True, slots=True)
class Orders:
    """What all tasks that follow are graded by."""

    told: tuple[Told, ...]
    output: Output | None = None
    """Where pages belong; None to make none."""
    writes: bool = True
    """Whether workers write them there; else they come back with the results."""


@dataclass(frozen=True, slots=True)
class Task:
    """One submission to grade."""

    work: Handed | Submission
    """As it was handed in; a Submission where the caller has read it already."""
    record: bytes = b""
    """Its record, where it was graded before: then nothing is run, and its pages are made anew."""
    before: bytes = b""
    """The record of the run before over the same work, which crashed: to count how often it did so in the same way."""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a task."""

    number: int
    row: Row
    score: Score
    """Without the texts of its checks."""
    line: bytes
    """Its record; b"" where it is the one that the task had."""
    code: str
    """Hash of the student's own code: what a mark given by hand is for."""
    pages: tuple[str, str] | None = None
    """Feedback page and graded notebook, where the station did not write them itself."""


@dataclass(frozen=True, slots=True)
class TakeBack:
    """The task of this number is not to be begun: comes back as ``TakenBack``, or as ``Done`` where it was."""

    number: int


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The task of this number was not begun, and will not be."""

    number: int


@dataclass(frozen=True, slots=True)
class Ready:
    """The orders were read, and tasks may come."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Asks for the layers around a submission; the answer has them."""

    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """Why the worker cannot go on."""

    text: str
    sandbox: bool = False
    """Whether it is the confined process that does not stand."""


Asked: TypeAlias = Orders | Task | TakeBack | Layers
"""What a worker is told."""
Answer: TypeAlias = Ready | Done | TakenBack | Layers | Fault
"""What it says."""


def unread(task: Task, why: str = _ENDED_TWICE) -> Task:
    """Return a task as one of which nothing is read, and why; by default as one of which two processes died."""
    work = task.work
    digest = work.digest if isinstance(work, Handed) else work.content_hash
    nothing = Submission(work.student, work.exercise, work.path, content_hash=digest, unreadable=why)
    return replace(task, work=nothing, record=b"")


def without_texts(score: Score) -> Score:
    """Return what a gradebook takes of a score: marks and reasons, and none of the texts that only pages show."""
    checks = tuple(CheckResult(one.id, "", one.points, one.earned, one.status) for one in score.checks)
    return replace(score, checks=checks, output="")
