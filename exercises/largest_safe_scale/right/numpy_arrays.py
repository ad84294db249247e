# right: NumPy finds the largest, a generator the power
from __future__ import annotations

import numpy as np


def largest_safe_scale(grads, headroom=2.0):
    if not np.isfinite(headroom) or headroom < 1.0:
        raise ValueError("headroom")
    arrays = [grad.double().numpy() for grad in grads if grad is not None and grad.nelement() > 0]
    if any(not np.isfinite(array).all() for array in arrays):
        raise ValueError("non-finite gradient")
    largest = float(max([np.abs(array).max() for array in arrays] + [0.0]))
    powers = (2.0**k for k in reversed(range(-24, 25)))
    scale = next((power for power in powers if not largest * power * headroom > 65504.0), None)
    if scale is None:
        raise ValueError("too large")
    return scale
