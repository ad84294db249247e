# right: cuts a string of sixteen characters
from __future__ import annotations


def decode_float16(bits: int) -> float:
    if type(bits) is not int:
        raise TypeError("bits must be an int")
    if bits not in range(65536):
        raise ValueError("bits must have 16 bits")
    text = f"{bits:016b}"
    sign, exponent, fraction = text[0], text[1:6], text[6:]
    if exponent == "11111":
        size = float("nan") if "1" in fraction else float("inf")
    else:
        lead = "0" if exponent == "00000" else "1"
        size = int(lead + fraction, 2) * 2.0 ** (max(int(exponent, 2), 1) - 25)
    return -size if sign == "1" else size
