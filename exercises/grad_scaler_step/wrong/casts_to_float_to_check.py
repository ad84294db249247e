# caught by large_is_not_infinite: judges_in_float32
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    for g in unscaled:
        if not torch.isfinite(g.float()).all():
            return None, scale * backoff_factor
    return unscaled, scale * growth_factor
