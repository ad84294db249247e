# right: maps, filters, and asks for the first bad tensor
from __future__ import annotations

from itertools import repeat
from operator import truediv

from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = list(map(truediv, grads, repeat(scale)))
    bad = filter(lambda grad: not grad.isfinite().all(), unscaled)
    if next(bad, None) is None:
        return unscaled, scale * growth_factor
    return None, scale * backoff_factor
