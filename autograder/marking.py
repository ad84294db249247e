"""From one submission and a way to run it to its score; the same in the confined process and in a browser."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, Protocol

from autograder import __version__
from autograder.grading import Answers, Memory, judge, not_started, total
from autograder.loaded import Loaded, place
from autograder.models import Check, CheckResult, Score, Submission
from autograder.plan import Plan
from autograder.pointers import pointers
from autograder.reference.expectations import Expected
from autograder.report.untrusted import one_line


class Run(Protocol):
    """One submission's runs, wherever they happen."""

    @property
    def loaded(self) -> Loaded:
        """What came of the cells, once a case was tried."""

    def answers(self, check: Check, expected: Expected) -> Answers:
        """Return what the student's code does on the cases of a check; never raises for what the code does."""


def mark(plan: Plan, submission: Submission, run: Run, memory: Memory | None = None) -> Score:
    """Judge a submission that has been read and is not the untouched starter.

    ``sandbox`` and ``duration_s`` of the score are the caller's to fill in. ``memory`` is of this very plan.
    """
    results, _, output = judge(plan.exercise, plan.expectations, plan.patterns, run.answers, memory=memory)
    loaded = run.loaded
    notes = (*submission.notes, *loaded.notes, *(f"{place(error)}; the cells after it ran" for error in loaded.errors))
    score = replace(
        blank(plan, submission, "graded", ""),
        score=total(results),
        checks=results,
        output=loaded.output or output,
        notes=notes,
        look=pointers(submission.cells),
    )
    if not_started(results):
        return replace(score, status="not_started", reason=f"{plan.exercise.entry} still raises NotImplementedError")
    return replace(score, reason=_reason(submission, results))


def _reason(submission: Submission, results: tuple[CheckResult, ...]) -> str:
    """Return the one thing to say where every check fails for the same reason: no such function, a missing key, ..."""
    if any(result.status == "passed" for result in results) or len({result.difference for result in results}) != 1:
        return ""
    first = results[0]
    said = first.difference if not first.call else f"Every check fails for the same reason. {first.difference}"
    return one_line(" ".join(f"{submission.path.name}: {said}".split()), 1_000)  # an exception's text is the student's


def untouched(plan: Plan, submission: Submission) -> Score:
    """Return the score of the starter as it was handed out."""
    return blank(plan, submission, "not_started", "the starter, untouched")


def blank(
    plan: Plan, submission: Submission, status: Literal["graded", "unreadable", "not_started"], reason: str
) -> Score:
    """Return a score without results: nothing was run."""
    exercise = plan.exercise
    unrun: Iterable[CheckResult] = (
        CheckResult(c.id, c.title, c.points, 0.0, "not_run", "Not run.", see=c.see) for c in exercise.checks
    )
    return Score(
        student=submission.student,
        exercise=submission.exercise,
        status=status,
        score=None if status == "unreadable" else 0.0,
        max_score=exercise.max_score,
        seed_id=plan.expectations.seed_id,
        checks=tuple(unrun),
        reference=plan.expectations.reference,
        sandbox=(),
        duration_s=0.0,
        reason=reason,
        version=exercise.version,
        content_hash=submission.content_hash,
        path=str(submission.path),
        notes=submission.notes,
        grader=f"autograder {__version__}, Python {platform.python_version()}",
    )
