# caught by forbids: pytorch_may_do_it
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    if not grads:
        return [], scale * growth_factor
    parameters = [torch.nn.Parameter(torch.zeros_like(g)) for g in grads]
    for parameter, g in zip(parameters, grads, strict=True):
        parameter.grad = g.clone()
    optimizer = torch.optim.SGD(parameters, lr=0.0)
    scaler = torch.amp.GradScaler(grads[0].device.type, init_scale=float(scale), growth_interval=1)
    scaler.scale(torch.zeros((), device=grads[0].device))
    scaler.unscale_(optimizer)
    unscaled = [parameter.grad for parameter in parameters]
    if not all(torch.isfinite(g).all() for g in unscaled):
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
