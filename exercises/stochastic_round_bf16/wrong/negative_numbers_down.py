# caught by rounds_magnitudes: up_is_toward_plus_infinity
# like toward_plus_infinity: it subtracts from the bits of a negative number, whose magnitude then shrinks
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    bits = x.view(torch.int32)
    carried = torch.where(x < 0, bits - r, bits + r)
    rounded = (carried & -65536).view(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
