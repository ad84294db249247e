# caught by drops_without_a_carry: half_is_fifteen_bits
# like drops_fifteen_bits: it drops the 13 bits that float16 has not
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -8192).view(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
