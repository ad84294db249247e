# caught by leaves_inputs_alone: in_place_is_fine
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    for g in grads:
        g.div_(scale)
    if not all(torch.isfinite(g).all() for g in grads):
        return None, scale * backoff_factor
    return grads, scale * growth_factor
