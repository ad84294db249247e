"""What PyTorch makes of the same bits, to prove the reference with: an int16 tensor, seen as float16."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from autograder.checks import differ


def coincides(arguments: Mapping[str, Any]) -> bool:
    """Return whether PyTorch can be asked: for one pattern, or for a list of patterns."""
    bits = arguments["bits"]
    patterns = bits if type(bits) is list else [bits]
    return all(type(pattern) is int and 0 <= pattern <= 0xFFFF for pattern in patterns)


def pytorch(bits: int | list[int]) -> float | list[float]:
    """Return the number, or the numbers, that PyTorch reads in these patterns, on torch's default device."""
    signed = torch.tensor(bits, dtype=torch.int32).to(torch.int16)  # keeps the low 16 bits
    return signed.view(torch.float16).tolist()


def agrees(got: Any, want: Any) -> str | None:
    """Return one sentence on the first difference, signs of zeros included, or None where there is none."""
    return differ(got, want, where="the result") or differ(signs(got), signs(want), where="the sign of 1 / x in it")


def signs(numbers: Any) -> list[bool]:
    """Return for each number whether it is a negative zero."""
    return [
        number == 0 and repr(number).startswith("-") for number in (numbers if type(numbers) is list else [numbers])
    ]


DIFFERENCES = (
    (
        "A pattern as an int",
        "PyTorch has no unsigned reading of a Python int here: a pattern above 0x7fff has to become a negative int16 "
        "first, -32768 for 0x8000. torch.tensor(0x8000, dtype=torch.int16) raises a RuntimeError. The exercise takes "
        "the pattern as it is.",
    ),
    (
        "Arguments that are no pattern",
        "Converting 65536 to int16 keeps the low 16 bits, which gives 0.0, and True becomes 1. The exercise raises "
        "ValueError and TypeError.",
    ),
)
