# right: PyTorch's own SGD on a copy of the master
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    weight = torch.nn.Parameter(master.clone())
    weight.grad = grad.to(master.dtype, copy=True)
    torch.optim.SGD([weight], lr=lr).step()
    new = weight.detach()
    return new.half(), new
