# right: one operation, with the rate as its alpha
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    new = torch.sub(master, grad.to(torch.float32), alpha=lr)
    return new.to(torch.float16), new
