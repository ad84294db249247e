"""The reference solution against PyTorch itself: equal where the rules coincide, different where we say so."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from autograder import catalog
from autograder.checks import judge_check
from autograder.models import Observation, Outcome
from autograder.observations import observe
from autograder.reference import oracle
from autograder.reference.device import live_reference
from autograder.reference.expectations import PUBLIC, Seed, expect, load_function

EXERCISE = catalog.load("dynamic_loss_scale")
PYTORCH = oracle.load(EXERCISE)
SOLUTION = load_function(EXERCISE.solution, EXERCISE.entry, "solution")

powers = st.integers(1, 3).map(lambda exponent: 2.0**exponent)


@given(
    st.lists(st.booleans(), max_size=60),
    st.integers(-40, 40).map(lambda exponent: 2.0**exponent),
    powers,
    powers.map(lambda factor: 1 / factor),
    st.integers(1, 9),
)
def test_solution_and_the_operator_agree_to_the_last_bit(flags, scale, growth, backoff, interval):
    arguments = {
        "overflows": flags,
        "init_scale": scale,
        "growth_factor": growth,
        "backoff_factor": backoff,
        "growth_interval": interval,
    }
    assume(PYTORCH.coincides(arguments))
    assert PYTORCH.agrees(SOLUTION(**arguments), PYTORCH.pytorch(**arguments)) is None


def whole_scaler(flags, **options) -> list[float]:
    """Return the scales that GradScaler itself used, step for step, with gradients that overflow where asked."""
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", **options)
    scales = []
    for overflow in flags:
        weight.grad = None
        scaler.scale(weight.sum()).backward()
        scales.append(scaler.get_scale())
        if overflow:
            weight.grad.fill_(math.inf)
        scaler.step(optimizer)
        scaler.update()
    return [*scales, scaler.get_scale()]


@pytest.mark.parametrize("seed", range(5))
def test_solution_and_the_whole_scaler_use_the_same_scales(seed: int):
    rng = random.Random(seed)
    flags = [rng.random() < 0.2 for _ in range(120)]
    options = {"init_scale": 2.0 ** rng.randint(0, 16), "growth_interval": rng.randint(1, 8)}
    ours = SOLUTION(flags, **options)
    assert whole_scaler(flags, **options) == [*ours["scales"], ours["final_scale"]]


def both(flags, **options):
    assert not PYTORCH.coincides({"overflows": flags, **options})
    return SOLUTION(flags, **options), PYTORCH.pytorch(flags, **options)


def beyond_float32() -> None:
    ours, theirs = both([False] * 200, growth_interval=1)
    assert theirs["scales"][111] == 2.0**127 == theirs["final_scale"]
    assert theirs["scales"][110] == 2.0**126
    assert ours["scales"][112] == 2.0**128
    assert ours["final_scale"] == 1.0531229166855719e65
    long = SOLUTION([False] * 1010, growth_interval=1)["scales"]
    assert long.index(math.inf) == 1008
    assert 111 * 2000 == 222_000


def to_zero() -> None:
    ours, theirs = both([True] * 1092)
    assert theirs["scales"][165] == 1.401298464324817e-45
    assert theirs["scales"][166] == 0.0 == theirs["final_scale"]
    assert ours["scales"][166] == 7.006492321624085e-46
    assert ours["scales"].index(0.0) == 1091
    recovered = PYTORCH.pytorch([True] * 166 + [False] * 10, growth_interval=1)
    assert recovered["final_scale"] == 0.0


def no_powers_of_two() -> None:
    ours, theirs = both([True], init_scale=8.0, backoff_factor=0.7)
    assert theirs["final_scale"] == 5.599999904632568
    assert ours["final_scale"] == 5.6
    assert abs(theirs["final_scale"] / 5.6 - 1) <= 2.0**-24
    assert PYTORCH.pytorch([False], init_scale=0.1)["scales"] == [0.10000000149011612]


def huge_factors() -> None:
    ours, theirs = both([False], init_scale=8.0, growth_factor=1e300, growth_interval=1)
    assert theirs["final_scale"] == 8.0
    assert ours["final_scale"] == 8e300
    product = PYTORCH.pytorch([False], init_scale=1e-5, growth_factor=1e39, growth_interval=1)["final_scale"]
    assert product == 9.999999790214768e33
    assert (torch.tensor(1e-5) * torch.tensor(1e39)).item() == math.inf


def no_float32() -> None:
    assert PYTORCH.pytorch([False], init_scale=1e-46)["scales"] == [0.0]
    assert SOLUTION([False], init_scale=1e-46)["scales"] == [1e-46]
    with pytest.raises(RuntimeError):
        PYTORCH.pytorch([], init_scale=1e39)
    assert SOLUTION([], init_scale=1e39)["final_scale"] == 1e39


def an_int() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=8)
    assert type(scaler.get_scale()) is int
    scaler.scale(torch.ones(()))
    assert type(scaler.get_scale()) is float
    assert type(SOLUTION([], init_scale=8)["final_scale"]) is float


def what_a_step_is() -> None:
    weights = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    optimizers = [torch.optim.SGD([weight], lr=1.0) for weight in weights]
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    scaler.scale(torch.ones(()))
    for value, growths, scale in ((1.0, 1, 8.0), (math.inf, 0, 4.0)):
        for weight, optimizer in zip(weights, optimizers, strict=True):
            weight.grad = torch.tensor([value])
            scaler.step(optimizer)
        scaler.update()
        assert scaler.state_dict()["_growth_tracker"] == growths
        assert scaler.get_scale() == scale


EXPERIMENTS = {
    "Growth beyond float32": beyond_float32,
    "Backing off to zero": to_zero,
    "Factors and scales that are no power of two": no_powers_of_two,
    "Huge factors": huge_factors,
    "An initial scale that is no float32": no_float32,
    "An int as the initial scale": an_int,
    "What counts as a step": what_a_step_is,
}


@pytest.mark.parametrize("title", [title for title, _ in PYTORCH.differences])
def test_every_difference_that_is_documented_is_so(title: str):
    EXPERIMENTS[title]()


def test_who_records_after_updating_is_told_of_the_other_mistake_by_itself() -> None:
    check = EXERCISE.check("growth_restarts_the_run")
    tried = check.cases[0]
    flags = tried.calls[0]["overflows"]
    want = Observation((Outcome(SOLUTION(**tried.calls[0])),))
    scale, after = 8.0, []
    for run, _ in enumerate(flags, 1):  # a growth does not start a new run
        scale = scale * 2.0 if run == 6 else scale
        after.append(scale)
    mistaken = Observation((Outcome({"scales": after, "skipped": [], "final_scale": scale}),))
    found = check.judge(tried, mistaken, want)
    assert found is not None
    assert found.difference == (
        "the scale after step 11 is 16, not 32: step 11 made it 6 good steps in a row, and growth_interval is 6 "
        "and growth_factor 2"
    )


# --------------------------------------------------------------- what each check must see


def looked_up(check_id: str):
    """Return a function that knows every public input of a check by its form alone, and no rule.

    The form is what a memory needs no loop over the steps for: how many there are, whether the first overflowed, and
    the other arguments.
    """

    def form(overflows: list[bool], **others: float) -> str:
        return repr((len(overflows), bool(overflows and overflows[0]), sorted(others.items())))

    expected = expect(EXERCISE, Seed(PUBLIC), live_reference("cpu")).checks[check_id]
    known = {form(**tried.calls[0]): SOLUTION(**tried.calls[0]) for tried in expected.cases}
    empty = {"scales": [], "skipped": [], "final_scale": 0.0}
    return lambda overflows, **others: known.get(form(overflows, **others), empty)


@pytest.mark.parametrize("check_id", ["no_floor_no_ceiling", "defaults", "one_pass"])
def test_no_memory_of_the_public_inputs_earns_the_point(check_id: str):
    check = EXERCISE.check(check_id)
    memory = looked_up(check_id)
    for number in range(20):
        drawn = expect_random(check_id, Seed(f"secret:{number}", b"key"))
        assert drawn
        verdicts = [check.judge(tried, observe(memory, tried, check.scenario), want) for tried, want in drawn]
        assert any(verdicts), f"a table of the public inputs passes {check_id} at secret {number}"
        assert not any(check.judge(tried, want, want) for tried, want in drawn)


def expect_random(check_id: str, seed: Seed):
    """Return the random cases of a check, each with what the solution does."""
    check = EXERCISE.check(check_id)
    return [
        (tried, observe(SOLUTION, tried, check.scenario)) for tried in check.random(seed.random(EXERCISE, check_id))
    ]


def test_a_crowd_of_overflows_is_tried_and_its_scale_stays_in_range():
    check = EXERCISE.check("one_pass")
    (crowd,) = [tried for tried in check.cases if sum(map(bool, tried.calls[0]["overflows"])) > 100_000]
    flags = crowd.calls[0]["overflows"]
    in_a_row = [a and b for a, b in itertools.pairwise(flags)]
    alternating = [a and not b and c for a, b, c in zip(flags, flags[1:], flags[2:], strict=False)]
    assert sum(in_a_row) > 50_000
    assert sum(alternating) > 4_000
    record = SOLUTION(**crowd.calls[0])
    assert 2.0**-100 < min(record["scales"]) <= max(record["scales"]) < 2.0**120
    assert record["skipped"] == [step for step, flag in enumerate(flags) if flag]


def test_whoever_skips_the_right_steps_of_a_long_run_has_looked_at_each():
    check = EXERCISE.check("one_pass")
    (tried, want), *_ = expect_random("one_pass", Seed("secret"))
    outcome = want.outcomes[0]
    wrong_scales = {**outcome.returned, "scales": [0.0] * len(outcome.returned["scales"]), "final_scale": 0.0}
    assert check.judge(tried, Observation((replace(outcome, returned=wrong_scales),)), want) is None
    wrong = {**wrong_scales, "skipped": outcome.returned["skipped"][1:]}
    assert check.judge(tried, Observation((replace(outcome, returned=wrong),)), want) is not None


def test_a_result_that_the_next_call_changes_is_shown_beside_both_calls():
    check = EXERCISE.check("pure")
    (two,) = [tried for tried in check.cases if tried.name == "two runs"]
    record: dict = {}

    def one_dict(**arguments):
        record.update(SOLUTION(**arguments))
        return record

    want = observe(SOLUTION, two, check.scenario)
    result, _ = judge_check(check, EXERCISE.entry, [(two, observe(one_dict, two, check.scenario), want)])
    assert result.show == "kept"
    assert result.call.count("dynamic_loss_scale(") == 2
    assert "A later call changed what the first had returned" in result.message
