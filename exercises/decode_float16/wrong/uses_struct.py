# caught by forbids: a_library_may_do_it
from __future__ import annotations

import struct


def decode_float16(bits: int) -> float:
    if type(bits) is not int:
        raise TypeError("bits must be an int")
    if not 0 <= bits <= 0xFFFF:
        raise ValueError("bits must be from 0 to 65535")
    return struct.unpack("<e", struct.pack("<H", bits))[0]
