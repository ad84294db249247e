# caught by ties: or_is_as_good_as_plus
from __future__ import annotations

import math


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    if math.isnan(x):
        return 0x7E00
    sign = 0x8000 if math.copysign(1.0, x) < 0 else 0
    size = abs(x)
    if size >= 65520.0:
        return sign | 0x7C00
    exponent = math.frexp(max(size, 2.0**-14))[1] - 1
    if size < 2.0**-14:
        return sign | round(size / 2.0**-24)
    fraction = round((size / 2.0**exponent - 1) * 1024)
    return sign | ((exponent + 15) << 10) | fraction
