# caught by weights_follow_the_master: order_does_not_matter
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    w16 = master.half()
    master = master - lr * grad.float()
    return w16, master
