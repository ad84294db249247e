# caught by form: wider_is_safer
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = master.double() - lr * grad.double()
    return master.half(), master
