"""The reference solution against what fp16 is by definition, and against PyTorch's own backward pass."""

from __future__ import annotations

import math
import struct
from collections import Counter
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import catalog, recorded
from autograder.checks import f32, tensor
from autograder.grading import grade_function
from autograder.models import Case, Tensor
from autograder.observations import observe
from autograder.reference import oracle
from autograder.reference.expectations import load_function

EXERCISE = catalog.load("underflow_report")
PYTORCH = oracle.load(EXERCISE)
SOLUTION = load_function(EXERCISE.solution, EXERCISE.entry, "solution")


def run(function, **arguments):
    """Return what a function returns on plain arguments, as plain values."""
    outcome = observe(function, Case("", (arguments,))).outcomes[0]
    assert outcome.raised is None, outcome.raised
    return outcome.returned


def float32_of(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def kind_by_definition(product: float) -> str:
    """Return the class of a float32, by the borders of fp16 as exact fractions."""
    if math.isinf(product):
        return "overflowed"
    size = abs(Fraction(product))
    if size <= Fraction(1, 2**25):
        return "zeroed"
    if size < Fraction(1, 2**14) - Fraction(1, 2**25):
        return "subnormal"
    return "normal" if size < 65520 else "overflowed"


def by_definition(grads: list[Tensor | None], scale: float) -> dict[str, int | float]:
    single = struct.unpack("<f", struct.pack("<f", scale))[0]
    found: Counter[str] = Counter()
    for grad in grads:
        for value in grad.values if grad is not None else ():
            if value and math.isfinite(value):
                # The product of two float32 numbers is exact in a double, and struct rounds it once.
                try:
                    product = struct.unpack("<f", struct.pack("<f", value * single))[0]
                except OverflowError:
                    product = math.inf
                found[kind_by_definition(product)] += 1
    kinds = {name: found[name] for name in ("zeroed", "subnormal", "normal", "overflowed")}
    return {"total": found.total(), **kinds, "fraction_zeroed": found["zeroed"] / max(found.total(), 1)}


# Every bit pattern, and the borders of fp16 with their neighbors on top.
BORDERS = [2.0**-25, 2.0**-24, 2.0**-14 - 2.0**-25, 2.0**-14, 65504.0, 65520.0, 65536.0]
NEAR = [border * (1 + step * 2.0**-23) for border in BORDERS for step in (-2, -1, 0, 1, 2)]
elements = st.one_of(
    st.integers(0, 2**32 - 1).map(float32_of),
    st.sampled_from([*NEAR, *(-value for value in NEAR)]),
    st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-8, 3e-8, 3e38, 2.0**-149]),
)
dtypes = st.sampled_from(["float32", "float16", "bfloat16"])
gradients = st.one_of(
    st.none(),
    st.lists(elements, max_size=6).map(lambda values: f32(*values)),
    st.tuples(st.lists(elements, max_size=4), dtypes).map(lambda pair: tensor(*pair)),
    elements.map(tensor),
)
scales = st.one_of(
    st.integers(-30, 40).map(lambda exponent: 2.0**exponent), st.floats(2.0**-30, 2.0**40), st.integers(1, 10**6)
)


@given(st.lists(gradients, max_size=4), scales)
@settings(max_examples=400)
def test_solution_is_what_fp16_is_by_definition(grads: list[Tensor | None], scale: float):
    assert repr(run(SOLUTION, grads=grads, scale=scale)) == repr(by_definition(grads, scale))


@given(st.lists(gradients, max_size=3), scales)
def test_solution_and_pytorchs_backward_agree(grads: list[Tensor | None], scale: float):
    arguments = {"grads": grads, "scale": scale}
    assert PYTORCH.coincides(arguments)
    assert PYTORCH.agrees(run(SOLUTION, **arguments), run(PYTORCH.pytorch, **arguments)) is None


def test_the_oracle_notices_a_difference():
    arguments = {"grads": [f32(1e-8, 3e-8)], "scale": 1.0}
    want = run(PYTORCH.pytorch, **arguments)
    assert want == {"total": 2, "zeroed": 1, "subnormal": 1, "normal": 0, "overflowed": 0, "fraction_zeroed": 0.5}
    assert "zeroed" in PYTORCH.agrees({**want, "zeroed": 2}, want)


