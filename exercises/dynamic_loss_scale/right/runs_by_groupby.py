# right: groups the flags into runs and extends the list a run at a time
from __future__ import annotations

from itertools import groupby


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale, step = float(init_scale), 0
    scales: list[float] = []
    skipped: list[int] = []
    for bad, group in groupby(overflows, key=bool):
        length = len(list(group))
        if bad:
            skipped.extend(range(step, step + length))
            for _ in range(length):
                scales.append(scale)
                scale *= backoff_factor
        else:
            growths, rest = divmod(length, growth_interval)
            for _ in range(growths):
                scales.extend([scale] * growth_interval)
                scale *= growth_factor
            scales.extend([scale] * rest)
        step += length
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
