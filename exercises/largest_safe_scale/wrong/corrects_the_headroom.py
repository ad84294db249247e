# caught by refuses_bad_headroom: headroom_may_be_anything
# like takes_any_headroom: it repairs what it should refuse, and the caller never learns
from __future__ import annotations

import math

import torch
from torch import Tensor


def largest_safe_scale(grads: list[Tensor | None], headroom: float = 2.0) -> float:
    headroom = max(1.0, headroom)
    kept = [grad for grad in grads if grad is not None and grad.numel()]
    if not all(torch.isfinite(grad).all() for grad in kept):
        raise ValueError("a gradient is not finite")
    largest = max((grad.abs().max().item() for grad in kept), default=0.0)
    for exponent in range(24, -25, -1):
        if largest * 2.0**exponent * headroom <= 65504:
            return 2.0**exponent
    raise ValueError("no power of two fits")
