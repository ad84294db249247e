# caught by unscales: new_scale_unscales
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    if not all(torch.isfinite(g / scale).all() for g in grads):
        return None, scale * backoff_factor
    scale *= growth_factor
    return [g / scale for g in grads], scale
