"""Grade one submission: run it in a confined process, and judge it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from autograder.grading import Memory
from autograder.marking import blank, mark, untouched
from autograder.models import Score, Submission
from autograder.notebooks import is_untouched
from autograder.plan import Plan
from autograder.sandbox.questions import Questions, questions
from autograder.sandbox.runner import Runner
from autograder.sandbox.zygote import STUDENT, Limits, SandboxError, Zygote


@dataclass(frozen=True, slots=True)
class Known:
    """What a worker keeps of a plan from one submission to the next."""

    plan: Plan
    questions: Questions
    memory: Memory


class Cage:
    """A worker's confined process, started when first needed and replaced when it is of no more use."""

    def __init__(
        self, *, walled: bool, preload: tuple[str, ...] = (), limits: Limits = STUDENT, many: bool = False
    ) -> None:
        """Start the process; it warms up while the caller goes on. ``many`` submissions are worth a slower start."""
        self._walled, self._preload, self._limits, self._many = walled, preload, limits, many
        self._closed = False
        self.dropped = 0
        """How many processes were of no more use."""
        self._known: dict[tuple[int, int], Known] = {}
        self._zygote: Zygote | None = self._start()

    def known(self, plan: Plan) -> Known:
        """Return what is kept of a plan: as long as it is kept, so is the plan, and no other has its identity."""
        key = (id(plan.exercise), id(plan.expectations))
        if key not in self._known:
            asked = questions(plan.exercise.checks, plan.expectations.checks, self._limits)
            self._known[key] = Known(plan, asked, Memory())
        return self._known[key]

    def take(self) -> Zygote:
        """Return a warm zygote."""
        zygote = self._zygote
        if zygote is None and not self._closed:
            zygote = self._zygote = self._start()
        try:
            if zygote is not None:
                zygote.ready()
        except (SandboxError, OSError, ValueError):  # of a handle that was closed under it
            if not self._closed:
                raise
        if self._closed or zygote is None:
            self.drop()  # it may have been started in this moment
            raise SandboxError("the confined process was ended")
        return zygote

    def _start(self) -> Zygote:
        return Zygote(walled=self._walled, preload=self._preload, limits=self._limits, many=self._many)

    def drop(self) -> None:
        """End the zygote."""
        zygote, self._zygote = self._zygote, None
        if zygote is not None:
            self.dropped += 1
            zygote.close()

    def close(self) -> None:
        """End the zygote for good, from any thread: who is at work with it meets a SandboxError."""
        self._closed = True
        self.drop()

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
        return untouched(plan, submission)
    known = cage.known(plan)
    runner = Runner(cage.take, cage.drop, submission.cells, plan.exercise, lost, known.questions)
    try:
        score = mark(plan, submission, runner, known.memory)
    finally:
        runner.close()
    return replace(score, sandbox=cage.layers(), duration_s=round(time.monotonic() - started, 4))


def ungraded(plan: Plan, submission: Submission, reason: str) -> Score:
    """Return the score of a submission that cannot be graded."""
    return blank(plan, submission, "unreadable", reason)
