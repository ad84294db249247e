# right: divmod by the gap, then the remainder against half a gap
from __future__ import annotations

import math


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    if math.isnan(x):
        return 0x7C01
    sign = 0 if math.copysign(1.0, x) > 0 else 1 << 15
    size = min(abs(x), 65536.0)
    exponent = -14
    while exponent < 15 and size >= 2.0 ** (exponent + 1):
        exponent += 1
    gap = 2.0 ** (exponent - 10)
    steps, rest = divmod(size, gap)
    if rest > gap / 2 or (rest == gap / 2 and steps % 2):
        steps += 1
    return sign + min(int(steps) + 1024 * (exponent + 14), 0x7C00)
