# caught by looks_everywhere: any_finite_is_enough
# like any_in_place_of_all: it also takes an empty tensor, in which any() finds nothing, for an overflow
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    if all(torch.isfinite(g).any() for g in unscaled):
        return unscaled, scale * growth_factor
    return None, scale * backoff_factor
