# caught by rounds_magnitudes: zero_has_no_sign
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    rounded = torch.where(rounded == 0, torch.zeros_like(rounded), rounded)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
