# right: math.isfinite on every element as a Python number
from __future__ import annotations

import math

from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [grad / scale for grad in grads]
    for grad in unscaled:
        if not all(map(math.isfinite, grad.reshape(-1).tolist())):
            return None, scale * backoff_factor
    return unscaled, scale * growth_factor
