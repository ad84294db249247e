# caught by normals: ten_ones_are_a_whole
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
    if exponent == 0:
        return sign * fraction / 1023 * 2.0**-14
    return sign * (1 + fraction / 1023) * 2.0 ** (exponent - 15)
