# caught by grows_at_the_interval: interval_must_be_exceeded
# like one_step_late: only the first growth comes late, because the step that grows counts for the next run
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
            skipped.append(step)
            scale *= backoff_factor
            run = 0
        else:
            if run == growth_interval:
                scale *= growth_factor
                run = 0
            run += 1
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
