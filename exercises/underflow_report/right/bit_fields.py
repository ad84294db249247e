# right: reads the exponent field of fp16
from __future__ import annotations

import torch
from torch import Tensor


def underflow_report(grads: list[Tensor | None], scale: float) -> dict[str, int | float]:
    counts = dict(total=0, zeroed=0, subnormal=0, normal=0, overflowed=0)
    for grad in grads:
        if grad is None:
            continue
        wide = grad.detach().to(torch.float32).contiguous()
        q = torch.mul(wide, float(scale)).half()
        bits = q.view(torch.int16).to(torch.int32) & 0x7FFF
        exponent, fraction = bits >> 10, bits & 0x3FF
        counted = torch.isfinite(wide) & (wide != 0)
        counts["total"] += int(counted.sum())
        counts["zeroed"] += int((counted & (bits == 0)).sum())
        counts["subnormal"] += int((counted & (exponent == 0) & (fraction != 0)).sum())
        counts["normal"] += int((counted & (exponent > 0) & (exponent < 31)).sum())
        counts["overflowed"] += int((counted & (exponent == 31)).sum())
    share = counts["zeroed"] / counts["total"] if counts["total"] else 0.0
    return counts | {"fraction_zeroed": share}
