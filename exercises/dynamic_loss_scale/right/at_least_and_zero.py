# right: a while loop over indices; counts, compares with >=, zeroes
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scales, skipped = [], []
    scale, good, step = float(init_scale), 0, 0
    while step < len(overflows):
        scales.append(scale)
        good = 0 if overflows[step] else good + 1
        if overflows[step]:
            skipped.append(step)
            scale = scale * backoff_factor
        elif good >= growth_interval:
            scale, good = scale * growth_factor, 0
        step += 1
    return dict(scales=scales, skipped=skipped, final_scale=scale)
