"""What PyTorch makes of the same floats, to prove the reference with, where fp32 holds them exactly.

PyTorch converts a float64 to float16 by way of float32, so the two rules coincide where the first of its two roundings
changes nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import torch

from autograder.checks import differ


def coincides(arguments: Mapping[str, Any]) -> bool:
    """Return whether PyTorch rounds this float, or every float of this list, only once; nan has many patterns."""
    x = arguments["x"]
    return all(type(item) is float and is_single(item) for item in (x if type(x) is list else [x]))


def is_single(x: float) -> bool:
    """Return whether fp32 holds the float exactly; False for nan."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0] == x
    except OverflowError:
        return False


def pytorch(x: float | list[float]) -> int | list[int]:
    """Return the pattern, or the patterns, of PyTorch's halves, on torch's default device."""
    halves = torch.tensor(x, dtype=torch.float64).to(torch.float16)
    return (halves.view(torch.int16).to(torch.int32) & 0xFFFF).tolist()


def agrees(got: Any, want: Any) -> str | None:
    """Return one sentence on the first difference, or None where the patterns are the same."""
    return differ(got, want, where="the result")


DIFFERENCES = (
    (
        "Doubles that are no fp32 numbers",
        "PyTorch rounds a float64 to float32 and that to float16. 1 + 2**-11 + 2**-40 becomes 1 + 2**-11, a tie, and "
        "then 1.0; the nearest half is 1.0009765625, which is what the exercise, NumPy and struct give.",
    ),
    (
        "Just above half of the smallest half",
        "The next float after 2**-25 becomes 0 in PyTorch, because in float32 it is 2**-25, the tie. The nearest half "
        "is 2**-24.",
    ),
    (
        "Just below infinity",
        "The last float before 65520 is 65520 in float32, so PyTorch gives infinity, and the exercise 65504.",
    ),
    (
        "Other types",
        "torch.tensor(1, dtype=torch.float64) takes an int, and True too. The exercise takes floats only.",
    ),
)
