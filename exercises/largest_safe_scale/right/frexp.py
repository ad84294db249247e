# right: mantissa and exponent by frexp, one comparison
from __future__ import annotations

import math

import torch
from torch import Tensor


def largest_safe_scale(grads: list[Tensor | None], headroom: float = 2.0) -> float:
    if not (headroom >= 1 and headroom != math.inf):
        raise ValueError("headroom")
    flat = [grad.reshape(-1).double() for grad in grads if grad is not None]
    every = torch.cat([torch.zeros(1, dtype=torch.float64), *flat])
    largest = torch.linalg.vector_norm(every, math.inf).item()
    if not math.isfinite(largest):
        raise ValueError("not finite")
    # 65504 = 0.99951171875 * 2**16
    mantissa, exponent = math.frexp(largest * headroom)
    fits = 16 - exponent if mantissa <= 0.99951171875 else 15 - exponent
    if largest == 0:
        fits = 24
    if fits < -24:
        raise ValueError("no power of two is small enough")
    return math.ldexp(1.0, min(24, fits))
