# right: searches the 49 powers by bisection
from __future__ import annotations

from bisect import bisect_left

import torch


def magnitude(grad):
    if grad is None or not grad.numel():
        return 0.0
    low, high = torch.aminmax(grad.detach().double())
    if not (torch.isfinite(low) and torch.isfinite(high)):
        raise ValueError("these gradients have overflowed")
    return max(-low.item(), high.item())


def largest_safe_scale(grads, headroom=2.0):
    if not 1 <= headroom < float("inf"):
        raise ValueError(f"headroom is {headroom}")
    largest = max(map(magnitude, grads), default=0.0)
    powers = range(-24, 25)
    too_large = bisect_left(powers, True, key=lambda k: largest * 2.0**k * headroom > 65504)
    if too_large == 0:
        raise ValueError("every power of two is too large")
    return 2.0 ** powers[too_large - 1]
