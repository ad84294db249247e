from __future__ import annotations

import math

OVERFLOW = 65520.0
"""Halfway from the largest half, 65504, to the 65536 that would come next: the tie, and all above it, is infinity."""
LOWEST_EXPONENT = -14
"""Of the smallest normal numbers; subnormal ones have the same gap."""


def encode_float16(x: float) -> int:
    """Return the pattern of the half nearest to x, ties to even: IEEE 754 half precision, rounded once.

    From 65520 on it is infinity; a nan gives a nan. Raises TypeError unless x is a float.
    """
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    sign = 0x8000 if math.copysign(1.0, x) < 0 else 0  # x < 0 would miss -0.0
    size = abs(x)
    if math.isnan(size):
        return 0x7E00
    if size >= OVERFLOW:
        return sign | 0x7C00

    # frexp's fraction is at least 1/2 and below 1, so its exponent is one above ours. (Of zero it is 0, which is why
    # the smallest normal number stands in for all that is smaller.)
    exponent = math.frexp(max(size, 2.0**LOWEST_EXPONENT))[1] - 1
    # Ten bits below the exponent is the gap between halves. Multiplying by a power of two is exact here, so that
    # round(), which takes ties to even, is the only rounding.
    steps = round(math.ldexp(size, 10 - exponent))
    # A normal number has from 1024 to 2048 steps: its leading one carries into the exponent's field by itself, and so
    # does a fraction that was rounded up to a whole.
    return sign | ((exponent - LOWEST_EXPONENT) << 10) + steps
