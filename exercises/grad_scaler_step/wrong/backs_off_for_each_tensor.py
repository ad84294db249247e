# caught by backs_off_once: each_bad_tensor_backs_off
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = []
    overflow = False
    new_scale = scale
    for g in grads:
        u = g / scale
        if not torch.isfinite(u).all():
            overflow = True
            new_scale *= backoff_factor
        unscaled.append(u)
    if overflow:
        return None, new_scale
    return unscaled, scale * growth_factor
