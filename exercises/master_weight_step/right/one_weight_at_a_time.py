# right: Python numbers, one after the other
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    pairs = zip(master.flatten().tolist(), grad.flatten().tolist())
    new = torch.tensor([weight - lr * slope for weight, slope in pairs], dtype=torch.float32).reshape(master.shape)
    return torch.tensor(new.tolist(), dtype=torch.float16).reshape(w16.shape), new
