# caught by large_is_not_infinite: sum_shows_overflow
from __future__ import annotations

from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    total = sum(float(g.sum()) for g in unscaled)
    if total - total != 0:
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
