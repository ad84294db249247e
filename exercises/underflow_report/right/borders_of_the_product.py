# right: knows the borders, and compares the float32 product with them
from __future__ import annotations

import torch
from torch import Tensor

CUT_OFF = 2.0**-25  # up to it, and with it, fp16 rounds to zero
NORMAL = 2.0**-14 - 2.0**-25  # from it on, fp16 rounds to 2**-14 or more
OVERFLOW = 65520.0  # from it on, fp16 rounds to inf


def underflow_report(grads: list[Tensor | None], scale: float) -> dict[str, int | float]:
    zeroed = subnormal = normal = overflowed = 0
    for grad in grads:
        if grad is not None:
            p = (grad.float() * scale).abs()[torch.isfinite(grad) & (grad != 0)]
            zeroed += (p <= CUT_OFF).sum().item()
            subnormal += ((p > CUT_OFF) & (p < NORMAL)).sum().item()
            normal += ((p >= NORMAL) & (p < OVERFLOW)).sum().item()
            overflowed += (p >= OVERFLOW).sum().item()
    total = zeroed + subnormal + normal + overflowed
    return {
        "total": total,
        "zeroed": zeroed,
        "subnormal": subnormal,
        "normal": normal,
        "overflowed": overflowed,
        "fraction_zeroed": 0.0 if total == 0 else zeroed / total,
    }
