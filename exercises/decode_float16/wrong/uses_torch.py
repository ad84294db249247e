# caught by forbids: a_library_may_do_it
# like uses_struct: torch's half, behind an import that is a call
from __future__ import annotations


def decode_float16(bits: int) -> float:
    half = __import__("torch")
    return half.tensor([bits - 65536 * (bits >> 15)], dtype=half.int16).view(half.float16).item()
