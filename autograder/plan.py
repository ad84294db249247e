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
        """Return them with what the reference does, which is run where an earlier run did not keep it.

        Raises:
            CourseError: it fails, or torch is not the one that its installation says.
        """
        kept = {slug: proven.known(exercise, self.seed, self.reference) for slug, exercise in self.exercises.items()}
        if None in kept.values():
            self._must_be_foreseen()
        return {slug: self._plan(exercise, kept[slug]) for slug, exercise in self.exercises.items()}

    def _must_be_foreseen(self) -> None:
        from autograder.reference.device import live_reference

        reference = live_reference()
        if reference != self.reference:
            raise CourseError(
                f"torch says that it is {reference.torch} for {reference.device}, and its installation says "
                f"{self.reference.torch} for {self.reference.device}; install torch anew"
            )

    def _plan(self, exercise: Exercise, kept: Expectations | None) -> Plan:
        if kept is not None:
            return _plan(exercise, kept)
        plan = live_plan(exercise, self.seed, self.reference)
        proven.keep(exercise, self.seed, plan.expectations)
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
    return Plan(exercise, expectations, recorded.patterns(exercise))


def recorded_plan(exercise: Exercise) -> Plan | None:
    """Return the plan for the public seed from ``recorded.json``, None where that is not current."""
    known = recorded.load(exercise)
    return Plan(exercise, *known) if known else None
