# right: NumPy computes, torch carries; the new scale is a numpy.float64
from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = []
    factor = np.float64(growth_factor)
    for grad in grads:
        array = grad.numpy()
        with np.errstate(all="ignore"):
            divided = np.asarray(array / array.dtype.type(scale))
        if not np.isfinite(divided).all():
            factor = np.float64(backoff_factor)
        unscaled.append(torch.from_numpy(divided.copy()))
    return (unscaled if factor > 1 else None), np.float64(scale) * factor
