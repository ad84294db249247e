# caught by form: a_tensor_of_one_is_an_int
# like counts_are_tensors: the fraction of two of them is one, too
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
        zeroed += (q == 0).sum()
        subnormal += ((q > 0) & (q < 2**-14)).sum()
        overflowed += torch.isinf(q).sum()
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
