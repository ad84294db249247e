# caught by grows_when_clean: a_tensor_of_one_is_a_number
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    new_scale = torch.tensor([float(scale)], dtype=torch.float64)
    unscaled = [g / scale for g in grads]
    if not all(torch.isfinite(g).all() for g in unscaled):
        return None, new_scale * backoff_factor
    return unscaled, new_scale * growth_factor
