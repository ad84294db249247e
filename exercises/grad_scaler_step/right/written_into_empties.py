# right: writes each quotient into a fresh tensor; try, except, else
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [torch.empty_like(grad) for grad in grads]
    try:
        for grad, out in zip(grads, unscaled, strict=True):
            torch.div(grad, scale, out=out)
            if not torch.isfinite(out).all():
                raise OverflowError
    except OverflowError:
        return None, scale * backoff_factor
    else:
        return unscaled, scale * growth_factor
