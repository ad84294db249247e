# right: vectorized: distances from the last overflow, then cumulative counts; returns arrays
from __future__ import annotations

import numpy as np


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    bad = np.array(overflows, dtype=bool)
    steps = np.arange(len(bad))
    last_bad = np.maximum.accumulate(np.where(bad, steps, -1)) if len(bad) else steps
    run = steps - last_bad
    grows = ~bad & (run % growth_interval == 0)
    growths = np.concatenate([[0], np.cumsum(grows)])
    backoffs = np.concatenate([[0], np.cumsum(bad)])
    start, growth, backoff = np.log2([init_scale, growth_factor, backoff_factor])
    trace = 2.0 ** (start + growth * growths + backoff * backoffs)
    return {"scales": trace[:-1], "skipped": np.flatnonzero(bad), "final_scale": trace[-1]}
