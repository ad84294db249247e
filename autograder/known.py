"""Run the known answers of an exercise: what ``prove`` judges and ``release`` records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from queue import SimpleQueue
from typing import Final, Self

from autograder import recorded
from autograder.attempt import Cage
from autograder.grading import judge
from autograder.models import Case, Cell, Check, CheckResult, Exercise, Observation
from autograder.plan import Plan
from autograder.recognize import Pattern
from autograder.reference.device import live_reference
from autograder.reference.expectations import PUBLIC, Expectations, Expected, Seed, expect
from autograder.sandbox import frames, walls
from autograder.sandbox.runner import Runner
from autograder.sandbox.zygote import Limits

_WORKERS: Final = 2
_TOGETHER: Final = 16
"""Random cases that are tried in one exchange; an exchange holds at most 64 calls."""
_PATIENCE: Final = 60.0
"""Seconds for the random cases of many seeds, which no student's submission runs together."""
_LATE: Final = ("timeout", "not_run")
"""Statuses that the machine may have caused. A student's work would be run again as well; see ``earlier``."""
_LIMITS: Final = Limits(frame=frames.LIMIT, elements=2_000_000)
"""An answer that keeps state from call to call may outgrow, in thousands of calls, what a student's may say."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a known answer fared."""

    name: str
    results: tuple[CheckResult, ...]
    """At the public seed."""
    pattern: Pattern
    unstable: tuple[str, ...] = ()
    """Checks whose verdict differs between seeds, each with the seed."""

    @property
    def score(self) -> float:
        """Points earned."""
        return sum(result.earned for result in self.results)


class Trials:
    """Confined processes for known answers. Use as a context manager.

    The answers are ours, so where there is no bubblewrap they run without walls.
    """

    def __init__(self) -> None:
        """Start the confined processes."""
        walled = walls.bubblewrap() is not None
        self._cages = [Cage(walled=walled, limits=_LIMITS, many=True) for _ in range(_WORKERS)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for cage in self._cages:
            cage.drop()

    def run(self, plan: Plan, sources: Mapping[str, str], seeds: Iterable[Seed] = ()) -> dict[str, Verdict]:
        """Judge each source at the public seed, and its passed checks at the other seeds too."""
        others = [(seed.id, expect(plan.exercise, seed, plan.expectations.reference)) for seed in seeds]
        free: SimpleQueue[Cage] = SimpleQueue()
        for cage in self._cages:
            free.put(cage)

        def tried(name: str) -> Verdict:
            cage = free.get()
            try:
                return _one(cage, plan, name, sources[name], others)
            finally:
                free.put(cage)

        with ThreadPoolExecutor(_WORKERS) as pool:
            try:
                return {verdict.name: verdict for verdict in pool.map(tried, sorted(sources))}
            except BaseException:  # Ctrl-C: an answer that loops is not waited for
                pool.shutdown(wait=False, cancel_futures=True)
                for cage in self._cages:
                    cage.close()
                raise


def _one(cage: Cage, plan: Plan, name: str, source: str, others: list[tuple[str, Expectations]]) -> Verdict:
    cells = (Cell(1, source),)
    results, pattern = _judged(cage, plan, cells)
    if any(result.status in _LATE for result in results):  # it loops, is too slow, or the machine stood still
        results, pattern = _judged(cage, plan, cells)
    # A check that fails on a fixed case fails whatever is drawn, so only the others can depend on luck.
    passed = [plan.exercise.check(check) for check, marks in pattern.items() if set(marks) == {"."}]
    patient = Runner(cage.take, cage.drop, cells, replace(plan.exercise, seconds=_PATIENCE))
    try:
        failures = [_lucky(patient, check, others) for check in passed]
    finally:
        patient.close()
    verdicts = {result.id: result.status for result in results}
    unstable = [text for text in failures if text] + [c.id for c in passed if verdicts[c.id] != "passed"]
    return Verdict(name, results, pattern, tuple(unstable))


def _judged(cage: Cage, plan: Plan, cells: tuple[Cell, ...]) -> tuple[tuple[CheckResult, ...], Pattern]:
    known = cage.known(plan)
    runner = Runner(cage.take, cage.drop, cells, plan.exercise, questions=known.questions)
    try:
        results, pattern, _ = judge(
            plan.exercise, plan.expectations, plan.patterns, runner.answers, memory=known.memory
        )
    finally:
        runner.close()
    return results, pattern


def _lucky(runner: Runner, check: Check, others: list[tuple[str, Expectations]]) -> str:
    """Return the check and the first seed at which it fails although all its fixed cases pass."""
    drawn = [
        (seed_id, case, want)
        for seed_id, expectations in others
        for case, want in _random(expectations.checks[check.id])
    ]
    for start in range(0, len(drawn), _TOGETHER):
        some = drawn[start : start + _TOGETHER]
        for (seed_id, case, want), got in zip(
            some, _observe_together(runner, check, [c for _, c, _ in some]), strict=True
        ):
            if (found := check.judge(case, got, want)) is not None:
                return f"{check.id} at {seed_id}, {case.name}: {found.difference}"
    return ""


def _random(expected: Expected) -> list[tuple[Case, Observation]]:
    return list(zip(expected.cases, expected.observations, strict=True))[expected.fixed :]


def _observe_together(runner: Runner, check: Check, cases: list[Case]) -> list[Observation]:
    """Observe several cases in one exchange; a hundred seeds are thousands of cases."""
    merged = runner.observe(check, Case("together", tuple(call for case in cases for call in case.calls)))
    if merged.ended:
        return [merged] * len(cases)
    outcomes = iter(merged.outcomes)
    return [Observation(tuple(islice(outcomes, len(case.calls)))) for case in cases]


def recorded_text(exercise: Exercise) -> str:
    """Return what ``recorded.json`` must hold: live expectations for the public seed, patterns of the wrong answers."""
    expectations = expect(exercise, Seed(PUBLIC), live_reference("cpu"))
    wrong = {answer.name: answer.source for answer in exercise.wrong if answer.caught_by != "forbids"}
    with Trials() as trials:
        verdicts = trials.run(Plan(exercise, expectations), wrong)
    return recorded.render(exercise, expectations, {name: verdict.pattern for name, verdict in verdicts.items()})
