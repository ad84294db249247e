# caught by drops_without_a_carry: random_numbers_are_drawn_inside
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randint(0, 65536, x.shape, dtype=torch.int32, generator=generator)
    carried = x.view(torch.int32) + drawn
    rounded = (carried & -65536).view(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
