# right: searches the patterns, which are in the order of their numbers
from __future__ import annotations

import math


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    sign = 0x8000 if math.copysign(1.0, x) < 0 else 0
    if math.isnan(x):
        return sign | 0x7E01
    size = abs(x)
    low, high = 0, 0x7C00
    while low < high:  # the first pattern whose upper border is not below
        middle = (low + high) // 2
        border = (number(middle) + number(middle + 1)) / 2
        if size < border or (size == border and middle % 2 == 0):
            high = middle
        else:
            low = middle + 1
    return sign | low


def number(pattern: int) -> float:
    field, fraction = divmod(pattern, 1024)
    return math.ldexp(fraction + 1024 * (field > 0), max(field, 1) - 25)
