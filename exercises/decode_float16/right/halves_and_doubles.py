# right: doubles or halves step by step, without any power
from __future__ import annotations

import math


def decode_float16(bits: int) -> float:
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError(f"bits must be an int, not {type(bits).__name__}")
    if not 0 <= bits <= 0xFFFF:
        raise ValueError(f"bits must be from 0 to 65535, not {bits}")
    field, value = bits >> 10 & 31, float(bits & 1023)
    if field == 31:
        value = math.inf if value == 0 else math.nan
    elif field:
        value += 1024.0
    for _ in range(max(field, 1), 25):
        value /= 2
    for _ in range(25, field):
        value *= 2
    return -value if bits & 0x8000 else value
