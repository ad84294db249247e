# caught by weights_follow_the_master: cast_truncates
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - lr * grad.float()
    return (master.view(torch.int32) & ~0x1FFF).view(torch.float32).half(), master
