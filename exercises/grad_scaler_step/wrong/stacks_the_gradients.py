# caught by keeps_structure: one_tensor_is_handier
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = torch.stack(grads) / scale
    if not torch.isfinite(unscaled).all():
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
