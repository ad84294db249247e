# caught by keeps_inf_and_nan: largest_is_the_end
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    largest = torch.finfo(torch.bfloat16).max
    return torch.where(torch.isnan(x), x, rounded.clamp(-largest, largest)).to(torch.bfloat16)
