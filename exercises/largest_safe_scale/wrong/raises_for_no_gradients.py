# caught by nothing_to_overflow: nothing_needs_no_scale
# like one_for_nothing: max() of an empty list raises by itself
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
    largest = max((grad.abs().max().item() for grad in kept))
    for exponent in range(24, -25, -1):
        if largest * 2.0**exponent * headroom <= 65504:
            return 2.0**exponent
    raise ValueError("no power of two fits")
