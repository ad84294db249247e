# caught by fraction: fraction_of_the_mass
from __future__ import annotations

import torch
from torch import Tensor


def underflow_report(grads: list[Tensor | None], scale: float) -> dict[str, int | float]:
    total = zeroed = subnormal = overflowed = 0
    lost = mass = 0.0
    for grad in grads:
        if grad is None:
            continue
        g = grad[torch.isfinite(grad) & (grad != 0)].float()
        q = (g * scale).half().abs()
        size = g.double().abs()
        lost += float(size[q == 0].sum())
        mass += float(size.sum())
        total += q.numel()
        zeroed += int((q == 0).sum())
        subnormal += int(((q > 0) & (q < 2**-14)).sum())
        overflowed += int(torch.isinf(q).sum())
    normal = total - zeroed - subnormal - overflowed
    fraction = lost / mass if mass else 0.0
    return {
        "total": total,
        "zeroed": zeroed,
        "subnormal": subnormal,
        "normal": normal,
        "overflowed": overflowed,
        "fraction_zeroed": fraction,
    }
