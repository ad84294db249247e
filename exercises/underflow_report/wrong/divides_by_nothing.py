# caught by fraction: there_is_always_something
from __future__ import annotations

import torch
from torch import Tensor


def underflow_report(grads: list[Tensor | None], scale: float) -> dict[str, int | float]:
    total = zeroed = subnormal = overflowed = 0
    for grad in grads:
        if grad is None:
            continue
        g = grad[torch.isfinite(grad) & (grad != 0)].float()
        q = (g * scale).half().abs()
        total += q.numel()
        zeroed += int((q == 0).sum())
        subnormal += int(((q > 0) & (q < 2**-14)).sum())
        overflowed += int(torch.isinf(q).sum())
    normal = total - zeroed - subnormal - overflowed
    fraction = zeroed / total
    return {
        "total": total,
        "zeroed": zeroed,
        "subnormal": subnormal,
        "normal": normal,
        "overflowed": overflowed,
        "fraction_zeroed": fraction,
    }
