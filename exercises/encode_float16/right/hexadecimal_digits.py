# right: reads the double's own digits out of float.hex
from __future__ import annotations


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    text = x.hex()
    sign = 0x8000 if text.startswith("-") else 0
    text = text.removeprefix("-")
    if text == "nan":
        return 0x7E00
    if text == "inf":
        return sign | 0x7C00
    digits, _, power = text.removeprefix("0x").partition("p")
    whole, _, rest = digits.partition(".")
    number, down = int(whole + rest, 16), 4 * len(rest) - int(power)  # x is number / 2**down
    if not number:
        return sign
    exponent = max(number.bit_length() - 1 - down, -14)
    if exponent > 15:
        return sign | 0x7C00
    shift = down + exponent - 10  # how many bits are below the last that is kept
    if shift <= 0:
        steps = number << -shift
    else:
        steps, cut = number >> shift, number & ((1 << shift) - 1)
        half = 1 << (shift - 1)
        steps += cut > half or (cut == half and steps & 1)
    return sign | (((exponent + 14) << 10) + steps)
