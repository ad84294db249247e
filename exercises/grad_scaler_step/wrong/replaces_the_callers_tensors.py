# caught by leaves_inputs_alone: the_list_is_mine
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    for i in range(len(grads)):
        grads[i] = grads[i] / scale
        if not torch.isfinite(grads[i]).all():
            return None, scale * backoff_factor
    return grads, scale * growth_factor
