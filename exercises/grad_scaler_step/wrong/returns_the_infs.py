# caught by skips_on_inf: skip_by_the_scale
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    overflow = not all(torch.isfinite(g).all() for g in unscaled)
    factor = backoff_factor if overflow else growth_factor
    return unscaled, scale * factor
