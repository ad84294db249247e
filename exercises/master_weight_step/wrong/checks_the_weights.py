# caught by old_weights_do_not_matter: weights_must_agree
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    if not torch.equal(master.half(), w16):
        raise ValueError("w16 and master disagree")
    master = master - lr * grad.float()
    return master.half(), master
