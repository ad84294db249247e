"""What PyTorch's own scaler does with the same arguments, to prove the reference with.

``torch.amp.GradScaler`` judges the incoming values and the exercise the unscaled ones, so the two agree only where
``coincides`` says so; ``DIFFERENCES`` names the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.checks import close, differ

VALUE_RTOL = 2e-6
"""PyTorch multiplies by the float32 reciprocal, for float64 gradients too; the exercise divides."""
SCALE_RTOL = 1e-6
"""PyTorch keeps the scale in float32."""
VALUE_ATOL = {"float32": 2 * 2.0**-149, "float64": 2 * 2.0**-1074}
LARGEST = {"float32": torch.finfo(torch.float32).max, "float64": torch.finfo(torch.float64).max}
MARGIN = 1e-6
"""Relative distance from the largest number within which rounding decides, and nothing is claimed."""


def coincides(arguments: Mapping[str, Any]) -> bool:
    """Return whether PyTorch's rule and the exercise's must agree on these plain arguments.

    They must where there is a gradient at all, where no finite element overflows by the division, and where the scale,
    its reciprocal and the new scale are ordinary float32 numbers.
    """
    scale = float(arguments["scale"])
    grown = scale * float(arguments.get("growth_factor", 2.0))
    if not arguments["grads"] or not 2.0**-100 <= abs(scale) <= abs(grown) < 2.0**127:
        return False
    for grad in arguments["grads"]:
        if grad.dtype not in LARGEST:
            return False
        limit = LARGEST[grad.dtype] * (1 - MARGIN)
        if any(math.isfinite(value) and abs(value) / abs(scale) > limit for value in grad.values):
            return False
    return True


def pytorch(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    """Return what ``torch.amp.GradScaler`` makes of the gradients, on their device; the gradients are left unchanged.

    One parameter for each gradient, SGD, and a growth interval of 1, so that every clean update grows the scale.

    Raises:
        ValueError: an empty list (an optimizer needs a parameter), or a float16 gradient.
    """
    parameters = [torch.nn.Parameter(torch.zeros_like(grad)) for grad in grads]
    for parameter, grad in zip(parameters, grads, strict=True):
        parameter.grad = grad.clone()
    optimizer = torch.optim.SGD(parameters, lr=1.0)
    device = grads[0].device if grads else torch.device("cpu")
    scaler = torch.amp.GradScaler(
        device.type,
        init_scale=float(scale),
        growth_factor=growth_factor,
        backoff_factor=backoff_factor,
        growth_interval=1,
    )
    before = scaler.scale(torch.ones((), device=device)).item()  # the first use of `scale` makes the scale's tensor
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    after = scaler.get_scale()
    # It says nowhere in public that it skipped; with a scale that is not 0, backing off does.
    skipped = abs(after) < abs(before)
    return (None if skipped else [parameter.grad for parameter in parameters]), after


def agrees(got: Any, want: Any) -> str | None:
    """Return one sentence on the first difference between two plain results, or None where they agree.

    Args:
        got: what the exercise's function returned.
        want: what ``pytorch`` returned.
    """
    if type(got) is not tuple or len(got) != 2:
        return "the result is not a tuple of two"
    if (got[0] is None) != (want[0] is None):
        return (
            "PyTorch skips the step and the exercise does not"
            if want[0] is None
            else "only the exercise skips the step"
        )
    if want[0] is not None and (found := _gradients(got[0], want[0])):
        return found
    if type(got[1]) not in (int, float) or not close(got[1], want[1], SCALE_RTOL):
        return f"the new scale is {got[1]!r}, and PyTorch's {want[1]!r}"
    return None


def _gradients(got: Any, want: list[Any]) -> str | None:
    if type(got) is not list or len(got) != len(want):
        return f"the gradients are not a list of {len(want)}"
    for index, (mine, theirs) in enumerate(zip(got, want, strict=True)):
        atol = VALUE_ATOL[theirs.dtype]
        if found := differ(mine, theirs, rtol=VALUE_RTOL, atol=atol, where=f"unscaled[{index}]"):
            return found
    return None


DIFFERENCES = (
    (
        "A scale below 1",
        "PyTorch judges the gradients while they are still scaled, and does not look again after the multiplication. "
        "With scale 0.5 and a float32 gradient of 3e38 it finds no inf: the gradient becomes inf, SGD writes -inf "
        "into the parameter, and the scale grows to 1.0. The exercise judges what comes out, and returns (None, "
        "0.25). For |scale| >= 1 the two orders give the same verdict on every input.",
    ),
    (
        "A scale near the end of float32",
        "PyTorch keeps the scale in float32 and drops a growth that would exceed it: from 2**127 a clean step leaves "
        "the scale at 1.7014118346046923e+38. The exercise computes with Python floats and returns 2**128 = "
        "3.402823669209385e+38.",
    ),
    (
        "Factors and scales that are no power of two",
        "PyTorch rounds the scale to float32. From 8.0 with a backoff factor of 0.7 it arrives at 5.599999904632568, "
        "the exercise at 5.6; from 0.1 it grows to 0.20000000298023224, the exercise to 0.2.",
    ),
    (
        "Multiplying in place of dividing",
        "PyTorch multiplies by the float32 reciprocal of the scale, for float64 gradients too: 1.0 unscaled by 3 is "
        "0.3333333432674408 in float64, where dividing gives 0.3333333333333333. In float32 the two differ by one "
        "unit in the last place at most, and not at all for powers of two.",
    ),
    (
        "No gradients",
        "An optimizer without parameters raises ValueError in PyTorch, and a scaler that has judged no gradient raises "
        "AssertionError. In the exercise an empty list is a clean step: ([], scale * growth_factor).",
    ),
    (
        "How often the scale grows",
        "PyTorch grows after growth_interval clean updates in a row, 2000 by default, and backs off at once. The "
        "exercise is its behavior at growth_interval=1.",
    ),
    (
        "Half-precision gradients",
        "PyTorch refuses to unscale float16 gradients with a ValueError. The exercise does not grade them: in float16 "
        "the division itself would send small gradients to zero.",
    ),
    (
        "Where the results are",
        "PyTorch unscales parameter.grad in place, on an overflow too, and shows a skipped step by nothing but the "
        "scale: step() returns None whether it skipped or not. The exercise returns new tensors, and None exactly "
        "where the step is skipped.",
    ),
)
