# caught by form: bits_are_the_number
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    kept = torch.where(torch.isfinite(x), carried, x.view(torch.int32))
    return (kept >> 16).to(torch.int16)
