"""The reference solution against PyTorch itself: equal where the rules coincide, different where we say so."""

from __future__ import annotations

import math
import struct

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from autograder import catalog
from autograder.checks import f32, f64, tensor
from autograder.models import Case, Mismatch, Tensor
from autograder.observations import observe
from autograder.reference import oracle
from autograder.reference.expectations import Seed, load_function

EXERCISE = catalog.load("grad_scaler_step")
PYTORCH = oracle.load(EXERCISE)
SOLUTION = load_function(EXERCISE.solution, EXERCISE.entry, "solution")


def run(function, **arguments):
    """Return what a function returns on plain arguments, as plain values."""
    outcome = observe(function, Case("", (arguments,))).outcomes[0]
    assert outcome.raised is None, outcome.raised
    return outcome.returned


def float32_of(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits))[0]


# Every bit pattern: subnormals, infs and nans come as often as their patterns do, and specials on top.
elements = st.one_of(
    st.integers(0, 2**32 - 1).map(float32_of),
    st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 65504.0, 70000.0, 3e38, 2.0**-149]),
)
doubles = st.one_of(st.floats(allow_nan=True, allow_infinity=True), elements)
gradients = st.one_of(
    st.lists(elements, max_size=5).map(lambda values: f32(*values)),
    st.lists(doubles, max_size=5).map(lambda values: f64(*values)),
    elements.map(lambda value: tensor(value)),
)
scales = st.one_of(
    st.integers(-10, 60).map(lambda exponent: 2.0**exponent),
    st.floats(2.0**-10, 2.0**60),
)
factors = st.sampled_from([(2.0, 0.5), (3.0, 0.25), (1.5, 0.75), (1.0009765625, 0.1)])


@given(st.lists(gradients, min_size=1, max_size=4), scales, factors)
def test_solution_and_pytorch_agree_wherever_their_rules_coincide(grads: list[Tensor], scale: float, pair):
    arguments = {"grads": grads, "scale": scale, "growth_factor": pair[0], "backoff_factor": pair[1]}
    assume(PYTORCH.coincides(arguments))
    assert PYTORCH.agrees(run(SOLUTION, **arguments), run(PYTORCH.pytorch, **arguments)) is None


@pytest.mark.parametrize("scale", [1.0, 1.0000001, 3.0, 65536.0])
def test_order_of_judging_never_matters_for_a_scale_of_one_or_more(scale: float):
    patterns = torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(torch.float16).float()
    for values in (patterns, torch.arange(0, 2**31 - 1, 65521, dtype=torch.int32).view(torch.float32)):
        assert torch.equal(values.isfinite(), (values / scale).isfinite())


def differs(**arguments) -> bool:
    assert not PYTORCH.coincides(arguments)
    return PYTORCH.agrees(run(SOLUTION, **arguments), run(PYTORCH.pytorch, **arguments)) is not None


def below_one() -> None:
    arguments = {"grads": [f32(3e38)], "scale": 0.5}
    assert differs(**arguments)
    assert run(SOLUTION, **arguments) == (None, 0.25)
    gradients, scale = run(PYTORCH.pytorch, **arguments)
    assert gradients[0].values == (math.inf,)
    assert scale == 1.0
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.tensor([3e38])
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=0.5, growth_interval=1)
    scaler.scale(torch.ones(()))
    scaler.step(optimizer)
    assert weight.item() == -math.inf


def end_of_float32() -> None:
    arguments = {"grads": [f32(1.0)], "scale": 2.0**127}
    assert differs(**arguments)
    assert run(SOLUTION, **arguments)[1] == 2.0**128
    assert run(PYTORCH.pytorch, **arguments)[1] == 1.7014118346046923e38 == 2.0**127


def rounding_of_the_scale() -> None:
    backs_off = {"grads": [f32(math.inf)], "scale": 8.0, "backoff_factor": 0.7}
    assert run(SOLUTION, **backs_off)[1] == 5.6
    assert run(PYTORCH.pytorch, **backs_off)[1] == 5.599999904632568
    grows = {"grads": [f32(1.0)], "scale": 0.1}
    assert run(SOLUTION, **grows)[1] == 0.2
    assert run(PYTORCH.pytorch, **grows)[1] == 0.20000000298023224


def reciprocal() -> None:
    third = {"grads": [f64(1.0)], "scale": 3.0}
    assert run(SOLUTION, **third)[0][0].values == (1 / 3,)
    assert run(PYTORCH.pytorch, **third)[0][0].values == (0.3333333432674408,)
    values = torch.rand(100_000, generator=torch.Generator().manual_seed(0)) + 1
    for scale, may_differ in ((3.0, True), (1000.0, True), (1024.0, False)):
        divided, multiplied = values / scale, values * torch.tensor(1 / scale)
        ulp = (divided.view(torch.int32) - multiplied.view(torch.int32)).abs()
        assert ulp.max() == (1 if may_differ else 0)


