# caught by large_is_not_infinite: sum_shows_overflow
# like sum_of_sums: a sum in float64 is safe for float32 gradients, and fails for float64 ones only
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    # float64, so that the sum cannot overflow
    if not all(torch.isfinite(g.double().sum()) for g in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
