"""The reference solution against struct, NumPy and PyTorch on every pattern, and what each check must see."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy
import pytest
import torch

from autograder import catalog
from autograder.models import CheckResult
from autograder.observations import observe
from autograder.reference import oracle
from autograder.reference.expectations import load_function

EXERCISE = catalog.load("decode_float16")
PYTORCH = oracle.load(EXERCISE)
SOLUTION = load_function(EXERCISE.solution, EXERCISE.entry, "solution")
PATTERNS = range(65536)


def doubles(values) -> list[int]:
    """Return the bits of each float, all nans being one: a sign of zero counts, a nan's payload does not."""
    return [struct.unpack("<Q", struct.pack("<d", math.nan if x != x else x))[0] for x in values]


def by_struct() -> list[float]:
    return list(struct.unpack("<65536e", struct.pack("<65536H", *PATTERNS)))


def by_numpy() -> list[float]:
    return [float(x) for x in numpy.arange(65536, dtype=numpy.uint16).view(numpy.float16)]


def by_torch() -> list[float]:
    signed = torch.arange(65536, dtype=torch.int32).to(torch.int16)  # keeps the low 16 bits
    return signed.view(torch.float16).tolist()


@pytest.mark.parametrize("others", [by_struct, by_numpy, by_torch])
def test_every_pattern_is_decoded_as_others_do(others) -> None:
    assert doubles(SOLUTION(bits) for bits in PATTERNS) == doubles(others())


def test_the_values_are_exact_by_rational_arithmetic() -> None:
    for bits in range(0x7C00):
        exponent, fraction = divmod(bits, 1024)
        lead = Fraction(fraction, 1024) + (exponent > 0)
        assert Fraction(SOLUTION(bits)) == lead * Fraction(2) ** (max(exponent, 1) - 15)


def test_neighbors_have_neighboring_patterns() -> None:
    finite = [SOLUTION(bits) for bits in range(0x7C01)]
    assert finite == sorted(set(finite))
    assert finite[-2:] == [65504.0, math.inf]
    assert (finite[1], finite[1024]) == (2.0**-24, 2.0**-14)


def test_how_many_are_nan() -> None:
    assert sum(math.isnan(SOLUTION(bits)) for bits in PATTERNS) == 2046


@pytest.mark.parametrize(
    "value", [True, False, 1.0, "1", b"1", None, [1], Fraction(1), numpy.float16(1), torch.ones(())]
)
def test_what_is_no_int_is_refused(value) -> None:
    with pytest.raises(TypeError):
        SOLUTION(value)


@pytest.mark.parametrize("value", [-1, 65536, -65536, 2**31, 2**80, -(2**80)])
def test_what_needs_more_bits_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="from 0 to 65535"):
        SOLUTION(value)


def test_the_statement_s_examples() -> None:
    lines = EXERCISE.statement.splitlines()
    calls = [(line[4:], lines[i + 1]) for i, line in enumerate(lines) if line.startswith(">>> ")]
    assert len(calls) == 6
    for call, shown in calls:
        assert repr(eval(call, {"decode_float16": SOLUTION})) == shown


# ------------------------------------------------------------------- what checks see


def verdict(check_id: str, function) -> CheckResult:
    from autograder.checks import judge_check

    check = EXERCISE.check(check_id)
    tried = [(c, observe(function, c, check.scenario), observe(SOLUTION, c, check.scenario)) for c in check.cases]
    return judge_check(check, EXERCISE.entry, tried)[0]


def but_for(patterns, value):
    """Return the solution with another value at some patterns."""
    return lambda bits: value if bits in patterns else SOLUTION(bits)


def test_one_wrong_pattern_of_65536_is_found_and_named() -> None:
    for bits in (0x0000, 0x03A7, 0x4D2E, 0x7BFF, 0x7C00, 0x8000, 0xB001, 0xFFFF):
        result = verdict("every_pattern", but_for([bits], 7.5))
        assert (result.status, result.call, result.returned) == ("failed", f"decode_float16(bits={bits})", "7.5")
        assert f"0x{bits:04x} is " in result.message


def test_the_message_of_a_pattern_shows_its_fields() -> None:
    message = verdict("every_pattern", but_for([0x3C01], 1.25)).difference
    assert message == (
        "0x3c01 is 0 01111 0000000001: exponent field 15, fraction field 1, which stands for "
        "(1 + 1/1024) * 2**0 = 1.0009765625, not 1.25."
    )
    assert "-1/1024 * 2**-14 = -5.960464477539063e-08, not 0.0" in verdict("subnormals", but_for([0x8001], 0.0)).message
    assert "which stands for inf, not 65504.0" in verdict("infinities", but_for([0x7C00], 65504.0)).message


def test_an_int_is_a_value_but_no_float() -> None:
    ints = but_for([0x3C00], 1)
    assert verdict("normals", ints).status == "passed"
    assert "every result is a float" in verdict("every_pattern", ints).message


def test_the_sign_is_judged_apart_from_the_size() -> None:
    assert verdict("negatives", lambda bits: 3 * SOLUTION(bits)).status == "passed"
    assert verdict("normals", lambda bits: 3 * SOLUTION(bits)).status == "failed"
    assert verdict("negatives", abs_of).call.count("\n") == 1
    for useless in (lambda bits: 0.0, lambda bits: math.nan, lambda bits: "x", lambda bits: -SOLUTION(bits)):
        assert verdict("negatives", useless).status == "failed"


def abs_of(bits: int) -> float:
    return abs(SOLUTION(bits))


def test_the_sign_of_zero_is_judged_in_two_places_only() -> None:
    unsigned = but_for([0x8000], 0.0)
    lost = [check.id for check in EXERCISE.checks if check.cases and verdict(check.id, unsigned).status != "passed"]
    assert lost == ["zeros", "every_pattern"]
    assert "the int 0 has no sign" in verdict("zeros", but_for([0x8000], 0)).message


@pytest.mark.parametrize("value", [None, "nan", True, [1.0], {"x": 1.0}, 10**30, (1.0,)])
def test_no_answer_makes_a_check_raise(value) -> None:
    for check in EXERCISE.checks:
        assert verdict(check.id, lambda bits: value).status == "failed"


# -------------------------------------------------------------------------- PyTorch


def a_pattern_as_an_int() -> None:
    with pytest.raises(RuntimeError):
        torch.tensor(0x8000, dtype=torch.int16)
    assert torch.tensor(-32768, dtype=torch.int16).view(torch.float16).item() == SOLUTION(0x8000) == 0.0


def arguments_that_are_no_pattern() -> None:
    for bits, value in ((65536, 0.0), (True, 2.0**-24)):
        assert not PYTORCH.coincides({"bits": bits})
        assert PYTORCH.pytorch(bits) == value
        with pytest.raises((TypeError, ValueError)):
            SOLUTION(bits)


EXPERIMENTS = {
    "A pattern as an int": a_pattern_as_an_int,
    "Arguments that are no pattern": arguments_that_are_no_pattern,
}


@pytest.mark.parametrize("title", [title for title, _ in PYTORCH.differences])
def test_every_difference_that_is_documented_is_so(title: str) -> None:
    EXPERIMENTS[title]()


def test_the_oracle_tells_the_signs_of_zeros_apart() -> None:
    assert PYTORCH.agrees([0.0, -0.0, math.nan, 1.5], PYTORCH.pytorch([0x0000, 0x8000, 0x7C01, 0x3E00])) is None
    assert PYTORCH.agrees(0.0, PYTORCH.pytorch(0x8000)) is not None
    assert PYTORCH.agrees([1.0], PYTORCH.pytorch([0x3C01])) is not None
