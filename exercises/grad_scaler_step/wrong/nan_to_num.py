# caught by skips_on_inf: infs_can_be_cleaned
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [torch.nan_to_num(g / scale) for g in grads]
    return unscaled, scale * growth_factor
