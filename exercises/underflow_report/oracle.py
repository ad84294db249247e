"""What PyTorch's own backward pass does to the same gradients, to prove the reference with.

For each gradient there is a float32 parameter that the forward pass reads as fp16, as a layer under autocast does. The
loss is chosen so that its gradient is the one asked about, and it is multiplied by the scale. Backward then computes
the scaled gradient and has to bring it through fp16; the parameter's ``.grad`` shows what is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.checks import differ

DTYPES = ("float32", "float16", "bfloat16")


def coincides(arguments: Mapping[str, Any]) -> bool:
    """Return whether PyTorch's rule and the exercise's must agree on these plain arguments: on all that are meant."""
    return all(grad is None or grad.dtype in DTYPES for grad in arguments["grads"])


def pytorch(grads: list[Tensor | None], scale: float) -> dict[str, int | float]:
    """Return the report on what arrives in ``.grad`` when the loss is multiplied by the scale."""
    counts = dict.fromkeys(("total", "zeroed", "subnormal", "normal", "overflowed"), 0)
    for grad in grads:
        for true, arrived in _through_fp16(grad, scale) if grad is not None else ():
            if true == 0 or not torch.isfinite(torch.tensor(true)):
                continue
            counts["total"] += 1
            counts[_kind(arrived)] += 1
    return {**counts, "fraction_zeroed": counts["zeroed"] / max(counts["total"], 1)}


def _through_fp16(grad: Tensor, scale: float) -> list[tuple[float, float]]:
    """Return (the true gradient, what arrives of its scaled value) for each element."""
    weight = torch.zeros(grad.shape, device=grad.device, requires_grad=True)
    loss = (weight.half().float() * grad.float()).sum()
    (loss * scale).backward()
    assert weight.grad is not None
    return list(zip(grad.flatten().tolist(), weight.grad.flatten().tolist(), strict=True))


def _kind(arrived: float) -> str:
    # Read off the number as a mathematician would: fp16's normal numbers are those with an exponent of -14 or more.
    if arrived == 0:
        return "zeroed"
    if arrived in (float("inf"), float("-inf")):
        return "overflowed"
    _, exponent = torch.frexp(torch.tensor(arrived, dtype=torch.float64))
    return "normal" if exponent.item() - 1 >= -14 else "subnormal"


def agrees(got: Any, want: Any) -> str | None:
    """Return one sentence on the first difference between two plain results, or None where they agree."""
    return differ(got, want, where="the report")


DIFFERENCES = ()
