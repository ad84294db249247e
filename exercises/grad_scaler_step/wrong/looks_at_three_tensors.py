# caught by looks_everywhere: first_tensor_is_enough
# like first_tensor_only: a sample of several tensors, which only a longer list shows to be one
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    if not all(torch.isfinite(g).all() for g in unscaled[:3]):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
