"""The reference solution against exact rational arithmetic, struct, NumPy and PyTorch, and what each check must see."""

from __future__ import annotations

import math
import struct
from bisect import bisect_left
from fractions import Fraction

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import catalog
from autograder.checks import judge_check
from autograder.models import CheckResult
from autograder.observations import observe
from autograder.reference import oracle
from autograder.reference.expectations import load_function

EXERCISE = catalog.load("encode_float16")
PYTORCH = oracle.load(EXERCISE)
SOLUTION = load_function(EXERCISE.solution, EXERCISE.entry, "solution")
HALVES = [Fraction(x) for x in struct.unpack("<31744e", struct.pack("<31744H", *range(0x7C00)))] + [Fraction(65536)]
"""Every positive half, exactly, and the number that comes next, where infinity stands."""


def by_fractions(x: float) -> int:
    """Return the nearest pattern by the definition alone: compare exact distances, take the even one of two."""
    sign = 0x8000 if math.copysign(1.0, x) < 0 else 0
    size = HALVES[-1] if math.isinf(x) else min(abs(Fraction(x)), HALVES[-1])
    above = bisect_left(HALVES, size)
    candidates = [above] if above == 0 else [above - 1, above]
    return sign | min(candidates, key=lambda pattern: (abs(HALVES[pattern] - size), pattern % 2))


def by_struct(x: float) -> int:
    try:
        return struct.unpack("<H", struct.pack("<e", x))[0]
    except OverflowError:
        return 0x7C00 if x > 0 else 0xFC00


def by_numpy(x: float) -> int:
    with numpy.errstate(all="ignore"):
        return int(numpy.float64(x).astype(numpy.float16).view(numpy.uint16))


