# caught by leaves_inputs_alone: buffers_save_time
# like reuses_its_tensors: here the list is the function's own, there the tensors in it are
from __future__ import annotations

import torch
from torch import Tensor


unscaled: list[Tensor] = []


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled.clear()
    unscaled.extend(g / scale for g in grads)
    if not all(torch.isfinite(g).all() for g in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
