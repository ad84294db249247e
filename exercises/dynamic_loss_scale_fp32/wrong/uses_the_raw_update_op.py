# caught by forbids: pytorch_may_do_it
from __future__ import annotations

import torch


def dynamic_loss_scale_fp32(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale, run = torch.full((1,), float(init_scale)), torch.zeros(1, dtype=torch.int32)
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale.item())
        skipped += [step] * bool(overflow)
        found = torch.tensor([float(overflow)])
        torch._amp_update_scale_(scale, run, found, growth_factor, backoff_factor, growth_interval)
    return {"scales": scales, "skipped": skipped, "final_scale": scale.item()}
