# caught by old_weights_do_not_matter: weights_must_agree
# like checks_the_weights: it does not raise, and stands still where the old weights are inf or nan
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    if not torch.isfinite(w16).all():
        return w16.clone(), master.clone()
    master = master - lr * grad.float()
    return master.half(), master
