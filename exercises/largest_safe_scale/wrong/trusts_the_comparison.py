# caught by refuses_non_finite: nan_shows_itself
# like looks_at_the_maximum: element by element, where a nan is never greater
from __future__ import annotations

import math

import torch
from torch import Tensor


def largest_safe_scale(grads: list[Tensor | None], headroom: float = 2.0) -> float:
    if not 1 <= headroom < math.inf:
        raise ValueError("headroom must be a finite number, 1 or more")
    kept = [grad for grad in grads if grad is not None and grad.numel()]
    largest = 0.0
    for grad in kept:
        for value in grad.abs().flatten().tolist():
            if value > largest:
                largest = value
    for exponent in range(24, -25, -1):
        if largest * 2.0**exponent * headroom <= 65504:
            return 2.0**exponent
    raise ValueError("no power of two fits")
