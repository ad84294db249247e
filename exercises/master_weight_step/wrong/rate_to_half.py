# caught by keeps_small_updates: rate_fits_half
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - torch.tensor(lr).half().float() * grad.float()
    return master.half(), master
