# caught by steps_the_master: weights_decay_by_themselves
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master * (1 - 1e-2 * lr) - lr * grad.float()
    return master.half(), master
