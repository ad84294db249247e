# right: adds and takes off a large number, so that the hardware rounds
from __future__ import annotations

import math


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    sign = 0x8000 if str(x).startswith("-") else 0
    if x != x:
        return 0xFFFF
    size = abs(x)
    if size >= 65520:
        return sign | 0x7C00
    exponent = math.frexp(max(size, 2**-14))[1] - 1
    magic = math.ldexp(1.5, exponent - 10 + 52)  # its last bit is the gap between halves
    kept = (size + magic) - magic
    return sign | (((exponent + 14) << 10) + int(math.ldexp(kept, 10 - exponent)))
