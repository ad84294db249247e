# caught by leaves_inputs_alone: view_is_a_copy
# like adds_to_the_view: here it is r that is overwritten
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = r.add_(x.view(torch.int32))
    rounded = (carried & -65536).view(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
