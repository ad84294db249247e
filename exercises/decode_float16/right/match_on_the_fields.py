# right: a match statement over the two fields
from __future__ import annotations

import math


def decode_float16(bits: int) -> float:
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError(f"bits must be an int, not {type(bits).__name__}")
    if not 0 <= bits <= 0xFFFF:
        raise ValueError(f"bits must be from 0 to 65535, not {bits}")
    match bits >> 10 & 31, bits & 1023:
        case 31, 0:
            size = math.inf
        case 31, _:
            size = math.nan
        case 0, fraction:
            size = fraction * 2.0**-24
        case field, fraction:
            size = math.ldexp(1 + fraction / 1024, field - 15)
    return -size if bits >= 0x8000 else size
