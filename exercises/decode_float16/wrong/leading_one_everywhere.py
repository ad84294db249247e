# caught by subnormals: there_is_always_a_leading_one
from __future__ import annotations

import math


def decode_float16(bits: int) -> float:
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError(f"bits must be an int, not {type(bits).__name__}")
    if not 0 <= bits <= 0xFFFF:
        raise ValueError(f"bits must be from 0 to 65535, not {bits}")
    sign = -1.0 if bits >> 15 else 1.0
    exponent = bits >> 10 & 0x1F
    fraction = bits & 0x3FF
    if exponent == 31:
        return sign * math.inf if fraction == 0 else math.nan
    if bits & 0x7FFF == 0:
        return sign * 0.0
    return sign * math.ldexp(1024 + fraction, exponent - 25)
