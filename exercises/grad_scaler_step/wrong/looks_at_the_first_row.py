# caught by looks_everywhere: one_element_speaks_for_all
# like first_element_only: a whole row of a matrix, where the other looks at one element of any tensor
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    for g in unscaled:
        row = g[:1] if g.dim() >= 2 else g
        if not torch.isfinite(row).all():
            return None, scale * backoff_factor
    return unscaled, scale * growth_factor
