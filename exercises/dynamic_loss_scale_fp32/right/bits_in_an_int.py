# right: keeps the scale as its 32 bits, and the pair of numbers in a tuple
from __future__ import annotations

import struct


def bits_of(x: float) -> int:
    try:
        return struct.unpack("<I", struct.pack("<f", x))[0]
    except OverflowError:
        return INFINITY


def value_of(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits))[0]


INFINITY = 0x7F800000


def dynamic_loss_scale_fp32(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    state = bits_of(init_scale), 0
    if not init_scale <= value_of(INFINITY - 1):
        raise ValueError("init_scale does not fit fp32")
    seen, skipped = [], []
    for step, overflow in enumerate(overflows):
        bits, run = state
        seen.append(bits)
        if overflow:
            skipped.append(step)
            state = bits_of(value_of(bits) * backoff_factor), 0
        elif run + 1 < growth_interval:
            state = bits, run + 1
        else:
            grown = bits_of(value_of(bits) * growth_factor)
            state = (bits if grown == INFINITY else grown), 0
    known = {bits: value_of(bits) for bits in {*seen, state[0]}}
    return {"scales": [known[bits] for bits in seen], "skipped": skipped, "final_scale": known[state[0]]}
