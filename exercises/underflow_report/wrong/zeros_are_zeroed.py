# caught by cut_off: zeros_have_underflowed
from __future__ import annotations

import torch
from torch import Tensor


def underflow_report(grads: list[Tensor | None], scale: float) -> dict[str, int | float]:
    total = zeroed = subnormal = overflowed = 0
    for grad in grads:
        if grad is None:
            continue
        g = grad[torch.isfinite(grad)].float()
        q = (g * scale).half().abs()
        total += q.numel()
        zeroed += int((q == 0).sum())
        subnormal += int(((q > 0) & (q < 2**-14)).sum())
        overflowed += int(torch.isinf(q).sum())
    normal = total - zeroed - subnormal - overflowed
    fraction = zeroed / total if total else 0.0
    return {
        "total": total,
        "zeroed": zeroed,
        "subnormal": subnormal,
        "normal": normal,
        "overflowed": overflowed,
        "fraction_zeroed": fraction,
    }
