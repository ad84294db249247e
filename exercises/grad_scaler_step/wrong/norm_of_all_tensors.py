# caught by large_is_not_infinite: norm_shows_overflow
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    total_norm = sum((g**2).sum().item() for g in unscaled) ** 0.5
    if not torch.isfinite(torch.tensor(total_norm)):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
