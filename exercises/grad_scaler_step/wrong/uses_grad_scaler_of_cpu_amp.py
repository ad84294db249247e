# caught by forbids: pytorch_may_do_it
# like uses_grad_scaler: the deprecated name, imported by itself, is another route
from __future__ import annotations

import torch
from torch import Tensor
from torch.cpu.amp import GradScaler


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    if not grads:
        return [], scale * growth_factor
    parameters = [torch.nn.Parameter(torch.zeros_like(g)) for g in grads]
    for parameter, g in zip(parameters, grads, strict=True):
        parameter.grad = g.clone()
    optimizer = torch.optim.SGD(parameters, lr=0.0)
    scaler = GradScaler(float(scale), growth_factor, backoff_factor, growth_interval=1)
    scaler.scale(torch.zeros(()))
    scaler.step(optimizer)
    scaler.update()
    unscaled = [parameter.grad for parameter in parameters]
    if not all(torch.isfinite(g).all() for g in unscaled):
        return None, scale * backoff_factor
    return unscaled, scaler.get_scale()
