# caught by leaves_inputs_alone: optimizers_work_in_place
# like steps_in_place: here it is the old w16 that is overwritten
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - lr * grad.float()
    return w16.copy_(master), master
