# caught by looks_everywhere: memory_is_the_tensor
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    for g in grads:
        memory = g.as_strided((g.numel(),), (1,))
        if not torch.isfinite(memory / scale).all():
            return None, scale * backoff_factor
    return unscaled, scale * growth_factor
