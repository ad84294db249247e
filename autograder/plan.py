"""An exercise with all that its submissions are judged against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder import recorded
from autograder.errors import CourseError
from autograder.models import Exercise, Reference
from autograder.recognize import Pattern
from autograder.reference import proven
from autograder.reference.expectations import Expectations, Seed, expect


@dataclass(frozen=True, slots=True)
class Plan:
    """One exercise with all that its submissions are judged against."""

    exercise: Exercise
    expectations: Expectations
    patterns: Mapping[str, Pattern] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prospect:
    """Plans that are made when they are needed: what decides whether work is the same is known without running
    anything.
    """

    exercises: Mapping[str, Exercise]
    seed: Seed
    reference: Reference
    """As ``reference.device.foreseen_reference`` says it."""

    def outlines(self) -> dict[str, Plan]:
        """Return the plans without what is expected."""
        bare = Expectations(self.seed.id, self.reference, {})
        return {slug: Plan(exercise, bare) for slug, exercise in self.exercises.items()}

    def plans(self) -> dict[str, Plan]:
        """Run the reference for all of them.

        Raises:
            CourseError: it fails, or torch is not the one that its installation says.
        """
        from autograder.reference.device import live_reference

        reference = live_reference()
        if reference != self.reference:
            raise CourseError(
                f"torch says that it is {reference.torch} for {reference.device}, and its installation says "
                f"{self.reference.torch} for {self.reference.device}; install torch anew"
            )
        return {slug: self._plan(exercise, reference) for slug, exercise in self.exercises.items()}

    def _plan(self, exercise: Exercise, reference: Reference) -> Plan:
        root = exercise.folder.parents[1]
        name, known = proven.name(exercise, self.seed, reference), proven.known(root)
        if name in known:
            return _plan(exercise, expect(exercise, self.seed, reference))
        plan = live_plan(exercise, self.seed, reference)
        proven.keep(root, [*known, name])
        return plan


def live_plan(exercise: Exercise, seed: Seed, reference: Reference) -> Plan:
    """Run the reference for every case of a seed, after proving it by PyTorch where the rules coincide.

    Raises:
        reference.oracle.ReferenceError: the two disagree.
    """
    from autograder.reference import oracle

    expectations = expect(exercise, seed, reference)
    oracle.verify(exercise, expectations)
    return _plan(exercise, expectations)


def _plan(exercise: Exercise, expectations: Expectations) -> Plan:
    known = recorded.load(exercise)
    return Plan(exercise, expectations, known[1] if known else {})


def recorded_plan(exercise: Exercise) -> Plan | None:
    """Return the plan for the public seed from ``recorded.json``, None where that is not current."""
    known = recorded.load(exercise)
    return Plan(exercise, *known) if known else None
