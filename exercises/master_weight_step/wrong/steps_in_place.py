# caught by leaves_inputs_alone: optimizers_work_in_place
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master.sub_(lr * grad.float())
    return master.half(), master.clone()
