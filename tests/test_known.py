"""How the known answers of an exercise are tried at many seeds."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder import catalog, known
from autograder.attempt import Cage
from autograder.known import Trials, Verdict
from autograder.models import Exercise
from autograder.plan import Plan, live_plan
from autograder.reference.device import live_reference
from autograder.reference.expectations import PUBLIC, Seed
from autograder.sandbox.runner import Runner
from autograder.sandbox.zygote import SandboxError

ROOT = Path(__file__).parent.parent
KEEPS_STATE = "list_in_a_default"
"""Its scales pile up from call to call; the checks that look at something else still pass."""


def test_an_answer_that_keeps_state_does_not_outgrow_its_frames() -> None:
    exercise = catalog.load("dynamic_loss_scale", ROOT)
    source = {answer.name: answer.source for answer in exercise.wrong}[KEEPS_STATE]
    plan = live_plan(exercise, Seed(PUBLIC), live_reference("cpu"))
    with Trials() as trials:
        verdict = trials.run(plan, {KEEPS_STATE: source}, [Seed(f"seed:{number}") for number in range(24)])
    assert verdict[KEEPS_STATE].unstable == ()
    assert verdict[KEEPS_STATE].score > 0


def test_where_the_machine_stood_still_an_answer_is_tried_again_within_its_own_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exercise = catalog.load("largest_safe_scale", ROOT)
    plan = live_plan(exercise, Seed(PUBLIC), live_reference("cpu"))
    given: list[float] = []

    class Stands(Runner):
        """The first time, all is over before anything has run."""

        def __init__(self, take: Any, drop: Any, cells: Any, exercise: Exercise, **more: Any) -> None:
            given.append(exercise.seconds)
            seconds = exercise.seconds if len(given) > 1 else 1e-4
            super().__init__(take, drop, cells, replace(exercise, seconds=seconds), **more)

    monkeypatch.setattr(known, "Runner", Stands)
    with Trials() as trials:
        assert trials.run(plan, {"solution": exercise.solution})["solution"].score == exercise.max_score
        assert given == [exercise.seconds, exercise.seconds, known._PATIENCE]
        short = replace(plan, exercise=replace(exercise, seconds=0.2))
        late = trials.run(short, {"loops": "while True: pass"})["loops"]
    assert {result.status for result in late.results} == {"timeout"}
    assert given[3:5] == [0.2, 0.2]


def test_what_ends_the_trials_waits_for_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = catalog.load("dynamic_loss_scale", ROOT)
    plan = live_plan(exercise, Seed(PUBLIC), live_reference("cpu"))
    begun: list[str] = []
    ended: list[str] = []

    def one(cage: Cage, plan: Plan, name: str, source: str, others: object) -> Verdict:
        begun.append(name)
        if name == "00":
            while len(begun) < 2:
                time.sleep(0.001)
            raise KeyboardInterrupt
        try:
            while True:  # an answer that loops, until its process is ended under it
                cage.take()
                time.sleep(0.001)
        except SandboxError:
            ended.append(name)
            raise

    monkeypatch.setattr(known, "_one", one)
    with Trials() as trials, pytest.raises(KeyboardInterrupt):
        trials.run(plan, {f"{number:02}": "" for number in range(20)})
    assert len(begun) <= 3  # one more may have begun in the moment of the end
    assert sorted(ended) == sorted(begun)[1:]
