# caught by keeps_small_updates: both_hold_the_same
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - lr * grad.float()
    w16 = master.half()
    return w16, w16.float()
