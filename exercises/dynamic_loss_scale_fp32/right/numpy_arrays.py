# right: returns NumPy arrays of float32
from __future__ import annotations

import numpy as np


def dynamic_loss_scale_fp32(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    if not init_scale <= 3.4028234663852886e38:
        raise ValueError("init_scale does not fit fp32")
    scale = single(init_scale)
    run = 0
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
            scale = single(float(scale) * backoff_factor)
            run = 0
        else:
            run += 1
            if run == growth_interval:
                grown = single(float(scale) * growth_factor)
                scale = grown if np.isfinite(grown) else scale
                run = 0
    used, steps = np.array(scales, dtype=np.float32), np.array(skipped, dtype=np.int64)
    return {"scales": used, "skipped": steps, "final_scale": scale}


def single(x: float) -> np.float32:
    with np.errstate(all="ignore"):
        return np.float32(float(x))
