# caught by carries: rounding_adds_a_half
# like adds_a_half_as_well: it takes the half away, so that the noise has mean zero, and still cuts off
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r - 0x8000
    rounded = (carried & -65536).view(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
