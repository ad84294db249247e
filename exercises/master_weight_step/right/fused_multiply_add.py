# right: addcmul with a tensor of rates
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    rates = torch.full_like(master, -lr)
    stepped = torch.addcmul(master, rates, grad.float())
    return stepped.type(w16.dtype), stepped
