# caught by keeps_structure: a_weight_is_a_matrix
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled, good = [], True
    for g in grads:
        new = torch.empty(g.shape, dtype=g.dtype)
        if g.dim() == 0:
            new.fill_((g / scale).item())
        elif g.dim() == 1:
            for i in range(len(g)):
                new[i] = g[i] / scale
        else:
            rows, columns = g.shape
            for i in range(rows):
                for j in range(columns):
                    new[i, j] = g[i, j] / scale
        good = good and bool(torch.isfinite(new).all())
        unscaled.append(new)
    if not good:
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
