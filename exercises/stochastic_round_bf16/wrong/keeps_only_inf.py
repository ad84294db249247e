# caught by keeps_inf_and_nan: nan_survives_arithmetic
# like lets_nan_carry: it looks after inf, which needs it least
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    return torch.where(torch.isinf(x), x, rounded).to(torch.bfloat16)
