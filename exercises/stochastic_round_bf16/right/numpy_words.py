# right: NumPy words without sign
from __future__ import annotations

import numpy as np
import torch


def stochastic_round_bf16(x, r):
    words = np.array(x.numpy(), dtype=np.float32, copy=True)
    finite = np.isfinite(words)
    bits = words.view(np.uint32)
    bits[finite] += r.numpy().astype(np.uint32)[finite]
    bits[finite] &= np.uint32(0xFFFF0000)
    return torch.from_numpy(bits.view(np.float32).reshape(tuple(x.shape))).to(torch.bfloat16)
