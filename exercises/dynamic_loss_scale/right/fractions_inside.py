# right: computes with exact fractions and makes floats at the end
from __future__ import annotations

from fractions import Fraction


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale, run = Fraction(init_scale), 0
    growth, backoff = Fraction(growth_factor), Fraction(backoff_factor)
    scales, skipped = [], []
    used = float(scale)
    for step, overflow in enumerate(overflows):
        scales.append(used)
        run += 1
        if overflow:
            skipped.append(step)
            scale, run = scale * backoff, 0
        elif run == growth_interval:
            scale, run = scale * growth, 0
        else:
            continue
        used = float(scale)
    return {"scales": scales, "skipped": skipped, "final_scale": used}