def no_gradients() -> None:
    assert not PYTORCH.coincides({"grads": [], "scale": 4.0})
    assert run(SOLUTION, grads=[], scale=4.0) == ([], 8.0)
    with pytest.raises(ValueError, match="empty"):
        PYTORCH.pytorch([], 4.0)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(torch.ones(()))
    with pytest.raises(AssertionError):
        scaler.step(torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0))


def interval() -> None:
    assert torch.amp.GradScaler("cpu").get_growth_interval() == 2000
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.ones(1)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(torch.ones(()))
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 8.0


def half_precision() -> None:
    weight = torch.nn.Parameter(torch.zeros(1, dtype=torch.float16))
    weight.grad = torch.ones(1, dtype=torch.float16)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(torch.ones(()))
    with pytest.raises(ValueError, match="FP16"):
        scaler.unscale_(torch.optim.SGD([weight], lr=1.0))


def in_place_and_none() -> None:
    for value in (8.0, math.inf):
        weight = torch.nn.Parameter(torch.zeros(2))
        weight.grad = torch.tensor([8.0, value])
        optimizer = torch.optim.SGD([weight], lr=1.0)
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        scaler.scale(torch.ones(()))
        grad = weight.grad
        assert scaler.step(optimizer) is None
        assert weight.grad is grad
        assert grad[0] == 2.0


EXPERIMENTS = {
    "A scale below 1": below_one,
    "A scale near the end of float32": end_of_float32,
    "Factors and scales that are no power of two": rounding_of_the_scale,
    "Multiplying in place of dividing": reciprocal,
    "No gradients": no_gradients,
    "How often the scale grows": interval,
    "Half-precision gradients": half_precision,
    "Where the results are": in_place_and_none,
}


@pytest.mark.parametrize("title", [title for title, _ in PYTORCH.differences])
def test_every_difference_that_is_documented_is_so(title: str):
    EXPERIMENTS[title]()


# --------------------------------------------------------------- what each check must see


def drawn(check_id: str, number: int) -> list[Case]:
    check = EXERCISE.check(check_id)
    return list(check.random(Seed(f"seed:{number}").random(EXERCISE, check_id)))


def verdict(check_id: str, function, tried: Case) -> Mismatch | None:
    check = EXERCISE.check(check_id)
    return check.judge(tried, observe(function, tried, check.scenario), observe(SOLUTION, tried, check.scenario))


def test_overflows_are_tried_in_every_kind_of_tensor():
    check, kinds = EXERCISE.check("looks_everywhere"), set()
    for tried in [*check.cases, *(case for number in range(20) for case in drawn("looks_everywhere", number))]:
        grads = tried.calls[0]["grads"]
        for place, grad in enumerate(grads):
            if not all(map(math.isfinite, grad.values)):
                kinds |= {("dimensions", len(grad.shape)), ("strided", grad.strided), ("place", place)}
    assert kinds >= {("dimensions", count) for count in (1, 2, 3, 4)} | {("strided", True), ("strided", False)}
    assert kinds >= {("place", place) for place in range(5)}


@pytest.mark.parametrize("check_id", ["unscales", "keeps_structure"])
def test_tensors_of_four_dimensions_are_tried(check_id: str):
    tried = [grad for item in EXERCISE.check(check_id).cases for grad in item.calls[0]["grads"]]
    assert any(len(grad.shape) == 4 for grad in tried)


def test_a_large_number_at_a_scale_below_one_is_tried_and_stays_finite():
    for tried in drawn("large_is_not_infinite", 1) + list(EXERCISE.check("large_is_not_infinite").cases):
        arguments = tried.calls[0]
        assert run(SOLUTION, **arguments)[0] is not None
        if arguments["scale"] < 1:
            (grad,) = arguments["grads"]
            assert max(map(abs, grad.values)) / arguments["scale"] ** 2 > (
                3.4e38 if grad.dtype == "float32" else 1.7e308
            )


KEPT: list[torch.Tensor] = []


def one_list(grads, scale, growth_factor=2.0, backoff_factor=0.5):
    KEPT[:] = [grad / scale for grad in grads]
    if all(torch.isfinite(grad).all() for grad in KEPT):
        return KEPT, scale * growth_factor
    return None, scale * backoff_factor


def test_a_list_that_is_filled_anew_is_found_at_every_seed():
    for number in range(20):
        found = [verdict("leaves_inputs_alone", one_list, tried) for tried in drawn("leaves_inputs_alone", number)]
        assert [mismatch.show for mismatch in found if mismatch] == ["kept"]


def test_the_callers_own_empty_list_is_told_from_a_new_one():
    def own(grads, scale, growth_factor=2.0, backoff_factor=0.5):
        return (grads, scale * growth_factor) if not grads else SOLUTION(grads, scale, growth_factor, backoff_factor)

    (tried,) = [item for item in EXERCISE.check("leaves_inputs_alone").cases if not item.calls[0]["grads"]]
    found = verdict("leaves_inputs_alone", own, tried)
    assert found is not None
    assert (found.show, found.difference) == (
        "later",
        "the list that came back is grads itself: it grew when the caller appended to grads afterwards",
    )
