"""What PyTorch's own optimizer makes of the same step, to prove the reference with: ``torch.optim.SGD`` in float32."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.checks import rounded, ulp

ULPS = 2


def coincides(arguments: Mapping[str, Any]) -> bool:
    """Return whether PyTorch's rule and the exercise's must agree on these plain arguments: wherever all is finite."""
    return all(map(math.isfinite, (*arguments["master"].values, *arguments["grad"].values, arguments["lr"])))


def pytorch(w16: Tensor, master: Tensor, grad: Tensor, lr: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return (w16, master, size): what the model would load, what SGD leaves, and what an error is measured by."""
    weight = torch.nn.Parameter(master.clone())
    weight.grad = grad.to(torch.float32, copy=True)
    torch.optim.SGD([weight], lr=lr).step()
    model = torch.nn.ParameterDict({"weight": torch.empty_like(w16)})
    model.load_state_dict({"weight": weight.detach()})  # it copies into the parameter's own dtype
    size = torch.maximum(master.double().abs(), (lr * grad.double()).abs())
    return model["weight"].detach(), weight.detach(), size


def agrees(got: Any, want: Any) -> str | None:
    """Return one sentence on the first difference between two plain results, or None where they agree.

    The masters may be two ulp apart; then the copies may be one fp16 number apart, and are not compared.
    """
    if type(got) is not tuple or len(got) != 2:
        return "the result is not a tuple of two"
    (w16, master), (their_w16, their_master, size) = got, want
    for mine, theirs in ((w16, their_w16), (master, their_master)):
        if (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
            return f"{mine.dtype} of shape {mine.shape}, where PyTorch has {theirs.dtype} of shape {theirs.shape}"
    for index, (mine, theirs) in enumerate(zip(master.values, their_master.values, strict=True)):
        if abs(mine - theirs) > ULPS * ulp(rounded(size.values[index], "float32"), "float32"):
            return f"master[{index}] is {mine!r}, and PyTorch's {theirs!r}"
        if mine == theirs and w16.values[index] != their_w16.values[index]:
            return f"w16[{index}] is {w16.values[index]!r}, and PyTorch's {their_w16.values[index]!r}"
    return None


DIFFERENCES = (
    (
        "Where the rate is rounded",
        "The exercise's own solution multiplies and subtracts; SGD does both in one operation, which may round once "
        "less: a matter of the last bit. Two ulp of the larger term are allowed, and both are right.",
    ),
    (
        "Where the step is made",
        "SGD writes into the parameter, and knows nothing of an fp16 copy: keeping one in step with it is left to the "
        "caller. The exercise returns both as new tensors.",
    ),
)
