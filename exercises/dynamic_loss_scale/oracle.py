"""What PyTorch's own scaler does with the same arguments, to prove the reference with.

``GradScaler.update()`` leaves the work to one operator, ``torch._amp_update_scale_``, which is run here step by step.
It keeps the scale in float32 and the exercise keeps it in a Python float, so the two agree to the last bit only where
``coincides`` says so; ``DIFFERENCES`` names the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from autograder.checks import differ
from autograder.models import Scalar

MOST_STEPS = 5000
"""One operator call a step: longer runs prove nothing more."""
SMALLEST, LARGEST = -126, 127
"""Exponents of the smallest and the largest power of two among the normal float32 numbers."""


def coincides(arguments: Mapping[str, Any]) -> bool:
    """Return whether PyTorch's rule and the exercise's must agree on these plain arguments.

    They must where scale and factors are powers of two, so that nothing is ever rounded, and where the scale cannot
    leave the normal float32 numbers.
    """
    flags = [bool(flag.value if type(flag) is Scalar else flag) for flag in arguments["overflows"]]
    interval = arguments.get("growth_interval", 2000)
    exponents = [
        exponent(arguments.get(name, default))
        for name, default in (("init_scale", 65536.0), ("growth_factor", 2.0), ("backoff_factor", 0.5))
    ]
    if len(flags) > MOST_STEPS or None in exponents:
        return False
    start, growth, backoff = exponents
    bad = sum(flags)
    most_growths = (len(flags) - bad) // interval
    return start + bad * backoff >= SMALLEST and start + most_growths * growth <= LARGEST


def exponent(value: float) -> int | None:
    """Return the exponent of a power of two, None for any other number."""
    fraction, power = math.frexp(value)
    return power - 1 if fraction == 0.5 else None


def pytorch(
    overflows: Sequence[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, Any]:
    """Return what PyTorch's operator makes of the run, in the exercise's form, on torch's default device.

    Raises:
        RuntimeError: ``init_scale`` does not fit a float32.
    """
    scale = torch.full((1,), float(init_scale))
    tracker = torch.zeros(1, dtype=torch.int32)  # the run of good steps
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale.item())
        if overflow:
            skipped.append(step)
        found_inf = torch.full((1,), float(bool(overflow)))
        torch._amp_update_scale_(scale, tracker, found_inf, growth_factor, backoff_factor, growth_interval)
    return {"scales": scales, "skipped": skipped, "final_scale": scale.item()}


def agrees(got: Any, want: Any) -> str | None:
    """Return one sentence on the first difference between two plain results, or None where they agree exactly.

    Args:
        got: what the exercise's function returned.
        want: what ``pytorch`` returned.
    """
    return differ(got, want, where="the result")


DIFFERENCES = (
    (
        "Growth beyond float32",
        "PyTorch drops a growth that float32 cannot hold, and zeroes the run all the same. From 65536 with a growth "
        "at every step the scale is 2**127 = 1.7014118346046923e+38 after 111 steps and stays there. The exercise "
        "goes on: 2**128 = 3.402823669209385e+38 after 112 steps, 1.0531229166855719e+65 after 200, and inf after "
        "1008. At the default interval 111 growths take 222,000 good steps in a row.",
    ),
    (
        "Backing off to zero",
        "Below 2**-126 float32 is subnormal, and half of its smallest number is 0. From 65536 PyTorch's scale is "
        "1.401298464324817e-45 after 165 overflows in a row and 0.0 after 166; zero never recovers, because 0 * 2 is "
        "0. The exercise has 7.006492321624085e-46 then, and reaches 0.0 with the 1091st.",
    ),
    (
        "Factors and scales that are no power of two",
        "PyTorch rounds the scale to float32 after each update. From 8.0 with a backoff factor of 0.7 it arrives at "
        "5.599999904632568, the exercise at 5.6; a scale of 0.1 is 0.10000000149011612 from the start. The relative "
        "difference is at most 2**-24 = 6e-8 for each rounding, and adds up.",
    ),
    (
        "Huge factors",
        "With growth_factor=1e300 the scale 8.0 never grows in PyTorch, because 8e300 is no float32; the exercise "
        "returns 8e300. The product itself is taken in double precision: 1e-05 * 1e39 gives 9.999999790214768e+33, "
        "where a product of two float32 numbers would be inf.",
    ),
    (
        "An initial scale that is no float32",
        "PyTorch makes 1e-46 a scale of 0.0 without a word, and refuses 1e39 with a RuntimeError. The exercise takes "
        "both.",
    ),
    (
        "An int as the initial scale",
        "GradScaler.get_scale() returns the very init_scale that it was given, an int too, until scale() is first "
        "used; from then on a float. The exercise always returns floats.",
    ),
    (
        "What counts as a step",
        "PyTorch counts calls of update(): two calls of step() before one update() make the run one longer, and two "
        "optimizers that both overflow make the scale back off once. In the exercise one flag is one step.",
    ),
)
