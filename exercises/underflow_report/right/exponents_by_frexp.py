# right: takes the exponent of the rounded value, and counts exponents
from __future__ import annotations

import torch
from torch import Tensor


def underflow_report(grads: list[Tensor | None], scale: float) -> dict[str, int | float]:
    kinds = torch.zeros(4, dtype=torch.int64)
    for grad in grads:
        if grad is None:
            continue
        g = grad.double()
        q = (g[g.isfinite() & g.ne(0)].float() * scale).half().float()
        _, exponent = torch.frexp(q)
        kind = torch.where(exponent - 1 < -14, 1, 2)
        kind = torch.where(q == 0, 0, kind)
        kind = torch.where(q.isinf(), 3, kind)
        kinds += torch.bincount(kind, minlength=4)
    zeroed, subnormal, normal, overflowed = kinds.tolist()
    total = int(kinds.sum())
    return {
        "fraction_zeroed": zeroed / total if total > 0 else 0.0,
        "overflowed": overflowed,
        "normal": normal,
        "subnormal": subnormal,
        "zeroed": zeroed,
        "total": total,
    }
