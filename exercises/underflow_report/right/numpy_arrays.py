# right: NumPy rounds and counts
from __future__ import annotations

import numpy as np
import torch


def underflow_report(grads, scale):
    parts = [np.zeros(0, np.float32)]
    parts += [grad.to(torch.float32).numpy().ravel() for grad in grads if grad is not None]
    g = np.concatenate(parts)
    g = g[np.isfinite(g) & (g != 0)]
    with np.errstate(over="ignore", under="ignore"):
        q = np.abs((g * np.float32(scale)).astype(np.float16))
    zeroed = np.count_nonzero(q == 0)
    overflowed = np.count_nonzero(np.isinf(q))
    normal = np.count_nonzero((q >= np.finfo(np.float16).tiny) & np.isfinite(q))
    return {
        "total": int(g.size),
        "zeroed": int(zeroed),
        "subnormal": int(g.size - zeroed - normal - overflowed),
        "normal": int(normal),
        "overflowed": int(overflowed),
        "fraction_zeroed": float(zeroed / g.size) if g.size else 0.0,
    }
