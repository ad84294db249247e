# caught by large_is_not_infinite: sum_shows_overflow
# like sum_of_sums: this one adds in float32 across tensors too, so it fails on more inputs
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    total = torch.zeros(())
    for g in unscaled:
        total = total + g.sum().float()
    if not torch.isfinite(total):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
