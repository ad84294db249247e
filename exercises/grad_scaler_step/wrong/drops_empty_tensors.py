# caught by keeps_structure: empty_tensors_do_not_count
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = []
    for g in grads:
        if g.numel() == 0:
            continue
        u = g / scale
        if not torch.isfinite(u).all():
            return None, scale * backoff_factor
        unscaled.append(u)
    return unscaled, scale * growth_factor
