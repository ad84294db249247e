# caught by rounds_subnormals: subnormals_are_zero
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    tiny = torch.finfo(torch.bfloat16).tiny
    rounded = torch.where(rounded.abs() < tiny, rounded * 0, rounded)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
