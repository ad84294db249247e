# caught by carries: any_fair_draw_will_do
# like compares_the_random_number: it picks one of two neighbors, also where there is an inf or a nan
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    bits = x.view(torch.int32)
    rest, kept = bits & 0xFFFF, bits & -65536
    low, high = kept.view(torch.float32), (kept + 0x10000).view(torch.float32)
    return torch.where(rest > r, high, low).to(torch.bfloat16)
