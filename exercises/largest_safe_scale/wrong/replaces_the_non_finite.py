# caught by refuses_non_finite: non_finite_is_left_out
# like leaves_out_the_non_finite: by nan_to_num, which is no better
from __future__ import annotations

import math

import torch
from torch import Tensor


def largest_safe_scale(grads: list[Tensor | None], headroom: float = 2.0) -> float:
    if not 1 <= headroom < math.inf:
        raise ValueError("headroom must be a finite number, 1 or more")
    kept = [grad for grad in grads if grad is not None and grad.numel()]
    kept = [torch.nan_to_num(grad, nan=0.0, posinf=0.0, neginf=0.0) for grad in kept]
    largest = max((grad.abs().max().item() for grad in kept), default=0.0)
    for exponent in range(24, -25, -1):
        if largest * 2.0**exponent * headroom <= 65504:
            return 2.0**exponent
    raise ValueError("no power of two fits")
