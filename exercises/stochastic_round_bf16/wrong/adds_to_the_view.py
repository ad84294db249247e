# caught by leaves_inputs_alone: view_is_a_copy
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    finite = torch.isfinite(x)
    kept = x.clone()
    rounded = (x.view(torch.int32).add_(r) & -65536).view(torch.float32)
    return torch.where(finite, rounded, kept).to(torch.bfloat16)
