# right: computes in float64 and rounds once
from __future__ import annotations

from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    exact = master.double() - lr * grad.double()
    rounded = exact.float()
    return rounded.half(), rounded
