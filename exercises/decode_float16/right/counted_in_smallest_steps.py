# right: counts steps of 2**-24 in an integer, and scales once
from __future__ import annotations

import math


def decode_float16(bits: int) -> float:
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError(f"bits must be an int, not {type(bits).__name__}")
    if not 0 <= bits <= 0xFFFF:
        raise ValueError(f"bits must be from 0 to 65535, not {bits}")
    field, fraction = divmod(bits & 0x7FFF, 1024)
    steps = fraction if field == 0 else (1024 | fraction) << (field - 1)
    size = steps * 2.0**-24
    if field == 31:
        size = math.inf if fraction == 0 else math.nan
    return math.copysign(size, -1.0 if bits & 0x8000 else 1.0)