def test_every_pattern_of_fp16_is_of_its_own_class():
    values = torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(torch.float16)
    report = SOLUTION([values], 1.0)
    # 2 signs; 1023 fractions of exponent 0; 30 exponents of 1024 fractions; the rest is zero, inf or nan
    assert report == {
        "total": 2 * (1023 + 30 * 1024), "zeroed": 0, "subnormal": 2 * 1023, "normal": 2 * 30 * 1024, "overflowed": 0,
        "fraction_zeroed": 0.0,
    }  # fmt: skip


@pytest.mark.parametrize("exponent", [-20, -1, 0, 7, 16, 30])
def test_counts_add_up_and_move_with_the_scale(exponent: int):
    generator = torch.Generator().manual_seed(2018)
    values = torch.exp2(torch.rand(100_000, generator=generator) * 60 - 45)
    report = SOLUTION([values], 2.0**exponent)
    kinds = [report[name] for name in ("zeroed", "subnormal", "normal", "overflowed")]
    assert sum(kinds) == report["total"] == len(values)
    sizes = values.double() * 2.0**exponent
    borders = [0, 2.0**-25, 2.0**-14 - 2.0**-25, 65520.0]
    assert kinds[0] == int((sizes <= borders[1]).sum())
    assert kinds[1] == int(((sizes > borders[1]) & (sizes < borders[2])).sum())
    assert kinds[3] == int((sizes >= borders[3]).sum())


def test_a_product_in_double_precision_is_another_question():
    """Where this happens the statement says that it is not tried; here is that it can happen at all."""
    gradient = float32_of(0x32FFFFFF)  # just below 2**-25
    scale = 1 + 2.0**-23
    exact = Fraction(gradient) * Fraction(scale)
    assert exact > Fraction(1, 2**25)
    assert run(SOLUTION, grads=[f32(gradient)], scale=scale)["zeroed"] == 1
    doubled = torch.tensor(gradient * scale, dtype=torch.float64)
    assert doubled.item() > 2.0**-25


@pytest.mark.parametrize("check", EXERCISE.checks, ids=lambda check: check.id)
def test_no_case_hangs_on_the_precision_of_the_product(check):
    for case in check.cases:
        for arguments in case.calls:
            for grad in arguments["grads"]:
                for value in grad.values if grad is not None else ():
                    if value and math.isfinite(value):
                        exact = value * arguments["scale"]
                        single = struct.unpack("<f", struct.pack("<f", exact))[0] if exact < 3e38 else math.inf
                        assert kind_by_definition(single) == kind_by_definition(exact), case.name


def test_the_gradients_of_a_model_are_what_the_exercise_takes():
    layer = torch.nn.Linear(3, 2)
    layer.bias.requires_grad_(False)
    (layer(torch.ones(1, 3)) * torch.tensor([1.0, 0.0])).sum().backward()
    grads = [parameter.grad for parameter in layer.parameters()]
    assert grads[1] is None
    assert SOLUTION(grads, 2.0**-26)["total"] == 3
    assert SOLUTION(grads, 2.0**-26)["fraction_zeroed"] == 1.0


def two_mistakes(grads, scale):
    """The cut-off at 2**-24, and counts that are tensors."""
    kept = [g[torch.isfinite(g) & (g != 0)].float() for g in grads if g is not None]
    product = torch.cat([torch.zeros(0), *kept]) * scale
    size = product.half().abs()
    zeroed, total = (product.abs() < 2**-24).sum(), torch.tensor(len(product))
    subnormal, overflowed = ((product.abs() >= 2**-24) & (size < 2**-14)).sum(), torch.isinf(size).sum()
    return {
        "total": total, "zeroed": zeroed, "subnormal": subnormal, "normal": total - zeroed - subnormal - overflowed,
        "overflowed": overflowed, "fraction_zeroed": zeroed / total if total else 0.0,
    }  # fmt: skip


def test_the_cut_off_is_named_although_the_counts_are_tensors_too():
    expectations, patterns = recorded.load(EXERCISE)
    found = {result.id: result for result in grade_function(EXERCISE, expectations, patterns, two_mistakes).checks}
    assert found["cut_off"].misconception == "smallest_is_the_cut_off"
    assert found["scales_before_rounding"].misconception == "smallest_is_the_cut_off"
    assert found["form"].status == "failed"
    assert found["form"].misconception != "smallest_is_the_cut_off"
    assert {result.misconception for result in found.values()} <= {
        "", "smallest_is_the_cut_off", "a_tensor_of_one_is_an_int", "class_of_the_unrounded"
    }  # fmt: skip
