# caught by keeps_structure: one_gradient_is_enough
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    for g in grads:
        if not torch.isfinite(g / scale).all():
            return None, scale * backoff_factor
    return grads[0] / scale, scale * growth_factor
