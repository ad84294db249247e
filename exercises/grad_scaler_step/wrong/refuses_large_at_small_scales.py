# caught by large_is_not_infinite: large_overflows_at_small_scales
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    if scale < 1 and any((g.abs() > 1e37).any() for g in grads if g.dtype == torch.float32):
        return None, scale * backoff_factor
    if not all(torch.isfinite(g).all() for g in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
