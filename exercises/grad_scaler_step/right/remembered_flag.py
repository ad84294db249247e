# right: a flag that is set once and never cleared, and a reciprocal
from __future__ import annotations

from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    inv_scale = 1.0 / scale
    overflow = False
    unscaled = []
    for grad in grads:
        unscaled.append(grad * inv_scale)
        overflow = overflow or bool((unscaled[-1].isinf() | unscaled[-1].isnan()).any())
    return (None, scale * backoff_factor) if overflow else (unscaled, scale * growth_factor)
