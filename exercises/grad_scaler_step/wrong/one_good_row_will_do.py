# caught by looks_everywhere: a_row_answers_for_all
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    for g in unscaled:
        if g.dim() < 2 and not torch.isfinite(g).all():
            return None, scale * backoff_factor
        if g.dim() >= 2 and g.numel() and not torch.isfinite(g).all(dim=-1).any():
            return None, scale * backoff_factor
    return unscaled, scale * growth_factor
