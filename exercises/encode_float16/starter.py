from __future__ import annotations


def encode_float16(x: float) -> int:
    """Return the 16 bits of the half-precision number (IEEE 754 fp16) that is nearest to a Python float.

    Args:
        x: any float (64 bits): normal or subnormal, a zero of either sign, an infinity, a nan.

    Returns:
        The pattern, from 0 to 65535: 1 bit sign, 5 bits exponent field, 10 bits fraction field. x is rounded once, to
        the nearest half; halfway between two, to the one with the even pattern. From 65520 on it is infinity. The sign
        is that of x, also where the rest is zero; for a nan any pattern of a nan will do.

    Raises:
        TypeError: ``x`` is not a float; an int or a bool is none.
    """
    raise NotImplementedError("Write encode_float16, then run this cell again")
