# right: walks up from zero once, one gap at a time, and looks up
from __future__ import annotations

import math


def positive() -> list[float]:
    values, value = [], 0.0
    for pattern in range(0x7C00):
        values.append(value)
        value += 2.0 ** (max(pattern >> 10, 1) - 25)
    return [*values, math.inf, *[math.nan] * 1023]


TABLE = positive()
TABLE += [-value for value in TABLE]


def decode_float16(bits: int) -> float:
    if type(bits) is not int:
        raise TypeError("bits must be an int")
    if not 0 <= bits < len(TABLE):
        raise ValueError("bits must be from 0 to 65535")
    return TABLE[bits]
