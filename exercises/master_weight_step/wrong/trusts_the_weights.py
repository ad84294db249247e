# caught by old_weights_do_not_matter: weights_know_better
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = torch.where(master.half() == w16, master, w16.float())
    master = master - lr * grad.float()
    return master.half(), master
