# right: shifts the sum down and reads the int16 as bfloat16
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    bits = x.clone().view(torch.int32)
    upper = torch.bitwise_right_shift(bits.add_(r), 16).to(torch.int16)
    rounded = upper.view(torch.bfloat16)
    return torch.where(x.isnan() | x.isinf(), x.bfloat16(), rounded)
