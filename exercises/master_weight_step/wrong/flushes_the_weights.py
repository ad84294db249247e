# caught by weights_follow_the_master: small_weights_are_noise
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - lr * grad.float()
    w16 = master.half()
    return torch.where(w16.abs() < 2**-14, torch.zeros_like(w16), w16), master
