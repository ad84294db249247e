# caught by form: shape_does_not_matter
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    x, r = x.reshape(-1), r.reshape(-1)
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
