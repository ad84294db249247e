# caught by looks_everywhere: every_tensor_must_overflow
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    bad = [not torch.isfinite(g).all() for g in unscaled]
    if bad and all(bad):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
