# caught by large_is_not_infinite: sum_shows_overflow
# like sum_of_sums: the sum is a tensor, but for an empty list, whose sum() is the int 0
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    if not torch.isfinite(sum(g.sum() for g in unscaled)):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
