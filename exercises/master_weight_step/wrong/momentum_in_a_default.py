# caught by leaves_inputs_alone: every_step_has_momentum
from __future__ import annotations

import torch
from torch import Tensor


def master_weight_step(w16: Tensor, master: Tensor, grad: Tensor, lr: float, state={}) -> tuple[Tensor, Tensor]:
    velocity = state.get(w16.shape, 0.0) * 0.9 + grad.float()
    state[w16.shape] = velocity
    master = master - lr * velocity
    return master.half(), master
