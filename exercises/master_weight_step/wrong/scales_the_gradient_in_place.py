# caught by leaves_inputs_alone: float_makes_a_copy
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - grad.float().mul_(lr)
    return master.half(), master
