# caught by keeps_small_updates: half_is_enough
# like updates_the_weights_and_widens: the difference is taken in float32 and rounded once
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    w16 = (w16 - lr * grad).half()
    return w16, w16.float()
