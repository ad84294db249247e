# caught by carries: nearest_is_right_on_average
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    return x.to(torch.bfloat16)
