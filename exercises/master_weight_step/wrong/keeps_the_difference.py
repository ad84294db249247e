# caught by old_weights_do_not_matter: weights_know_better
# like trusts_the_weights: it carries the master's low bits over to the old weights
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    master = w16.float() + (master - master.half().float())
    master = master - lr * grad.float()
    return master.half(), master
