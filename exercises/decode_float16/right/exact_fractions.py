# right: adds exact fractions, bit by bit, and makes a float at the end
from __future__ import annotations

import math
from fractions import Fraction


def decode_float16(bits: int) -> float:
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError(f"bits must be an int, not {type(bits).__name__}")
    if not 0 <= bits <= 0xFFFF:
        raise ValueError(f"bits must be from 0 to 65535, not {bits}")
    field = bits >> 10 & 31
    if field == 31:
        return math.nan if bits & 1023 else (-math.inf if bits >> 15 else math.inf)
    total = Fraction(int(field > 0))
    for place in range(1, 11):
        if bits >> (10 - place) & 1:
            total += Fraction(1, 2**place)
    size = float(total * Fraction(2) ** (max(field, 1) - 15))
    return -size if bits >> 15 else size
