# caught by every_pattern: range_includes_its_end
from __future__ import annotations

import math


def decode_float16(bits: int) -> float:
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError(f"bits must be an int, not {type(bits).__name__}")
    if not 0 <= bits <= 0xFFFF:
        raise ValueError(f"bits must be from 0 to 65535, not {bits}")
    values = [math.ldexp(fraction, -24) for fraction in range(1024)]
    for exponent in range(1, 31):
        values += [math.ldexp(1024 + fraction, exponent - 25) for fraction in range(1023)]
        values.append(values[-1])  # the last of each is filled in
    sign = -1.0 if bits >> 15 else 1.0
    size = bits & 0x7FFF
    if size < 0x7C00:
        return sign * values[size]
    return sign * math.inf if size == 0x7C00 else math.nan
