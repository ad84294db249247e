# caught by looks_everywhere: matrices_do_not_overflow
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    if not all(torch.isfinite(g).all() for g in unscaled if g.dim() < 2):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
