# caught by form: any_sixteen_bits_will_do
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - lr * grad.float()
    return master.bfloat16(), master
