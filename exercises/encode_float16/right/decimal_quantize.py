# right: Python's decimals, exact, with ROUND_HALF_EVEN
from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    sign = 0x8000 if math.copysign(1.0, x) < 0 else 0
    match x:
        case _ if math.isnan(x):
            return sign | 0x7E00
        case _ if abs(x) >= 65520.0:
            return sign | 0x7C00
    exponent = max(math.frexp(x)[1], -13) if x else -13
    steps = Decimal(math.ldexp(abs(x), 11 - exponent)).to_integral_value(ROUND_HALF_EVEN)
    return sign | (1024 * (exponent + 13) + int(steps))
