# caught by every_tensor: one_tensor_speaks_for_all
# like first_tensor_only: it loops over rows and takes them for elements, which fails on a matrix and on a 0-d tensor
from __future__ import annotations

import torch
from torch import Tensor


def underflow_report(grads: list[Tensor | None], scale: float) -> dict[str, int | float]:
    counts = dict.fromkeys(("total", "zeroed", "subnormal", "normal", "overflowed"), 0)
    for grad in grads:
        if grad is None:
            continue
        for g in grad.float():
            if not torch.isfinite(g) or g == 0:
                continue
            q = (g * scale).half().abs().item()
            counts["total"] += 1
            kind = "zeroed" if q == 0 else "overflowed" if q > 65504 else "normal" if q >= 2**-14 else "subnormal"
            counts[kind] += 1
    counts["fraction_zeroed"] = counts["zeroed"] / counts["total"] if counts["total"] else 0.0
    return counts
