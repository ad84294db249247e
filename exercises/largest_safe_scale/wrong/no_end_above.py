# caught by within_the_range: the_range_has_no_end
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
    if largest == 0:
        return 2.0**24
    exponent = math.floor(math.log2(65504 / (largest * headroom)))
    if exponent < -24:
        raise ValueError("no power of two fits")
    return 2.0**exponent
