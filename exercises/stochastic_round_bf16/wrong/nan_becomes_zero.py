# caught by keeps_inf_and_nan: nan_can_be_cleaned
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    return torch.where(
        torch.isfinite(x), rounded, torch.nan_to_num(x, nan=0.0, posinf=float("inf"), neginf=-float("inf"))
    ).to(torch.bfloat16)
