# caught by looks_everywhere: last_tensor_decides
# like flag_is_overwritten: one means to look at the last tensor only, the other does so by mistake
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    # gradients come out of backward from the last layer to the first, so the last one shows what happened
    if unscaled and not torch.isfinite(unscaled[-1]).all():
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
