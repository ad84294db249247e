# caught by leaves_inputs_alone: function_keeps_count
from __future__ import annotations

import torch
from torch import Tensor


GROWTH_INTERVAL = 2
_COUNTER = {"good": 0}


def grad_scaler_step(
    grads: list[Tensor],
    scale: float,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    counter: dict[str, int] = _COUNTER,
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    if not all(torch.isfinite(g).all() for g in unscaled):
        counter["good"] = 0
        return None, scale * backoff_factor
    counter["good"] += 1
    if counter["good"] < GROWTH_INTERVAL:
        return unscaled, scale
    counter["good"] = 0
    return unscaled, scale * growth_factor
