# caught by leaves_inputs_alone: report_keeps_count
from __future__ import annotations

import torch
from torch import Tensor


def underflow_report(grads: list[Tensor | None], scale: float, seen=[]) -> dict[str, int | float]:
    for grad in grads:
        if grad is not None:
            g = grad[torch.isfinite(grad) & (grad != 0)].float()
            seen.append((g * scale).half().abs())
    q = torch.cat(seen) if seen else torch.zeros(0)
    counts = {
        "total": q.numel(),
        "zeroed": int((q == 0).sum()),
        "subnormal": int(((q > 0) & (q < 2**-14)).sum()),
        "normal": int(((q >= 2**-14) & torch.isfinite(q)).sum()),
        "overflowed": int(torch.isinf(q).sum()),
    }
    return counts | {"fraction_zeroed": counts["zeroed"] / max(counts["total"], 1)}
