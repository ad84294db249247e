"""The reference solution against exact fractions, and against what survives PyTorch's own backward pass."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autograder import catalog, recorded
from autograder.checks import f32, f64, tensor
from autograder.known import Trials
from autograder.models import Case, Raised, Tensor
from autograder.observations import observe
from autograder.plan import live_plan
from autograder.recognize import recognize
from autograder.reference import oracle
from autograder.reference.device import live_reference
from autograder.reference.expectations import PUBLIC, Seed, load_function

EXERCISE = catalog.load("largest_safe_scale")
PYTORCH = oracle.load(EXERCISE)
SOLUTION = load_function(EXERCISE.solution, EXERCISE.entry, "solution")
LOWEST, HIGHEST = Fraction(1, 2**24), Fraction(2**24)
NEAR = Fraction(1, 10**12)


def run(function, **arguments) -> float | Raised:
    """Return what a function returns on plain arguments, or the exception that left it."""
    outcome = observe(function, Case("", (arguments,))).outcomes[0]
    return outcome.raised or outcome.returned


def product(grads: list[Tensor | None], headroom: float) -> Fraction:
    """Return max|g| * headroom, exactly."""
    sizes = [abs(Fraction(value)) for grad in grads if grad is not None for value in grad.values]
    return max(sizes, default=Fraction(0)) * Fraction(headroom)


finite = st.one_of(
    st.floats(-1e6, 1e6), st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from([0.0, -0.0, 2047.0, -2047.0, 2048.0, 65504.0, 3 * 2.0**38, 65504 * 2.0**24, 1e-30]),
)  # fmt: skip
dtypes = st.sampled_from(["float32", "float64", "bfloat16", "float16"])
gradients = st.one_of(
    st.none(),
    st.tuples(st.lists(finite, max_size=5), dtypes).map(lambda pair: tensor(*pair)),
    finite.map(tensor),
)
lists = st.lists(gradients, max_size=4)
headrooms = st.one_of(st.sampled_from([1, 1.0, 2.0, 4, 10.0]), st.floats(1.0, 1e4))


@given(lists, headrooms)
@settings(max_examples=400)
def test_it_fits_and_twice_as_much_does_not(grads: list[Tensor | None], headroom: float):
    assume(all(math.isfinite(value) for grad in grads if grad is not None for value in grad.values))
    needed = product(grads, headroom)
    scale = run(SOLUTION, grads=grads, headroom=headroom)
    # Double precision may round a product onto the border or off it; exact fractions know on which side it is.
    if isinstance(scale, Raised):
        assert scale.type_name == "ValueError"
        assert needed * LOWEST > 65504 * (1 - NEAR)
        return
    assert type(scale) is float
    assert math.frexp(scale)[0] == 0.5
    assert LOWEST <= scale <= HIGHEST
    assert needed * Fraction(scale) <= 65504 * (1 + NEAR)
    assert scale == HIGHEST or 2 * needed * Fraction(scale) > 65504 * (1 - NEAR)


@given(lists, headrooms)
def test_solution_and_pytorchs_backward_agree(grads: list[Tensor | None], headroom: float):
    arguments = {"grads": grads, "headroom": headroom}
    assume(PYTORCH.coincides(arguments))
    assert PYTORCH.agrees(run(SOLUTION, **arguments), run(PYTORCH.pytorch, **arguments)) is None


def test_the_oracle_notices_a_difference():
    want = run(PYTORCH.pytorch, grads=[f32(3.0)], headroom=1.0)
    assert want == 16384.0
    assert PYTORCH.agrees(16384.0, want) is None
    assert "8192" in PYTORCH.agrees(8192.0, want)
    assert PYTORCH.agrees(16384, want) is not None


def between_65504_and_65520() -> None:
    arguments = {"grads": [f32(2047.25)], "headroom": 1.0}
    assert not PYTORCH.coincides(arguments)
    assert run(PYTORCH.pytorch, **arguments) == 32.0
    assert run(SOLUTION, **arguments) == 16.0


EXPERIMENTS = {"Between 65504 and 65520": between_65504_and_65520}


@pytest.mark.parametrize("title", [title for title, _ in PYTORCH.differences])
def test_every_difference_that_is_documented_is_so(title: str):
    EXPERIMENTS[title]()


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_one_element_that_is_not_finite_is_refused_in_any_place(bad: float, place: int, dtype: str):
    values = [1.0, 2.0, 3.0]
    values[place] = bad
    raised = run(SOLUTION, grads=[f32(1.0), None, tensor(values, dtype)])
    assert isinstance(raised, Raised)
    assert raised.type_name == "ValueError"
    assert "inf or nan" in raised.message


@pytest.mark.parametrize("headroom", [0.999999, 0.0, -1.0, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("grads", [[], [None], [f32(0.0)], [f32(1.0)]], ids=["empty", "none", "zero", "one"])
def test_a_bad_headroom_is_refused_whatever_the_gradients_are(headroom: float, grads: list[Tensor | None]):
    raised = run(SOLUTION, grads=grads, headroom=headroom)
    assert isinstance(raised, Raised)
    assert (raised.type_name, "headroom" in raised.message) == ("ValueError", True)


def test_both_ends_of_the_range():
    border = 65504 * 2.0**24
    assert run(SOLUTION, grads=[f64(border)], headroom=1.0) == 2.0**-24
    above = run(SOLUTION, grads=[f64(math.nextafter(border, math.inf))], headroom=1.0)
    assert isinstance(above, Raised)
    assert run(SOLUTION, grads=[f64(65504 * 2.0**-24)], headroom=1.0) == 2.0**24
    assert run(SOLUTION, grads=[f64(65504 * 2.0**-24 * (1 + 2.0**-50))], headroom=1.0) == 2.0**23
    assert run(SOLUTION, grads=[f64(5e-324)]) == 2.0**24


@pytest.mark.parametrize("check", EXERCISE.checks, ids=lambda check: check.id)
def test_no_case_is_nearer_to_the_border_than_the_statement_says(check):
    for case in check.cases:
        for arguments in case.calls:
            values = [value for grad in arguments["grads"] if grad is not None for value in grad.values]
            headroom = arguments.get("headroom", 2.0)
            if not all(map(math.isfinite, [*values, headroom])):
                continue
            needed = product(arguments["grads"], headroom)
            for exponent in range(-24, 25):
                distance = abs(needed * Fraction(2) ** exponent / 65504 - 1)
                assert distance == 0 or distance > Fraction(1, 10**10), case.name


def test_the_scale_that_it_names_survives_a_layer_and_the_next_does_not():
    weight = torch.nn.Parameter(torch.zeros(3))
    gradient = torch.tensor([0.5, -3.0, 1e-6])
    scale = SOLUTION([gradient], headroom=1.0)
    for factor, survives in ((1, True), (2, False)):
        weight.grad = None
        ((weight.half().float() * gradient).sum() * scale * factor).backward()
        assert bool(weight.grad.isfinite().all()) is survives


NO_END_AT_ALL = """
import math
import torch

