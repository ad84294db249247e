# right: keeps the scale as a numpy.float64, and the steps as numpy.int64
from __future__ import annotations

import numpy as np


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale = np.float64(init_scale)
    remaining = growth_interval
    scales, skipped = [], []
    for step, overflow in zip(np.arange(len(overflows)), overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
            scale, remaining = scale * backoff_factor, growth_interval
            continue
        remaining -= 1
        if not remaining:
            scale, remaining = scale * growth_factor, growth_interval
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
