# caught by grows_when_clean: zero_means_lost
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    for g in unscaled:
        underflowed = (g == 0).any()
        if underflowed or not torch.isfinite(g).all():
            return None, scale * backoff_factor
    return unscaled, scale * growth_factor
