# caught by uses_the_factors: scales_are_powers_of_two
from __future__ import annotations

import math


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    exponent = round(math.log2(init_scale))
    run = 0
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(2.0**exponent)
        if overflow:
            skipped.append(step)
            exponent += round(math.log2(backoff_factor))
            run = 0
        else:
            run += 1
            if run == growth_interval:
                exponent += round(math.log2(growth_factor))
                run = 0
    return {"scales": scales, "skipped": skipped, "final_scale": 2.0**exponent}
