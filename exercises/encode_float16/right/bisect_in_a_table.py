# right: bisects a table of all positive halves, infinity taken as 65536
from __future__ import annotations

import bisect
import math

TABLE = [math.ldexp(f + 1024 * (e > 0), max(e, 1) - 25) for e in range(31) for f in range(1024)] + [65536.0]


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    sign = 0x8000 if math.copysign(1.0, x) < 0 else 0
    size = abs(x)
    if math.isnan(size):
        return 0x7E00
    above = bisect.bisect_left(TABLE, size)
    if above == len(TABLE):
        return sign | 0x7C00
    if TABLE[above] == size or above == 0:
        return sign | above
    up, down = TABLE[above] - size, size - TABLE[above - 1]
    return sign | (above if up < down or (up == down and above % 2 == 0) else above - 1)
