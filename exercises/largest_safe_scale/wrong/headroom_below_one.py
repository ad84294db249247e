# caught by refuses_bad_headroom: nan_is_below_one
from __future__ import annotations

import math

import torch
from torch import Tensor


def largest_safe_scale(grads: list[Tensor | None], headroom: float = 2.0) -> float:
    if headroom < 1 or headroom == math.inf:
        raise ValueError("headroom must be a finite number, 1 or more")
    kept = [grad for grad in grads if grad is not None and grad.numel()]
    if not all(torch.isfinite(grad).all() for grad in kept):
        raise ValueError("a gradient is not finite")
    largest = max((grad.abs().max().item() for grad in kept), default=0.0)
    scale = 2.0**24
    while largest * scale * headroom > 65504:
        scale /= 2
        if scale < 2.0**-24:
            raise ValueError("no power of two fits")
    return scale
