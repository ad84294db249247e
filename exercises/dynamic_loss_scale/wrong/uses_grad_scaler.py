# caught by forbids: pytorch_may_do_it
from __future__ import annotations

import torch


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=0.0)
    scaler = torch.amp.GradScaler(
        "cpu",
        init_scale=float(init_scale),
        growth_factor=growth_factor,
        backoff_factor=backoff_factor,
        growth_interval=growth_interval,
    )
    scales, skipped = [], []
    scaler.scale(torch.zeros(1))
    for step, overflow in enumerate(overflows):
        scales.append(scaler.get_scale())
        weight.grad = torch.full((1,), float("inf") if overflow else 0.0)
        if overflow:
            skipped.append(step)
        scaler.step(optimizer)
        scaler.update()
    return {"scales": scales, "skipped": skipped, "final_scale": scaler.get_scale()}
