# right: the exponent from a logarithm, rounded down, kept in the range
from __future__ import annotations

import math

import torch
from torch import Tensor


def largest_safe_scale(grads: list[Tensor | None], headroom: float = 2.0) -> float:
    if math.isnan(headroom) or math.isinf(headroom) or headroom < 1:
        raise ValueError(f"headroom {headroom}")
    largest = 0.0
    for grad in grads:
        if grad is None:
            continue
        if not torch.isfinite(grad).all():
            raise ValueError("inf or nan")
        for value in grad.flatten().abs().tolist():
            largest = max(largest, value)
    if largest == 0.0:
        return 2.0**24
    exponent = math.floor(math.log2(65504) - math.log2(largest) - math.log2(headroom) + 1e-12)
    if exponent < -24:
        raise ValueError("too large for any scale")
    return 2.0 ** min(exponent, 24)
