# right: a finite number times zero is zero, inf and nan give nan
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [torch.div(grad, scale) for grad in grads]
    poison = [torch.isnan((grad * 0).sum()) for grad in unscaled]
    if any(poison):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
