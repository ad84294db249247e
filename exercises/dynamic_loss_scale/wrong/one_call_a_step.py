# caught by one_pass: recursion_is_a_loop
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scales, skipped = [], []

    def go(step, scale, run):
        if step == len(overflows):
            return scale
        scales.append(scale)
        if overflows[step]:
            skipped.append(step)
            return go(step + 1, scale * backoff_factor, 0)
        if run + 1 == growth_interval:
            return go(step + 1, scale * growth_factor, 0)
        return go(step + 1, scale, run + 1)

    return {"scales": scales, "skipped": skipped, "final_scale": go(0, float(init_scale), 0)}
