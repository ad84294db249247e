# caught by unscales: reciprocal_fits_half
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    inv_scale = torch.tensor(1.0 / scale, dtype=torch.float16)
    unscaled = [g * inv_scale.to(g.dtype) for g in grads]
    if not all(torch.isfinite(g).all() for g in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
