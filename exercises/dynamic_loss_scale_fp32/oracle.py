"""PyTorch's own operator, ``torch._amp_update_scale_``, step by step: bit for bit what the exercise asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from autograder.checks import differ
from autograder.models import Scalar

MOST_STEPS = 5000
"""One operator call a step: longer runs prove nothing more."""
LARGEST = torch.finfo(torch.float32).max


def coincides(arguments: Mapping[str, Any]) -> bool:
    """Return whether PyTorch can be asked: it can wherever the first scale fits fp32."""
    return arguments.get("init_scale", 65536.0) <= LARGEST and len(arguments["overflows"]) <= MOST_STEPS


def pytorch(
    overflows: Sequence[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, Any]:
    """Return what PyTorch's operator makes of the run, in the exercise's form, on torch's default device."""
    scale = torch.full((1,), float(init_scale))
    tracker = torch.zeros(1, dtype=torch.int32)  # the run of good steps
    scales, skipped = [], []
    for step, flag in enumerate(overflows):
        overflow = bool(flag.value if type(flag) is Scalar else flag)
        scales.append(scale.item())
        if overflow:
            skipped.append(step)
        torch._amp_update_scale_(
            scale, tracker, torch.full((1,), float(overflow)), growth_factor, backoff_factor, growth_interval
        )
    return {"scales": scales, "skipped": skipped, "final_scale": scale.item()}


def agrees(got: Any, want: Any) -> str | None:
    """Return one sentence on the first difference between two plain results, or None where they agree exactly."""
    return differ(got, want, where="the result")


DIFFERENCES = (
    (
        "A first scale beyond fp32",
        "PyTorch refuses 1e39, and all that is above the largest fp32 number, with a RuntimeError when the tensor is "
        "made. It takes infinity and nan, from which its scale never comes back. The exercise raises ValueError for "
        "all of them.",
    ),
)
