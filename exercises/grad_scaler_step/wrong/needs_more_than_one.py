# caught by skips_on_inf: one_bad_is_noise
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    bad = sum(int((~torch.isfinite(g)).sum()) for g in unscaled)
    if bad > 1:  # a single one is noise
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
