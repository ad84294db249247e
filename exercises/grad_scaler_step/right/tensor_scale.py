# right: the scale as a 0-d float32 tensor, which is returned as one
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    s = torch.tensor(float(scale))
    unscaled = [grad / s for grad in grads]
    finite = torch.tensor(True)
    for grad in unscaled:
        finite = finite & torch.isfinite(grad).all()
    if finite:
        return unscaled, s * growth_factor
    return None, s * backoff_factor
