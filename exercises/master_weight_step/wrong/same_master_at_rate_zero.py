# caught by leaves_inputs_alone: same_values_same_tensor
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    if lr:
        master = master - lr * grad.float()
    return master.half(), master
