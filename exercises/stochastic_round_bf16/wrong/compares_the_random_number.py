# caught by carries: any_fair_draw_will_do
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    bits = x.view(torch.int32)
    up = r < (bits & 0xFFFF)
    rounded = ((bits & -65536) + up.int() * 0x10000).view(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
