# right: takes away what lies below, then adds a whole gap where it carries
from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, r: Tensor) -> Tensor:
    bits = x.view(torch.int32)
    lower = torch.remainder(bits, 65536)
    carry = torch.div(lower + r, 65536, rounding_mode="floor")
    whole = (bits - lower + 65536 * carry).to(torch.int32)
    out = torch.empty(x.shape, dtype=torch.bfloat16)
    out.copy_(torch.where(x.isfinite(), whole.view(torch.float32), x))
    return out
