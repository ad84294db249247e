# right: the list operations that optimizers use
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor]:
    (wide,) = torch._foreach_mul([grad.float()], lr)
    (new,) = torch._foreach_sub([master], [wide])
    out = torch.zeros(master.shape, dtype=torch.float16)
    torch._foreach_copy_([out], [new])
    return out, new
