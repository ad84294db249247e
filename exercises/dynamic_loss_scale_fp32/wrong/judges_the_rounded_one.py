# caught by refuses_beyond_fp32: what_rounds_down_fits
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
    scale = single(init_scale)
    if not math.isfinite(scale):
        raise ValueError("init_scale does not fit fp32")
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
