# caught by pure: cleared_is_new
from __future__ import annotations


scales: list[float] = []
skipped: list[int] = []


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scales.clear()
    skipped.clear()
    scale = float(init_scale)
    run = 0
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
            scale *= backoff_factor
            run = 0
        else:
            run += 1
            if run == growth_interval:
                scale *= growth_factor
                run = 0
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
