# right: calls itself for the negative half
from __future__ import annotations

import math


def decode_float16(bits: int) -> float:
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError(f"bits must be an int, not {type(bits).__name__}")
    if not 0 <= bits <= 0xFFFF:
        raise ValueError(f"bits must be from 0 to 65535, not {bits}")
    if bits & 0x8000:
        return -decode_float16(bits ^ 0x8000)
    if bits > 0x7C00:
        return math.nan
    if bits == 0x7C00:
        return math.inf
    if bits < 0x800:  # up to twice the smallest normal number the gaps are the same
        return bits / 2**24
    return 2 * decode_float16(bits - 0x400)
