# right: a scale for each tensor, and the smallest of them
from __future__ import annotations

import torch
from torch import Tensor


def of_one(largest: float, headroom: float) -> float:
    if largest != largest or largest in (float("inf"), -float("inf")):
        raise ValueError("not a finite gradient")
    scale = 16777216.0
    while largest * scale * headroom > 65504.0:
        scale *= 0.5
        if scale < 2.0**-24:
            raise ValueError("no scale")
    return scale


def largest_safe_scale(grads: list[Tensor | None], headroom: float = 2.0) -> float:
    if not 1 <= headroom <= 1.7976931348623157e308:
        raise ValueError("headroom")
    present = filter(lambda grad: grad is not None and grad.numel() > 0, grads)
    scales = [of_one(torch.max(torch.abs(grad)).item(), headroom) for grad in present]
    return min([2.0**24, *scales])
