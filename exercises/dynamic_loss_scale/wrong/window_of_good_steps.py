# caught by growth_restarts_the_run: a_full_run_stays_full
# like grows_at_every_step_from_then_on: the run is a window of the last flags, which is never emptied
from __future__ import annotations

from collections import deque


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale = float(init_scale)
    window = deque(maxlen=growth_interval)
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        window.append(bool(overflow))
        if overflow:
            skipped.append(step)
            scale *= backoff_factor
            window.clear()
        elif len(window) == growth_interval:
            scale *= growth_factor
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
