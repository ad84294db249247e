# caught by judges_after_unscaling: wider_dtype_judges
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = []
    for g in grads:
        exact = g.double() / scale
        if not torch.isfinite(exact).all():
            return None, scale * backoff_factor
        unscaled.append(exact.to(g.dtype))
    return unscaled, scale * growth_factor
