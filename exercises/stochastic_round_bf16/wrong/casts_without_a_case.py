# caught by drops_without_a_carry: cast_cuts_off
# like casts_the_sum: most write it without a case for inf and nan, and every check that fails fails by the cast
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    carried = x.view(torch.int32) + r
    return carried.view(torch.float32).to(torch.bfloat16)
