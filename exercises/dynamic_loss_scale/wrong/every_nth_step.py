# caught by overflow_restarts_the_run: interval_is_a_clock
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale = float(init_scale)
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
            scale *= backoff_factor
        elif (step + 1) % growth_interval == 0:
            scale *= growth_factor
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
