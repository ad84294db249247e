# caught by forbids: pytorch_may_do_it
# like uses_grad_scaler: the operation behind update(), without the scaler around it
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    overflow = not all(torch.isfinite(g).all() for g in unscaled)
    new_scale = torch.tensor(float(scale))
    tracker = torch.zeros((), dtype=torch.int32)
    found_inf = torch.tensor(float(overflow))
    torch._amp_update_scale_(new_scale, tracker, found_inf, growth_factor, backoff_factor, 1)
    return None if overflow else unscaled, new_scale.item()
