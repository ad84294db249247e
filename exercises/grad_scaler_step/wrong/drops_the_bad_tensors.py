# caught by skips_on_inf: drop_the_bad_tensor
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    usable = [g for g in unscaled if torch.isfinite(g).all()]
    return usable, scale * growth_factor
