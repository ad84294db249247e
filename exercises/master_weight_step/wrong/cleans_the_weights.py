# caught by weights_follow_the_master: weights_saturate
# like saturates: by nan_to_num, once inf is there
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - lr * grad.float()
    return master.half().nan_to_num(), master
