# caught by refuses_other_numbers: callers_know_what_they_pass
from __future__ import annotations

import math


def decode_float16(bits: int) -> float:
    sign = -1.0 if bits >> 15 else 1.0
    exponent = bits >> 10 & 0x1F
    fraction = bits & 0x3FF
    if exponent == 31:
        return sign * math.inf if fraction == 0 else math.nan
    if exponent == 0:
        return sign * math.ldexp(fraction, -24)
    return sign * math.ldexp(1024 + fraction, exponent - 25)
