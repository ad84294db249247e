# right: writes a hexadecimal float and lets Python read it
from __future__ import annotations


def decode_float16(bits: int) -> float:
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError("bits must be an int")
    if bits < 0 or bits > 65535:
        raise ValueError("bits must be from 0 to 65535")
    sign = "-" if bits & 0x8000 else ""
    field, fraction = divmod(bits & 0x7FFF, 1024)
    if field == 31:
        return float(sign + ("nan" if fraction else "inf"))
    return float.fromhex(f"{sign}0x{int(field > 0)}.{fraction << 2:03x}p{max(field, 1) - 15}")
