from __future__ import annotations


def decode_float16(bits: int) -> float:
    """Return the number that a pattern of 16 bits stands for in IEEE 754 half precision (fp16).

    Args:
        bits: the pattern, from 0 to 65535. From the highest bit down: 1 bit sign, 5 bits exponent field e, 10 bits
            fraction field f.

    Returns:
        The exact number, as a float. With s = 1 for a sign bit of 0 and s = -1 for a sign bit of 1:

        e from 1 to 30: s * (1 + f / 1024) * 2 ** (e - 15)
        e = 0:          s * (f / 1024) * 2 ** -14, which for f = 0 is 0.0 or -0.0
        e = 31:         s * infinity for f = 0, and nan for any other f

    Raises:
        TypeError: ``bits`` is not an int, or it is a bool.
        ValueError: ``bits`` is below 0 or above 65535.
    """
    raise NotImplementedError("Write decode_float16, then run this cell again")
