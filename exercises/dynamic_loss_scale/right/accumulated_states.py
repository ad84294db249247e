# right: a fold over (scale, run) states by accumulate; compress picks the skipped steps
from __future__ import annotations

from itertools import accumulate, compress, count


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    def update(state: tuple[float, int], overflow: bool) -> tuple[float, int]:
        scale, run = state
        if overflow:
            return scale * backoff_factor, 0
        return (scale * growth_factor, 0) if run + 1 == growth_interval else (scale, run + 1)

    states = accumulate(overflows, update, initial=(float(init_scale), 0))
    *scales, final_scale = [scale for scale, _ in states]
    skipped = list(compress(count(), overflows))
    return {"scales": scales, "skipped": skipped, "final_scale": final_scale}
