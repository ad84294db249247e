"""How floating-point numbers are stored: their bit patterns, and the gaps between them; standard library only."""

from __future__ import annotations

import math
import struct
from typing import Final

from autograder.values import rounded

_FORMATS: Final = {
    "float16": ("<e", "<H", 10, -14),
    "bfloat16": ("<f", "<I", 7, -126),
    "float32": ("<f", "<I", 23, -126),
    "float64": ("<d", "<Q", 52, -1022),
}
"""Codes of struct for the number and for its bits, fraction bits, exponent of the smallest normal number."""


def ulp(value: float, dtype: str) -> float:
    """Return the unit in the last place at a number: the gap between neighbors of that dtype in its binade.

    At zero and at subnormal numbers it is the smallest subnormal number; at inf and nan it is the value's magnitude.

    Raises:
        KeyError: no floating-point dtype of that name.
    """
    _, _, fraction, smallest = _FORMATS[dtype]
    if not math.isfinite(value):
        return abs(value)
    exponent = math.frexp(value)[1] - 1 if value else smallest
    return math.ldexp(1.0, max(exponent, smallest) - fraction)


def pattern(value: float, dtype: str) -> int:
    """Return the bits of the number as a whole number without sign; of a nan those of the usual one.

    Raises:
        KeyError: no floating-point dtype of that name.
        ValueError: the dtype does not have this number.
    """
    number, bits, _, _ = _FORMATS[dtype]
    if math.isnan(value):
        value = math.nan  # whose payload is the same everywhere, and whose sign bit is 0
    elif rounded(value, dtype) != value:
        raise ValueError(f"{value!r} is not a {dtype}")
    (whole,) = struct.unpack(bits, struct.pack(number, value))
    return int(whole) >> (16 if dtype == "bfloat16" else 0)
