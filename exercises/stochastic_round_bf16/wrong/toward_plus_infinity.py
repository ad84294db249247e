# caught by rounds_magnitudes: up_is_toward_plus_infinity
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + torch.where(x < 0, 0xFFFF - r, r)
    rounded = (carried & -65536).view(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
