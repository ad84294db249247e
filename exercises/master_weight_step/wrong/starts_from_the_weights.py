# caught by keeps_small_updates: master_is_only_a_copy
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = w16.float() - lr * grad.float()
    return master.half(), master
