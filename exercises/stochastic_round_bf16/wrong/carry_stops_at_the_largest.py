# caught by carries_up_to_inf: largest_is_the_end
# like inf_becomes_the_largest: only what a carry made inf is clamped, and an inf that came in stays
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    largest = torch.finfo(torch.bfloat16).max
    rounded = torch.where(torch.isfinite(x), rounded.clamp(-largest, largest), rounded)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
