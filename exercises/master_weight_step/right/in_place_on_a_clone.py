# right: in place, on a clone; the weights are filled by copy_
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    stepped = master.clone()
    stepped.add_(grad, alpha=-lr)
    weights = torch.empty_like(w16)
    weights.copy_(stepped)
    return weights, stepped
