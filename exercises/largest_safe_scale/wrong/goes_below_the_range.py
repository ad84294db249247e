# caught by refuses_what_no_scale_fits: there_is_always_a_smaller_scale
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
    for exponent in range(24, -1070, -1):
        if largest * 2.0**exponent * headroom <= 65504:
            return 2.0**exponent
    raise ValueError("no power of two fits")
