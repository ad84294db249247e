# caught by forbids: a_library_may_do_it
# like uses_struct: torch's half, which is rounded through fp32 and would be wrong as well
from __future__ import annotations

import torch


def encode_float16(x: float) -> int:
    if not isinstance(x, float):
        raise TypeError(f"x must be a float, not {type(x).__name__}")
    return torch.tensor(x, dtype=torch.float64).half().view(torch.int16).item() & 0xFFFF
