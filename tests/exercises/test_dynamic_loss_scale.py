"""The reference solution against PyTorch itself: equal where the rules coincide, different where we say so."""

from __future__ import annotations

import math
import random

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from autograder import catalog
from autograder.models import Observation, Outcome
from autograder.reference import oracle
from autograder.reference.expectations import load_function

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
