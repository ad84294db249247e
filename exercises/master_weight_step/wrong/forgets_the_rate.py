# caught by steps_the_master: rate_is_in_the_gradient
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - grad.float()
    return master.half(), master
