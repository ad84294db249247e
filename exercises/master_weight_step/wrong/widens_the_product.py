# caught by multiplies_in_float32: promotion_comes_in_time
# like product_in_half: it knows about the widening, and does it after the product
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master - (lr * grad).float()
    return master.half(), master
