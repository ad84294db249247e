# right: an exact fraction over the gap, rounded by Python
from __future__ import annotations

import math
from fractions import Fraction


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    sign = 0x8000 if math.copysign(1.0, x) < 0 else 0
    if math.isnan(x):
        return sign | 0x7FFF
    if abs(x) >= 65520:
        return sign | 0x7C00
    size, binade = abs(Fraction(x)), 0
    while size >= Fraction(2) ** (binade - 13):
        binade += 1
    return sign | ((binade << 10) + round(size / Fraction(2) ** (binade - 24)))
