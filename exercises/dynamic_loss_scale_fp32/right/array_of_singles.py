# right: an array of fp32 that holds all scales
from __future__ import annotations

import math
from array import array


def dynamic_loss_scale_fp32(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scales = array("f", [init_scale])
    if not init_scale <= 2.0**128 - 2.0**104:
        raise ValueError("init_scale does not fit fp32")
    skipped: list[int] = []
    run = 0
    for step, overflow in enumerate(overflows):
        if overflow:
            skipped.append(step)
            run = 0
            scales.append(scales[-1] * backoff_factor)
            continue
        run = (run + 1) % growth_interval
        scales.append(scales[-1] * growth_factor if run == 0 else scales[-1])
        if math.isinf(scales[-1]):
            scales[-1] = scales[-2]
    *used, final = scales
    return {"scales": used, "skipped": skipped, "final_scale": final}
