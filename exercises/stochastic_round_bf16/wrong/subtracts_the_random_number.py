# caught by drops_without_a_carry: any_fair_draw_will_do
# like compares_the_random_number: it uses the random numbers in reverse order, which is as fair
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + 0xFFFF - r
    rounded = (carried & -65536).view(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
