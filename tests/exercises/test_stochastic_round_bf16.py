"""The reference solution against whole numbers, PyTorch's neighbors, and the law that it is right on average."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import catalog, recorded
from autograder.checks import pattern, patterns, tensor
from autograder.grading import grade_function
from autograder.models import Case, Outcome, Tensor
from autograder.observations import observe
from autograder.reference import oracle
from autograder.reference.expectations import load_function

EXERCISE = catalog.load("stochastic_round_bf16")
PYTORCH = oracle.load(EXERCISE)
SOLUTION = load_function(EXERCISE.solution, EXERCISE.entry, "solution")


def run(function, bits: list[int], random: list[int]) -> Tensor:
    """Return what a function makes of the numbers with these bits, as plain values."""
    arguments = {"x": patterns(bits), "r": tensor(random, "int32")}
    outcome = observe(function, Case("", (arguments,))).outcomes[0]
    assert outcome.raised is None, outcome.raised
    return outcome.returned


def float32_of(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def by_definition(bits: int, random: int) -> int | None:
    """Return the 16 bits of the result, None for a nan."""
    exponent, fraction = bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 255:
        return None if fraction else bits >> 16
    sign, size = bits >> 31, bits & 0x7FFFFFFF
    return sign << 15 | size + random >> 16


BORDERS = [0, 1, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0x3F800000, 0x3FFFFFFF, 0x7F7F0000, 0x7F7FFFFF, 0x7F800000,
           0x7F800001, 0x7FC00000, 0x7FFFFFFF]  # fmt: skip
words = st.one_of(
    st.integers(0, 2**32 - 1),
    st.sampled_from([*BORDERS, *(value | 0x80000000 for value in BORDERS)]),
)
draws = st.one_of(st.integers(0, 65535), st.sampled_from([0, 1, 0x7FFF, 0x8000, 0xFFFF]))
pairs = st.lists(st.tuples(words, draws), max_size=8)


@given(pairs)
@settings(max_examples=400)
def test_every_bit_is_that_of_the_definition(drawn: list[tuple[int, int]]):
    result = run(SOLUTION, [bits for bits, _ in drawn], [random for _, random in drawn])
    assert (result.dtype, result.shape) == ("bfloat16", (len(drawn),))
    for value, (bits, random) in zip(result.values, drawn, strict=True):
        due = by_definition(bits, random)
        assert math.isnan(value) if due is None else pattern(value, "bfloat16") == due


@given(pairs)
def test_solution_and_pytorchs_neighbors_agree(drawn: list[tuple[int, int]]):
    bits, random = [bits for bits, _ in drawn], [random for _, random in drawn]
    assert PYTORCH.coincides({"x": patterns(bits), "r": tensor(random, "int32")})
    assert PYTORCH.agrees(run(SOLUTION, bits, random), run(PYTORCH.pytorch, bits, random)) is None


def test_the_oracle_notices_a_difference():
    want = run(PYTORCH.pytorch, [0x80000001, 0x3F808000], [0, 0x8000])
    assert repr(want.values) == "(-0.0, 1.0078125)"
    assert "element 0" in PYTORCH.agrees(tensor([0.0, 1.0078125], "bfloat16"), want)
    assert "element 1" in PYTORCH.agrees(tensor([-0.0, 1.0], "bfloat16"), want)
    assert PYTORCH.agrees(tensor([-0.0, 1.0078125], "float32"), want) is not None


ALL = torch.arange(65536, dtype=torch.int32)
NUMBERS = [0x3F800001, 0x3F804000, 0x3F80FFFF, 0xBF812345, 0x00000001, 0x0001ABCD, 0x807FFFFF, 0x3FFF8000, 0x7F7EFFFF]


@pytest.mark.parametrize("bits", NUMBERS, ids=hex)
def test_over_all_random_numbers_the_mean_is_exactly_x(bits: int):
    x = torch.tensor([bits - (bits >> 31 << 32)], dtype=torch.int32).view(torch.float32)
    results = SOLUTION(x.expand(65536), ALL).double()
    # Two neighbors, and how often each came: exact in whole numbers and fractions.
    values, counts = results.unique(return_counts=True)
    total = sum(Fraction(value) * count for value, count in zip(values.tolist(), counts.tolist(), strict=True))
    assert total / 65536 == Fraction(x.item())
    assert len(values) == 2


@pytest.mark.parametrize("high", [0x0000, 0x0001, 0x3F80, 0x7F7F, 0x8000, 0xC2C8, 0xFF7F], ids=hex)
def test_what_bfloat16_has_stays_for_every_random_number(high: int):
    word = high << 16
    x = torch.tensor([word - (word >> 31 << 32)], dtype=torch.int32).view(torch.float32)
    results = SOLUTION(x.expand(65536), ALL)
    assert results.view(torch.int16).unique().tolist() == [high - (high >> 15 << 16)]


def test_every_nan_and_inf_of_a_sample_is_kept():
    fractions = torch.cat([torch.arange(2**16), torch.arange(0, 2**23, 4093)]).to(torch.int32)
    for sign in (0, -(2**31)):
        x = (fractions | 0x7F800000 | sign).view(torch.float32)
        for random in (0, 1, 0xFFFF):
            rounded = SOLUTION(x, torch.full_like(fractions, random))
            assert torch.equal(rounded.isnan(), x.isnan())
            assert torch.equal(rounded.isinf(), x.isinf())


def test_naive_rounding_of_a_nan_gives_a_zero_or_an_inf():
    """What the statement and the hints say of rounding without a look at nan."""
    x = torch.tensor([0x7FFFFFFF, 0x7F800001], dtype=torch.int32)
    naive = ((x + torch.tensor([1, 0], dtype=torch.int32)) & -65536).view(torch.float32)
    assert repr(naive.tolist()) == "[-0.0, inf]"


def test_small_updates_arrive_on_average_where_rounding_to_nearest_stands_still():
    generator = torch.Generator().manual_seed(2018)
    nearest = stochastic = torch.ones(4096).bfloat16()
    for _ in range(500):
        nearest = (nearest.float() + 2.0**-12).bfloat16()
        draw = torch.randint(0, 65536, (4096,), generator=generator, dtype=torch.int32)
        stochastic = SOLUTION(stochastic.float() + 2.0**-12, draw)
    assert nearest.unique().tolist() == [1.0]
    # 500 updates of 2**-12; the mean over 4096 weights is off by a few standard errors at most.
    assert stochastic.double().mean().item() == pytest.approx(1 + 500 * 2.0**-12, abs=3e-3)


def verdict(check_id: str, name: str, values: list[float], dtype: str = "bfloat16") -> str | None:
    """Return what a check says about these values on its case of that name."""
    check = EXERCISE.check(check_id)
    (case,) = [case for case in check.cases if case.name == name]
    want = observe(SOLUTION, case, check.scenario)
    returned = tensor(values, dtype)
    got = type(want)((Outcome(returned=returned, after=want.outcomes[0].after, later=returned),))
    found = check.judge(case, got, want)
    return found and found.difference


def test_a_message_shows_the_sum_and_its_upper_half():
    found = verdict("carries", "a half, and just enough", [1.0])
    assert found == (
        "element 0 is 1.0 (0x3f80), not 1.0078125 (0x3f81): "
        "0x3f808000 + 0x8000 = 0x3f810000, whose upper half is 0x3f81"
    )
    assert "0x7fffffff is a nan, and stays one" in verdict(
        "keeps_inf_and_nan", "a nan with all bits set, which a GPU makes", [-0.0]
    )


def test_the_mean_is_asked_for_and_not_which_of_them_round_up():
    up, down = [1.0078125] * 64, [1.0] * 192
    assert verdict("right_on_average", "a quarter of the way", up + down) is None
    assert verdict("right_on_average", "a quarter of the way", down + up, "float32") is None
    assert "65 of them rounded up, and 64 have to" in verdict(
        "right_on_average", "a quarter of the way", [1.0078125] * 65 + [1.0] * 191
    )


def test_the_sign_of_a_zero_counts_in_one_check_only():
    assert verdict("rounds_magnitudes", "minus zero", [0.0]) is not None
    assert verdict("rounds_magnitudes", "minus zero", [-0.0]) is None
    assert verdict("exact_numbers_stay", "one, and a half", [1.0]) is None


def test_right_values_in_float32_cost_the_form_alone():
    assert "dtype float32" in verdict("form", "one element", [1.0], "float32")
    assert verdict("exact_numbers_stay", "one, and a half", [1.0], "float32") is None


def casts(x, r):
    return (x.view(torch.int32) + r).view(torch.float32).to(torch.bfloat16)


def compares(x, r):
    bits = x.view(torch.int32)
    up = (bits & 0xFFFF) > r
    return torch.where(up, (bits & -65536) + 65536, bits & -65536).view(torch.float32).bfloat16()


@pytest.mark.parametrize(("function", "belief"), [(casts, "cast_cuts_off"), (compares, "any_fair_draw_will_do")])
def test_the_mistake_is_named_at_every_check_although_nan_is_forgotten(function, belief: str):
    expectations, patterns = recorded.load(EXERCISE)
    score = grade_function(EXERCISE, expectations, patterns, function)
    assert {result.misconception for result in score.checks if result.status != "passed"} == {belief}
