# caught by every_tensor: one_tensor_speaks_for_all
# like first_tensor_only: the return stands in the loop, and without a tensor nothing comes back
from __future__ import annotations

import torch
from torch import Tensor


def underflow_report(grads: list[Tensor | None], scale: float) -> dict[str, int | float]:
    for grad in grads:
        if grad is None:
            continue
        g = grad[torch.isfinite(grad) & (grad != 0)].float()
        q = (g * scale).half().abs()
        counts = {
            "total": q.numel(),
            "zeroed": int((q == 0).sum()),
            "subnormal": int(((q > 0) & (q < 2**-14)).sum()),
            "normal": int(((q >= 2**-14) & torch.isfinite(q)).sum()),
            "overflowed": int(torch.isinf(q).sum()),
        }
        return counts | {"fraction_zeroed": counts["zeroed"] / max(counts["total"], 1)}
