# right: x - x is 0 for finite numbers only; returns a tuple of tensors
from __future__ import annotations

from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = tuple(grad.div(scale) for grad in grads)
    if all(bool((grad - grad == 0).all()) for grad in unscaled):
        return unscaled, scale * growth_factor
    return None, scale * backoff_factor
