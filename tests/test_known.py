"""How the known answers of an exercise are tried at many seeds."""

from __future__ import annotations

from pathlib import Path

from autograder import catalog
from autograder.known import Trials
from autograder.plan import live_plan
from autograder.reference.device import live_reference
from autograder.reference.expectations import PUBLIC, Seed

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
