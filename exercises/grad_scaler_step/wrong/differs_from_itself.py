# caught by skips_on_inf: only_checks_nan
# like only_isnan: the test g != g is an idiom of its own, and is True for nan alone
from __future__ import annotations

from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [g / scale for g in grads]
    overflow = any(bool((g != g).any()) for g in unscaled)
    if overflow:
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
