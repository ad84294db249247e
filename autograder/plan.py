"""An exercise with all that its submissions are judged against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder import recorded
from autograder.models import Exercise, Reference
from autograder.recognize import Pattern
from autograder.reference.expectations import Expectations, Seed, expect


@dataclass(frozen=True, slots=True)
class Plan:
    """One exercise with all that its submissions are judged against."""

    exercise: Exercise
    expectations: Expectations
    patterns: Mapping[str, Pattern] = field(default_factory=dict)


def live_plan(exercise: Exercise, seed: Seed, reference: Reference) -> Plan:
    """Run the reference for every case of a seed, after proving it by PyTorch where the rules coincide.

    Raises:
        reference.oracle.ReferenceError: the two disagree.
    """
    from autograder.reference import oracle

    expectations = expect(exercise, seed, reference)
    oracle.verify(exercise, expectations)
    known = recorded.load(exercise)
    return Plan(exercise, expectations, known[1] if known else {})


def recorded_plan(exercise: Exercise) -> Plan | None:
    """Return the plan for the public seed from ``recorded.json``, None where that is not current."""
    known = recorded.load(exercise)
    return Plan(exercise, *known) if known else None
