"""Bit patterns and gaps against torch and NumPy, over every pattern of the small formats."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.floats import pattern, ulp

SMALL = {"float16": torch.float16, "bfloat16": torch.bfloat16}


@pytest.mark.parametrize("dtype", sorted(SMALL))
def test_every_pattern_of_sixteen_bits_is_found_again(dtype: str):
    bits = torch.arange(2**16, dtype=torch.int32)
    values = bits.to(torch.int16).view(SMALL[dtype]).double().tolist()
    wrong = [n for n, value in enumerate(values) if not math.isnan(value) and pattern(value, dtype) != n]
    assert wrong == []
    nans = {pattern(value, dtype) for value in values if math.isnan(value)}
    assert nans == {0x7E00 if dtype == "float16" else 0x7FC0}


@given(st.floats(allow_nan=False))
def test_wide_patterns_are_numpys(value: float):
    assert pattern(value, "float64") == numpy.array(value).view(numpy.uint64).item()
    with numpy.errstate(over="ignore"):
        single = numpy.float32(value)
    assert pattern(float(single), "float32") == numpy.array(single).view(numpy.uint32).item()


def test_signs_of_zero_and_of_nan():
    assert pattern(0.0, "float16") == 0
    assert pattern(-0.0, "bfloat16") == 0x8000
    assert pattern(math.nan, "float32") == pattern(math.copysign(math.nan, -1.0), "float32") == 0x7FC00000


@pytest.mark.parametrize(
    ("value", "dtype"), [(0.1, "float16"), (1 + 2.0**-8, "bfloat16"), (0.1, "float32"), (1e5, "float16")]
)
def test_a_number_that_the_dtype_does_not_have_is_refused(value: float, dtype: str):
    with pytest.raises(ValueError, match=f"is not a {dtype}"):
        pattern(value, dtype)


@pytest.mark.parametrize("dtype", sorted(SMALL))
def test_ulp_is_the_distance_to_the_next_pattern(dtype: str):
    bits = torch.arange(0x7FFF, dtype=torch.int32).to(torch.int16)
    values = [value for value in bits.view(SMALL[dtype]).double().tolist() if math.isfinite(value)]
    for value, above in pairwise(values):
        assert ulp(value, dtype) == ulp(-value, dtype) == above - value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_wide_ulps_are_pythons_and_numpys(value: float):
    assert ulp(value, "float64") == math.ulp(value)
    if abs(value) < 3e38:
        single = numpy.float32(value)
        assert ulp(float(single), "float32") == abs(float(numpy.spacing(single)))


def test_ulp_of_what_is_not_finite():
    assert ulp(-math.inf, "float32") == math.inf
    assert math.isnan(ulp(math.nan, "float16"))
