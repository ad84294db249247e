# caught by keeps_inf_and_nan: nan_survives_arithmetic
# like lets_nan_carry: it takes one pattern for all there are, and looks after the nan that needs it least
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    return torch.where(x.view(torch.int32) != 0x7FC00000, rounded, x).to(torch.bfloat16)
