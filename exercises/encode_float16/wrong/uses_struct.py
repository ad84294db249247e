# caught by forbids: a_library_may_do_it
from __future__ import annotations

import struct


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    try:
        return struct.unpack("<H", struct.pack("<e", x))[0]
    except OverflowError:
        return 0x7C00 if x > 0 else 0xFC00
