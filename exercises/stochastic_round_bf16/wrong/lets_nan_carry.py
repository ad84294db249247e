# caught by keeps_inf_and_nan: nan_survives_arithmetic
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    return rounded.to(torch.bfloat16)
