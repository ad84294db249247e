# caught by leaves_inputs_alone: function_keeps_count
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    current = getattr(grad_scaler_step, "current", scale)
    if not all(torch.isfinite(g).all() for g in unscaled):
        grad_scaler_step.current = current * backoff_factor
        return None, grad_scaler_step.current
    grad_scaler_step.current = current * growth_factor
    return unscaled, grad_scaler_step.current
