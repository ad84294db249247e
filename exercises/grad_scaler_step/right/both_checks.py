# right: checks the incoming values first, to stop early, and the quotients too
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    if any(not torch.isfinite(grad).all() for grad in grads):
        return None, scale * backoff_factor
    unscaled = [grad / scale for grad in grads]
    # a scale below one makes gradients larger
    if scale < 1 and any(not torch.isfinite(grad).all() for grad in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
