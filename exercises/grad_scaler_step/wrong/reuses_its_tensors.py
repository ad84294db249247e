# caught by leaves_inputs_alone: buffers_save_time
from __future__ import annotations

import torch
from torch import Tensor


buffers: dict[tuple, Tensor] = {}


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = []
    for number, g in enumerate(grads):
        place = number, g.shape, g.dtype
        if place not in buffers:
            buffers[place] = torch.empty_like(g)
        unscaled.append(torch.div(g, scale, out=buffers[place]))
    if not all(torch.isfinite(g).all() for g in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
