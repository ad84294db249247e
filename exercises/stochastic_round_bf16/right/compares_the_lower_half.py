# right: adds one to the upper half where the lower one carries
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    wide = x.view(torch.int32).to(torch.int64) & 0xFFFFFFFF
    upper, lower = wide >> 16, wide & 0xFFFF
    upper = upper + (lower > 0xFFFF - r.to(torch.int64)).to(torch.int64)
    upper = torch.where(upper >= 0x8000, upper - 0x10000, upper)
    result = upper.clamp(-0x8000, 0x7FFF).to(torch.int16).view(torch.bfloat16)
    result[~torch.isfinite(x)] = x[~torch.isfinite(x)].to(torch.bfloat16)
    return result
