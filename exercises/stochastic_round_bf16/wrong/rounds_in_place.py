# caught by leaves_inputs_alone: view_is_a_copy
# like adds_to_the_view: it writes the result back into x
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    rounded = (carried & -65536).view(torch.float32)
    x.copy_(torch.where(torch.isfinite(x), rounded, x))
    return x.to(torch.bfloat16)
