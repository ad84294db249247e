# right: the largest magnitude of every tensor that has one
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [grad / scale for grad in grads]
    peaks = [grad.abs().max() for grad in unscaled if grad.numel() > 0]
    if any(not torch.isfinite(peak) for peak in peaks):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
