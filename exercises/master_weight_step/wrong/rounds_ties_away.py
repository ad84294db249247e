# caught by weights_follow_the_master: cast_truncates
# like truncates: it rounds to nearest by hand, with ties away from zero
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - lr * grad.float()
    return ((master.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32).half(), master
