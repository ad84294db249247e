# right: looks at the exponent bits: all ones in inf and nan, and only there
from __future__ import annotations

import torch
from torch import Tensor

EXPONENTS = {torch.float32: (torch.int32, 0x7F800000), torch.float64: (torch.int64, 0x7FF0000000000000)}


def _has_full_exponent(grad: Tensor) -> bool:
    integers, mask = EXPONENTS[grad.dtype]
    return bool(((grad.contiguous().view(integers) & mask) == mask).any())


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [grad / scale for grad in grads]
    if any(_has_full_exponent(grad) for grad in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
