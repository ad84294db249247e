# right: a magnitude below infinity, which nan is not
from __future__ import annotations

from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [grad / scale for grad in grads]
    if not all((grad.abs() < float("inf")).all() for grad in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
