# caught by refuses_non_finite: assert_is_an_error_too
from __future__ import annotations

import math

import torch
from torch import Tensor


def largest_safe_scale(grads: list[Tensor | None], headroom: float = 2.0) -> float:
    assert 1 <= headroom < math.inf, "headroom must be a finite number, 1 or more"
    kept = [grad for grad in grads if grad is not None and grad.numel()]
    assert all(torch.isfinite(grad).all() for grad in kept), "a gradient is not finite"
    largest = max((grad.abs().max().item() for grad in kept), default=0.0)
    for exponent in range(24, -25, -1):
        if largest * 2.0**exponent * headroom <= 65504:
            return 2.0**exponent
    raise ValueError("no power of two fits")
