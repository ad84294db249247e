# right: an object that lives for one call and counts the bad elements
from __future__ import annotations

import torch
from torch import Tensor


class _Judge:
    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.bad = 0

    def unscale(self, grad: Tensor) -> Tensor:
        unscaled = grad / self.scale
        self.bad += int(torch.count_nonzero(~torch.isfinite(unscaled)))
        return unscaled


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    judge = _Judge(scale)
    unscaled = [judge.unscale(grad) for grad in grads]
    if judge.bad:
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
