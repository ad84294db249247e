# caught by weights_follow_the_master: weights_are_updated_too
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - lr * grad.float()
    return w16 - (lr * grad.float()).half(), master
