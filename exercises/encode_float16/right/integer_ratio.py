# right: whole numbers only, out of as_integer_ratio
from __future__ import annotations

import math


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    if x != x:
        return 32256
    sign = 32768 * (math.copysign(1.0, x) < 0)
    if abs(x) >= 65520:
        return sign + 31744
    top, bottom = abs(x).as_integer_ratio()
    top <<= 24  # in the smallest steps
    shift = max(0, (top // bottom).bit_length() - 11)
    bottom <<= shift
    steps, rest = divmod(top, bottom)
    if 2 * rest > bottom or (2 * rest == bottom and steps % 2 == 1):
        steps += 1
    return sign + 1024 * shift + steps