def largest_safe_scale(grads, headroom=2.0):
    if not 1 <= headroom < math.inf:
        raise ValueError("headroom")
    kept = [grad for grad in grads if grad is not None and grad.numel()]
    if not all(torch.isfinite(grad).all() for grad in kept):
        raise ValueError("not finite")
    largest = max((grad.abs().max().item() for grad in kept), default=0.0)
    if largest == 0:
        return 2.0**24
"""
BY_LOGARITHM = """
    return 2.0 ** math.floor(math.log2(65504 / (largest * headroom)))
"""
BY_DOUBLING = """
    scale = 1.0
    while largest * headroom * scale * 2 <= 65504:
        scale *= 2
    while largest * headroom * scale > 65504:
        scale /= 2
    return scale
"""


def test_an_answer_without_an_end_on_either_side_holds_one_belief_on_each():
    known = recorded.load(EXERCISE)
    assert known is not None
    answers = {"logarithm": NO_END_AT_ALL + BY_LOGARITHM, "doubling": NO_END_AT_ALL + BY_DOUBLING}
    with Trials() as trials:
        verdicts = trials.run(live_plan(EXERCISE, Seed(PUBLIC), live_reference("cpu")), answers)
    for verdict in verdicts.values():
        assert recognize(EXERCISE, known[1], verdict.pattern) == {
            "within_the_range": "the_range_has_no_end",
            "refuses_what_no_scale_fits": "there_is_always_a_smaller_scale",
        }
