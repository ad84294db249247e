# right: the two neighbors, and how far the number is from the lower one
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    nearest = x.to(torch.bfloat16)
    zero, infinite = torch.zeros_like(nearest), torch.full_like(nearest, float("inf"))
    size, top = x.abs(), nearest.abs()
    below = torch.where(top.float() > size, torch.nextafter(top, zero), top)
    above = torch.nextafter(below, infinite)
    # Above the largest number the gap goes on as before.
    gap = torch.where(above.isinf(), torch.full_like(size, 2.0**120).double(), above.double() - below.double())
    share = (size.double() - below.double()) / gap
    rounded = torch.where(share * 65536 + r >= 65536, above, below)
    return torch.where(x.isfinite(), torch.copysign(rounded, nearest), nearest)
