# caught by keeps_small_updates: what_does_not_show_is_lost
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    stepped = master - lr * grad.float()
    master = torch.where(stepped.half() == master.half(), master, stepped)
    return master.half(), master
