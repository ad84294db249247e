# right: reduce over chained tensors, and a dict of what to do
from __future__ import annotations

from functools import reduce
from itertools import chain
from operator import and_

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    unscaled = [grad / scale for grad in grads]
    finite = reduce(and_, (torch.isfinite(row).all().item() for row in chain(unscaled)), True)
    actions = {True: lambda: (unscaled, scale * growth_factor), False: lambda: (None, scale * backoff_factor)}
    return actions[finite]()
