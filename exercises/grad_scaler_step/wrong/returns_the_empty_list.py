# caught by leaves_inputs_alone: empty_lists_are_all_alike
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    if not grads:
        return grads, scale * growth_factor
    unscaled = [g / scale for g in grads]
    if not all(torch.isfinite(g).all() for g in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
