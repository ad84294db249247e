# caught by looks_everywhere: last_tensor_decides
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = []
    overflow = False
    for g in grads:
        u = g / scale
        overflow = not torch.isfinite(u).all()
        unscaled.append(u)
    if overflow:
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
