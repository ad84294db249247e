"""Grade one submission: run it in a confined process, judge it, and say in one line what there is to say."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from autograder import __version__
from autograder.grading import first_output, judge_answer, not_started, total
from autograder.models import Case, Check, CheckResult, Observation, Score, Submission
from autograder.notebooks import is_untouched
from autograder.plan import Plan
from autograder.pointers import pointers
from autograder.report.untrusted import one_line
from autograder.sandbox.runner import Runner, place
from autograder.sandbox.zygote import STUDENT, Limits, Zygote


class Cage:
    """A worker's confined process, started when first needed and replaced when it is of no more use."""

    def __init__(self, *, walled: bool, preload: tuple[str, ...] = (), limits: Limits = STUDENT) -> None:
        """Start the process; it warms up while the caller goes on."""
        self._walled, self._preload, self._limits = walled, preload, limits
        self.dropped = 0
        """How many processes were of no more use."""
        self._zygote: Zygote | None = self._start()

    def take(self) -> Zygote:
        """Return a warm zygote."""
        if self._zygote is None:
            self._zygote = self._start()
        self._zygote.ready()
        return self._zygote

    def _start(self) -> Zygote:
        return Zygote(walled=self._walled, preload=self._preload, limits=self._limits)

    def drop(self) -> None:
        """End the zygote."""
        zygote, self._zygote = self._zygote, None
        if zygote is not None:
            self.dropped += 1
            zygote.close()

    def layers(self) -> tuple[str, ...]:
        """Return the layers around a submission."""
        return self.take().layers()


def grade_one(plan: Plan, submission: Submission, cage: Cage, lost: int = 0) -> Score:
    """Grade one submission; whatever it is or does becomes part of the score.

    Args:
        plan: of its exercise.
        submission: what was handed in.
        cage: where it runs.
        lost: how many confined processes were lost with it before; see ``runner.MAX_LOST``.
    """
    started = time.monotonic()
    if submission.unreadable:
        return ungraded(plan, submission, submission.unreadable)
    if is_untouched(submission.cells, plan.exercise):
        return _blank(plan, submission, "not_started", "the starter, untouched")
    runner = Runner(cage.take, cage.drop, submission.cells, plan.exercise, lost)
    outputs: list[str] = []

    def observe(check: Check, case: Case) -> Observation:
        seen = runner.observe(check, case)
        outputs.append(seen.output)
        return seen

    try:
        results, _ = judge_answer(plan.exercise, plan.expectations, plan.patterns, observe)
    finally:
        runner.close()
    loaded = runner.loaded
    notes = (*submission.notes, *loaded.notes, *(f"{place(error)}; the cells after it ran" for error in loaded.errors))
    score = replace(
        _blank(plan, submission, "graded", ""),
        score=total(results),
        checks=results,
        sandbox=cage.layers(),
        duration_s=round(time.monotonic() - started, 4),
        output=first_output([loaded.output, *outputs]),
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


def ungraded(plan: Plan, submission: Submission, reason: str) -> Score:
    """Return the score of a submission that cannot be graded."""
    return _blank(plan, submission, "unreadable", reason)


def _blank(
    plan: Plan, submission: Submission, status: Literal["graded", "unreadable", "not_started"], reason: str
) -> Score:
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
