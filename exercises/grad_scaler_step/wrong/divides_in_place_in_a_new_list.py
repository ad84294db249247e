# caught by leaves_inputs_alone: in_place_is_fine
# like divides_in_place: a new list of the caller's own tensors, each divided where it lies
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = []
    for g in grads:
        g /= scale
        unscaled.append(g)
    if not all(torch.isfinite(g).all() for g in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
