# caught by forbids: pytorch_may_do_it
# like uses_grad_scaler: the deprecated spelling, imported by name
from __future__ import annotations

import torch
from torch.cpu.amp import GradScaler


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scaler = GradScaler(float(init_scale), growth_factor, backoff_factor, growth_interval)
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=0.0)
    scales, skipped = [], []
    scaler.scale(torch.zeros(1))
    for step, overflow in enumerate(overflows):
        scales.append(scaler.get_scale())
        weight.grad = torch.full((1,), float("nan") if overflow else 0.0)
        if overflow:
            skipped.append(step)
        scaler.step(optimizer)
        scaler.update()
    return {"scales": scales, "skipped": skipped, "final_scale": scaler.get_scale()}
