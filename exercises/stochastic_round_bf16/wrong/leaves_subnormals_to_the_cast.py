# caught by rounds_subnormals: subnormals_are_zero
# like flushes_subnormals: they are not zeroed, but rounded to nearest
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    tiny = torch.finfo(torch.float32).tiny
    rounded = torch.where(x.abs() < tiny, x, rounded)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
