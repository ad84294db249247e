# right: one loop that divides, judges and leaves at the first bad tensor
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = []
    for grad in grads:
        divided = grad / scale
        if not torch.isfinite(divided).all():
            return None, scale * backoff_factor
        unscaled.append(divided)
    return unscaled, scale * growth_factor
