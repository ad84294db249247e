# right: clones first, then divides them in place
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [grad.detach().clone() for grad in grads]
    for grad in unscaled:
        grad.div_(scale)
    for grad in unscaled:
        if not torch.isfinite(grad).all():
            return None, backoff_factor * scale
    return unscaled, growth_factor * scale
