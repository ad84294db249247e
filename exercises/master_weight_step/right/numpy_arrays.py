# right: NumPy arrays
from __future__ import annotations

import numpy as np
import torch


def master_weight_step(w16, master, grad, lr):
    new = np.asarray(master.numpy() - np.float32(lr) * grad.numpy().astype(np.float32), dtype=np.float32)
    with np.errstate(over="ignore", under="ignore"):
        half = new.astype(np.float16)
    return torch.from_numpy(half), torch.from_numpy(new)
