# right: keeps the scale in float32, as PyTorch does
from __future__ import annotations

import numpy as np


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale = np.float32(init_scale)
    run = 0
    scales, skipped = np.empty(len(overflows), dtype=np.float32), []
    for step, overflow in enumerate(overflows):
        scales[step] = scale
        if overflow:
            skipped.append(step)
        run = 0 if overflow else run + 1
        factor = backoff_factor if overflow else growth_factor if run == growth_interval else 1.0
        run %= growth_interval
        scale = np.float32(float(scale) * factor)
    return {"scales": scales, "skipped": np.array(skipped), "final_scale": scale}
