# caught by product_in_double: factors_are_fp32
# like factors_in_fp32: struct rounds both factors at the start, and refuses one that fp32 cannot hold
from __future__ import annotations

import math
import struct


def dynamic_loss_scale_fp32(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    if not init_scale <= 3.4028234663852886e38:
        raise ValueError("init_scale does not fit fp32")
    growth_factor, backoff_factor = (
        struct.unpack("<f", struct.pack("<f", x))[0] for x in (growth_factor, backoff_factor)
    )
    scale = single(init_scale)
    run = 0
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
            scale = single(scale * backoff_factor)
            run = 0
        else:
            run += 1
            if run == growth_interval:
                grown = single(scale * growth_factor)
                scale = grown if math.isfinite(grown) else scale
                run = 0
    return {"scales": scales, "skipped": skipped, "final_scale": scale}


def single(x: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.inf
