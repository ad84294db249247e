# caught by one_pass: fast_when_short
# like adds_lists: it reads the skipped steps again, which is slow only where there are many
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale = float(init_scale)
    run = 0
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            if step not in skipped:
                skipped.append(step)
            scale *= backoff_factor
            run = 0
        else:
            run += 1
            if run == growth_interval:
                scale *= growth_factor
                run = 0
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
