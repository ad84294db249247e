"""Expected observations: the reference solution, run on the same cases as the student's code."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from autograder.errors import CourseError
from autograder.models import Case, Exercise, Observation, Reference
from autograder.observations import observe

PUBLIC: Final = "public:2018"
"""Seed of everything a student can see: page, notebook, ``check``, stock nbgrader."""


_MEANT: Final = frozenset(("ValueError", "TypeError", "RuntimeError", "AssertionError", "IndexError", "KeyError"))
"""What a specification may ask a function to raise; anything else is a fault of the reference or of this machine."""


class ReferenceError(CourseError):
    """The reference is not what it must be: nothing can be graded until that is understood."""


@dataclass(frozen=True, slots=True)
class Seed:
    """Where random cases come from."""

    id: str
    """What records show; it does not give the seed away."""
    key: bytes = b""
    """The course secret; empty where the id itself is the seed."""

    def random(self, exercise: Exercise, check_id: str) -> Random:
        """Return the generator for one check: the same for the whole class and every regrade."""
        text = f"{self.id}/{exercise.slug}/{exercise.version}/{check_id}"
        if self.key:
            text = hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()
        return Random(text)


@dataclass(frozen=True, slots=True)
class Expected:
    """One check's cases with what the reference does on them."""

    cases: tuple[Case, ...]
    observations: tuple[Observation, ...]
    fixed: int
    """How many of the cases, from the first, are the fixed ones."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """All that a submission to one exercise is judged against."""

    seed_id: str
    reference: Reference
    checks: Mapping[str, Expected]


def draw(exercise: Exercise, seed: Seed) -> dict[str, tuple[Case, ...]]:
    """Return each check's cases: the fixed ones, then those drawn from the seed."""
    drawn = {}
    for check in exercise.checks:
        extra = () if check.random is None else tuple(check.random(seed.random(exercise, check.id)))
        drawn[check.id] = (*check.cases, *extra)
    return drawn


def together(
    exercise: Exercise, seed: Seed, reference: Reference, seen: Mapping[str, Sequence[Observation]]
) -> Expectations:
    """Return expectations from what the reference did before on the cases of a seed, by the checks' ids.

    Raises:
        KeyError, ValueError: that is not one observation for each case.
    """
    drawn = draw(exercise, seed)
    checks = {}
    for check in exercise.checks:
        cases, observations = drawn[check.id], tuple(seen[check.id])
        if len(cases) != len(observations):
            raise ValueError(f"{check.id}: {len(cases)} cases, {len(observations)} recorded")
        checks[check.id] = Expected(cases, observations, len(check.cases))
    return Expectations(seed.id, reference, checks)


def expect(exercise: Exercise, seed: Seed, reference: Reference) -> Expectations:
    """Run the reference solution on every case, on the reference's device.

    Raises:
        ReferenceError: the solution cannot be loaded, or raised what no specification asks for.
    """
    function = load_function(exercise.solution, exercise.entry, f"solutions/{exercise.slug}.py")
    checks = {}
    for check, cases in zip(exercise.checks, draw(exercise, seed).values(), strict=True):
        seen = tuple(observe(function, case, check.scenario, device=reference.device) for case in cases)
        for case, observation in zip(cases, seen, strict=True):
            _must_be_meant(exercise, check.id, case, observation)
        checks[check.id] = Expected(cases, seen, len(check.cases))
    return Expectations(seed.id, reference, checks)


def place_of(exercise: Exercise, check_id: str) -> str:
    """Return where a check stands: its file, the line that first names it, and the check."""
    path, line = exercise.folder / "checks.py", 0
    with contextlib.suppress(OSError):
        texts = enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        line = next((number for number, text in texts if f'"{check_id}"' in text), 0)
    return f"{path}{f':{line}' if line else ''}: check {check_id}"


def _must_be_meant(exercise: Exercise, check_id: str, case: Case, observation: Observation) -> None:
    for outcome in observation.outcomes:
        if outcome.raised is not None and outcome.raised.type_name not in _MEANT:
            what = f"{outcome.raised.type_name}: {outcome.raised.message}"
            raise ReferenceError(
                f"{place_of(exercise, check_id)}, case “{case.name}”: solutions/{exercise.slug}.py raised {what}, "
                "which no specification asks for. Mend the solution, or the case that it is given."
            )


def load_function(source: str, name: str, filename: str) -> Callable[..., Any]:
    """Run trusted source and return the function or class it defines under that name."""
    namespace: dict[str, Any] = {"__name__": "answer"}
    exec(compile(source, filename, "exec"), namespace)  # our own files only
    function = namespace.get(name)
    if not callable(function):
        raise ReferenceError(f"{filename} does not define {name}")
    return function  # type: ignore[no-any-return]
