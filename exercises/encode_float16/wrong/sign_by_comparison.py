# caught by signs: minus_zero_is_below_zero
from __future__ import annotations

import math


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    if math.isnan(x):
        return 0x7E00
    sign = 0x8000 if x < 0 else 0
    size = abs(x)
    if size >= 65520.0:
        return sign | 0x7C00
    exponent = math.frexp(max(size, 2.0**-14))[1] - 1
    steps = round(math.ldexp(size, 10 - exponent))
    return sign | (((exponent + 14) << 10) + steps)
