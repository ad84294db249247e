# caught by keeps_small_updates: half_is_enough
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    w16 = w16 - (lr * grad.float()).half()
    return w16, w16.float()
