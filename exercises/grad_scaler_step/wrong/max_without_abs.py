# caught by skips_on_inf: largest_shows_overflow
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    for g in unscaled:
        if g.numel() > 0 and not torch.isfinite(g.max()):
            return None, scale * backoff_factor
    return unscaled, scale * growth_factor
