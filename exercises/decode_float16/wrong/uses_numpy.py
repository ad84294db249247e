# caught by forbids: a_library_may_do_it
# like uses_struct: NumPy's half is another way round the exercise
from __future__ import annotations

import numpy as np


def decode_float16(bits: int) -> float:
    return float(np.array([bits], dtype=np.uint16).view(np.float16)[0])
