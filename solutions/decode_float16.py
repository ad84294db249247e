from __future__ import annotations

import math

BIAS = 15
"""What the exponent's field has in excess of the exponent."""
FRACTION_BITS = 10


def decode_float16(bits: int) -> float:
    """Return the number that a pattern of 16 bits stands for in IEEE 754 half precision.

    The result is exact: every half is a float. Raises TypeError unless ``bits`` is an int (a bool is none), and
    ValueError outside 0..65535.
    """
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError(f"bits must be an int, not {type(bits).__name__}")
    if not 0 <= bits <= 0xFFFF:
        raise ValueError(f"bits must be from 0 to 65535, not {bits}")
    sign = -1.0 if bits >> 15 else 1.0
    exponent = bits >> FRACTION_BITS & 0x1F
    fraction = bits & 0x3FF

    if exponent == 0x1F:
        return sign * math.inf if fraction == 0 else math.nan
    if exponent == 0:
        # Subnormal: no leading one, and the exponent of the smallest normal numbers, so that the gaps go on evenly.
        return sign * math.ldexp(fraction, 1 - BIAS - FRACTION_BITS)
    # A whole number of 1024ths, so that nothing is rounded on the way.
    return sign * math.ldexp(1024 + fraction, exponent - BIAS - FRACTION_BITS)
