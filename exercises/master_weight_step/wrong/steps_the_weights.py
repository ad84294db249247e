# caught by keeps_small_updates: master_is_only_a_copy
# like starts_from_the_weights: the step is made on w16, and the master is what it looks like in float32
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    w16 = w16 - lr * grad
    return w16, w16.float()
