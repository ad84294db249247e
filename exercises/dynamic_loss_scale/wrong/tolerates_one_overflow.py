# caught by backs_off: one_overflow_is_noise
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale = float(init_scale)
    run, patience = 0, 2
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
            run = 0
            patience -= 1
            if patience == 0:
                scale *= backoff_factor
                patience = 2
        else:
            patience = 2
            run += 1
            if run == growth_interval:
                scale *= growth_factor
                run = 0
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
