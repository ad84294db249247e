# right: a queue that collects good steps, emptied when it is full or when a step overflows
from __future__ import annotations

from collections import deque


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    good: deque[int] = deque()
    scale = float(init_scale)
    scales, skipped = deque(), deque()
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
            scale *= backoff_factor
            good.clear()
            continue
        good.append(step)
        if len(good) == growth_interval:
            scale *= growth_factor
            good.clear()
    return {"scales": list(scales), "skipped": list(skipped), "final_scale": scale}
