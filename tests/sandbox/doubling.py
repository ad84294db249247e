"""An exercise that asks for the double of a tensor, and a confined process in which answers to it are tried."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import dedent

from autograder.attempt import Cage
from autograder.checks import Check, case, differ, each_call, f32
from autograder.grading import judge
from autograder.limits import STUDENT
from autograder.models import Case, Cell, CheckResult, Exercise, Outcome, Reference
from autograder.reference.expectations import PUBLIC, Expectations, Seed, expect
from autograder.sandbox.layers import ALL, Layers
from autograder.sandbox.questions import questions
from autograder.sandbox.runner import Runner
from autograder.sandbox.zygote import Loaded, SandboxError, Zygote

RIGHT = "def f(x):\n    return x * 2\n"
FORBIDS = ("torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch._amp_update_scale_")

_doubled = each_call(lambda arguments, got, want: differ(got.returned, want.returned) or differ(got.after, arguments))


PATIENT = 60.0
"""Seconds for a submission where no test waits for their end: of a machine that stands still they outlast it."""


def exercise(*, seconds: float = PATIENT, checks: int = 3) -> Exercise:
    """Return the exercise: check number n calls f with the one element n, and then with two."""
    return Exercise(
        slug="f", folder=Path("."), title="Double", teaches=(), practises=(), needs=(), runs_on=("torch",),
        forbids=FORBIDS, seconds=seconds, entry="f", statement="", hints=(), starter="", solution=RIGHT,
        checks=tuple(
            Check(str(n), "Doubles", 1.0, (case("one", x=f32(n)), case("two", x=f32(n, -n))), _doubled, "Rule.", "")
            for n in range(checks)
        ),
        misconceptions={}, wrong=(), right=(), version="v",
    )  # fmt: skip


def expected(chosen: Exercise) -> Expectations:
    """Return what the solution does on every case."""
    return expect(chosen, Seed(PUBLIC), Reference("solution", "cpu", ""))


@dataclass(frozen=True, slots=True)
class Graded:
    """How an answer fared."""

    results: tuple[CheckResult, ...]
    loaded: Loaded

    @property
    def statuses(self) -> list[str]:
        return [result.status for result in self.results]

    @property
    def points(self) -> float:
        return sum(result.earned for result in self.results)

    @property
    def message(self) -> str:
        return self.results[0].message


def cells(sources: Sequence[str]) -> list[Cell]:
    return [Cell(number, dedent(source)) for number, source in enumerate(sources, 1)]


class _Weaker(Cage):
    """A cage that lacks a layer."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        super().__init__(walled=True)

    def _start(self) -> Zygote:
        return Zygote(walled=True, layers=self._layers)


class Room:
    """A confined process, replaced when it is of no more use."""

    def __init__(self, *, walled: bool, layers: Layers = ALL) -> None:
        self.cage = Cage(walled=walled) if layers == ALL else _Weaker(layers)

    def grade(self, *sources: str, seconds: float = PATIENT, checks: int = 3) -> Graded:
        """Grade the cells of an answer as the pipeline does."""
        chosen = exercise(seconds=seconds, checks=checks)
        asked = questions(chosen.checks, expected(chosen).checks, STUDENT)
        runner = Runner(self.cage.take, self.cage.drop, cells(sources), chosen, 0, asked)
        try:
            results, _, _ = judge(chosen, expected(chosen), {}, runner.answers)
        finally:
            runner.close()
        return Graded(results, runner.loaded)

    def outcome(self, *sources: str, forbids: Sequence[str] = (), **arguments: object) -> Outcome:
        """Call f, as the cells define it, once, and return what is said to have happened."""
        session = self.cage.take().session()
        deadline = time.monotonic() + 30
        try:
            loaded = session.load(cells(sources), "f", forbids, deadline)
            assert loaded.callable, loaded
            seen, hit = session.observe(Case("", (arguments,)), "call", deadline)
        finally:
            try:
                session.end()
            except SandboxError:
                self.cage.drop()
        return replace(seen.outcomes[0], later=hit)

    def look(self, *sources: str, **arguments: object) -> object:
        """Return what f returns: what a look around from inside finds."""
        outcome = self.outcome(*sources, **arguments)
        assert outcome.raised is None, outcome.raised
        return outcome.returned
