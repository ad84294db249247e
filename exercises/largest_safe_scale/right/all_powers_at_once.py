# right: a tensor of all powers, and a mask
from __future__ import annotations

import torch
from torch import Tensor


def largest_safe_scale(grads: list[Tensor | None], headroom: float = 2.0) -> float:
    room = torch.tensor(headroom, dtype=torch.float64)
    if not bool((room >= 1) & room.isfinite()):
        raise ValueError("headroom")
    wide = [grad.to(torch.float64).ravel() for grad in grads if grad is not None]
    every = torch.cat([*wide, torch.zeros(1, dtype=torch.float64)]).abs()
    if not every.isfinite().all():
        raise ValueError("inf or nan in the gradients")
    powers = torch.exp2(torch.arange(-24, 25, dtype=torch.float64))
    fitting = powers[every.amax() * powers * room <= torch.finfo(torch.float16).max]
    if not fitting.numel():
        raise ValueError("nothing fits")
    return fitting.amax().item()
