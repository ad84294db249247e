# caught by forbids: a_library_may_do_it
# like uses_struct: NumPy's half, which rounds once as well
from __future__ import annotations

import numpy as np


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    return int(np.float16(x).view(np.uint16))
