# caught by large_is_not_infinite: fp16_limit_applies
from __future__ import annotations

from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    if not all((g.abs() <= 65504).all() for g in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
