# caught by within_the_range: a_scale_is_at_least_one
# like at_least_one: it returns 1 in place of raising, and 1 overflows
from __future__ import annotations

import math

import torch
from torch import Tensor


def largest_safe_scale(grads: list[Tensor | None], headroom: float = 2.0) -> float:
    if not 1 <= headroom < math.inf:
        raise ValueError("headroom must be a finite number, 1 or more")
    kept = [grad for grad in grads if grad is not None and grad.numel()]
    if not all(torch.isfinite(grad).all() for grad in kept):
        raise ValueError("a gradient is not finite")
    largest = max((grad.abs().max().item() for grad in kept), default=0.0)
    for exponent in range(24, -25, -1):
        if largest * 2.0**exponent * headroom <= 65504:
            return max(1.0, 2.0**exponent)
    raise ValueError("no power of two fits")
