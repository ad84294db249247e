"""The same rounding without a bit operation, to prove the reference with: PyTorch's neighbors and plain arithmetic.

``.bfloat16()`` and ``torch.nextafter`` give the two numbers that x lies between, and float64 is wide enough to say
exactly how far it is from the lower one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.checks import Tensor as Plain

GAP_AT_THE_END = 2.0**120
"""The gap below the largest bfloat16, which goes on above it as if inf were the next number."""


def coincides(arguments: Mapping[str, Any]) -> bool:
    """Return whether the two rules must agree on these plain arguments: on all that are meant."""
    return arguments["x"].dtype == "float32" and arguments["r"].dtype == "int32"


def pytorch(x: Tensor, r: Tensor) -> Tensor:
    """Return the lower neighbor of each magnitude, or the upper one where share + r / 65536 reaches 1."""
    nearest = x.bfloat16()
    size, near = x.abs(), nearest.abs()
    lower = torch.where(near.float() > size, torch.nextafter(near, torch.zeros_like(near)), near)
    upper = torch.nextafter(lower, torch.full_like(near, float("inf")))
    gap = torch.where(upper.isinf(), GAP_AT_THE_END, upper.double() - lower.double())
    share = (size.double() - lower.double()) / gap
    rounded = torch.where(share + r.double() / 65536 >= 1, upper, lower)
    return torch.where(torch.isfinite(x), torch.copysign(rounded, nearest), nearest)


def agrees(got: Any, want: Any) -> str | None:
    """Return one sentence on the difference between two plain results, or None where they agree, signs of zero too."""
    if type(got) is not Plain or (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"the result is {got!r}, and PyTorch's {want!r}"
    for index, (mine, theirs) in enumerate(zip(got.values, want.values, strict=True)):
        if repr(mine) != repr(theirs):
            return f"element {index} is {mine!r}, and PyTorch's {theirs!r}"
    return None


DIFFERENCES = ()
