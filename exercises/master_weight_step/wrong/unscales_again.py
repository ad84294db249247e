# caught by steps_the_master: gradient_is_still_scaled
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - lr * (grad.float() / 65536)
    return master.half(), master
