# caught by forbids: pytorch_may_do_it
# like uses_grad_scaler: the operation that PyTorch's scaler calls, without the scaler around it
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g.clone() for g in grads]
    found_inf = torch.zeros(())
    inv_scale = torch.tensor(1.0 / scale)
    for g in unscaled:
        torch._amp_foreach_non_finite_check_and_unscale_([g], found_inf, inv_scale)
    if found_inf or not all(torch.isfinite(g).all() for g in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