def float_of(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def near_a_middle(pattern: int, steps: int) -> float:
    """Return the float so many floats away from the middle after a pattern's half."""
    middle = float((HALVES[pattern] + HALVES[pattern + 1]) / 2)
    (bits,) = struct.unpack("<Q", struct.pack("<d", middle))
    return float_of(bits + steps)


any_float = st.integers(0, 2**64 - 1).map(float_of).filter(lambda x: not math.isnan(x))
in_range = st.builds(math.ldexp, st.floats(-2, 2), st.integers(-27, 16))
by_a_middle = st.builds(near_a_middle, st.integers(0, 0x7BFF), st.integers(-3, 3))


@settings(max_examples=500)
@given(st.one_of(any_float, in_range, by_a_middle))
def test_it_is_the_nearest_half_by_exact_arithmetic(x: float) -> None:
    assert SOLUTION(x) == by_fractions(x)


def test_at_every_border_between_two_halves() -> None:
    for pattern in range(0x7C00):
        below, middle, above = (near_a_middle(pattern, steps) for steps in (-1, 0, 1))
        assert [SOLUTION(x) for x in (below, middle, above)] == [pattern, pattern + pattern % 2, pattern + 1]
        assert [SOLUTION(-x) for x in (below, above)] == [0x8000 + pattern, 0x8001 + pattern]


@pytest.mark.parametrize("others", [by_struct, by_numpy])
def test_struct_and_numpy_round_once_too(others) -> None:
    for pattern in range(0x7C00):
        for steps in (-1, 0, 1):
            x = near_a_middle(pattern, steps)
            assert SOLUTION(x) == others(x)
    for x in (0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1e308, -1e308, math.inf, -math.inf):
        assert SOLUTION(x) == others(x) == by_fractions(x)


def test_every_pattern_but_nans_comes_back() -> None:
    halves = struct.unpack("<65536e", struct.pack("<65536H", *range(65536)))
    assert [SOLUTION(x) for x in halves if x == x] == [bits for bits, x in enumerate(halves) if x == x]
    assert all(SOLUTION(x) & 0x7FFF > 0x7C00 for x in halves if x != x)


@given(st.floats(width=32, allow_nan=False))
def test_pytorch_agrees_where_fp32_holds_the_number(x: float) -> None:
    assert PYTORCH.coincides({"x": x})
    assert PYTORCH.agrees(SOLUTION(x), PYTORCH.pytorch(x)) is None


@pytest.mark.parametrize("value", [1, 0, True, "1.0", None, [1.0], Fraction(1), 1j, numpy.float32(1), torch.ones(())])
def test_what_is_no_float_is_refused(value) -> None:
    with pytest.raises(TypeError):
        SOLUTION(value)


def test_the_statement_s_examples() -> None:
    lines = EXERCISE.statement.splitlines()
    calls = [(line[4:], lines[i + 1]) for i, line in enumerate(lines) if line.startswith(">>> ")]
    assert len(calls) == 5
    for call, shown in calls:
        assert repr(eval(call, {"encode_float16": SOLUTION})) == shown
    assert 1.0004882812509095 == 1 + 2.0**-11 + 2.0**-40


# -------------------------------------------------------------------------- PyTorch


def doubles_that_are_no_singles() -> None:
    x = 1 + 2.0**-11 + 2.0**-40
    assert (SOLUTION(x), PYTORCH.pytorch(x)) == (0x3C01, 0x3C00)
    assert by_struct(x) == by_numpy(x) == 0x3C01


def above_half_of_the_smallest() -> None:
    x = math.nextafter(2.0**-25, 1.0)
    assert (SOLUTION(x), PYTORCH.pytorch(x)) == (1, 0)


def just_below_infinity() -> None:
    x = math.nextafter(65520.0, 0.0)
    assert (SOLUTION(x), PYTORCH.pytorch(x)) == (0x7BFF, 0x7C00)


def other_types() -> None:
    assert PYTORCH.pytorch(1) == PYTORCH.pytorch(True) == 0x3C00
    assert not PYTORCH.coincides({"x": 1})


EXPERIMENTS = {
    "Doubles that are no fp32 numbers": doubles_that_are_no_singles,
    "Just above half of the smallest half": above_half_of_the_smallest,
    "Just below infinity": just_below_infinity,
    "Other types": other_types,
}


@pytest.mark.parametrize("title", [title for title, _ in PYTORCH.differences])
def test_every_difference_that_is_documented_is_so(title: str) -> None:
    EXPERIMENTS[title]()


# ------------------------------------------------------------------- what checks see


def verdict(check_id: str, function) -> CheckResult:
    check = EXERCISE.check(check_id)
    tried = [(c, observe(function, c, check.scenario), observe(SOLUTION, c, check.scenario)) for c in check.cases]
    return judge_check(check, EXERCISE.entry, tried)[0]


def lost(function) -> list[str]:
    return [check.id for check in EXERCISE.checks if verdict(check.id, function).status != "passed"]


def answer(name: str):
    source = next(known.source for known in EXERCISE.wrong if known.name == name)
    return load_function(source, EXERCISE.entry, name)


def test_who_goes_through_fp32_loses_what_depends_on_it_and_no_more() -> None:
    assert lost(answer("through_single")) == ["once", "subnormals", "overflow"]


def test_who_takes_ties_another_way_loses_what_has_ties_and_no_more() -> None:
    for name in ("half_up", "half_down"):
        assert {"ties"} <= set(lost(answer(name))) <= {"ties", "subnormals", "overflow"}


def test_the_sign_is_judged_apart_from_the_rest() -> None:
    assert lost(answer("ignores_the_sign")) == ["signs"]
    assert lost(lambda x: SOLUTION(x) ^ 1 if isinstance(x, float) else SOLUTION(x)).count("signs") == 0


def test_messages_say_where_the_number_lies() -> None:
    tie = verdict("ties", lambda x: 0x3C01).difference
    assert tie == (
        "1.00048828125 lies between 0x3c00 (1) and 0x3c01 (1.0009765625), exactly in the middle, and 0x3c00 is the "
        "even pattern; it returned 0x3c01."
    )
    assert "a little beside the middle, and nearer to the second" in verdict("once", lambda x: 0x3C00).difference
    assert "From 65520 on it is infinity" in verdict("overflow", lambda x: 0x7BFF).difference
    assert "that is 0x4000 (2), exactly" in verdict("exact", lambda x: 0x3C00).difference.lower()
    assert "1000000, which is no pattern of 16 bits" in verdict("exact", lambda x: 1_000_000).difference


def test_any_nan_is_a_nan_and_infinity_is_none() -> None:
    for pattern in (0x7C01, 0x7E00, 0x7FFF, 0xFC01, 0xFFFF):
        assert verdict("nan", lambda x, p=pattern: p).status == "passed"
    for pattern in (0x7C00, 0xFC00, 0, 0x7BFF, 0x17E00, -1, 32256.0, None):
        assert verdict("nan", lambda x, p=pattern: p).status == "failed"


@pytest.mark.parametrize("value", [None, "0x3c00", True, 1.5, math.nan, [1], 10**30, -(10**30), {"x": 1}])
def test_no_answer_makes_a_check_raise(value) -> None:
    for check in EXERCISE.checks:
        assert verdict(check.id, lambda x: value).status == "failed"
