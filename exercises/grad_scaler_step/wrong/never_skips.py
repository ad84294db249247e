# caught by skips_on_inf: never_skips
from __future__ import annotations

from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    # dividing by the scale brings the large gradients back into range
    unscaled = [g / scale for g in grads]
    return unscaled, scale * growth_factor
