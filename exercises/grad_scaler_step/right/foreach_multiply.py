# right: PyTorch's list operation, multiplied by the reciprocal
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = list(torch._foreach_mul(grads, 1.0 / scale)) if grads else []
    bad = sum((~torch.isfinite(grad)).sum() for grad in unscaled)
    if bad > 0:
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
