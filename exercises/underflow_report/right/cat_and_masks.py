# right: one long tensor, and a mask for each class
from __future__ import annotations

import torch
from torch import Tensor


def underflow_report(grads: list[Tensor | None], scale: float) -> dict[str, int | float]:
    flat = [grad.reshape(-1).to(torch.float32) for grad in grads if grad is not None]
    g = torch.cat(flat) if flat else torch.empty(0)
    q = (g * scale).to(torch.float16)
    counted = g.isfinite() & g.ne(0)
    masks = {
        "total": counted,
        "zeroed": counted & q.eq(0),
        "subnormal": counted & q.ne(0) & q.abs().lt(2**-14),
        "normal": counted & q.isfinite() & q.abs().ge(2**-14),
        "overflowed": counted & q.isinf(),
    }
    counts = {name: torch.count_nonzero(mask).item() for name, mask in masks.items()}
    return {**counts, "fraction_zeroed": counts["zeroed"] / max(counts["total"], 1)}
