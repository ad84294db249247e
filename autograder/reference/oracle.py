"""Prove a reference solution by PyTorch itself: ``exercises/<slug>/oracle.py``, where an exercise has one.

The file defines ``coincides(arguments)`` (where the two rules must agree), ``pytorch(**arguments)`` (what PyTorch
does), ``agrees(got, want)`` (None, or the first difference) and ``DIFFERENCES`` (where the two rules differ, and
why).
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.models import Case, Exercise, Value
from autograder.observations import observe
from autograder.reference.expectations import Expectations, ReferenceError


@dataclass(frozen=True, slots=True)
class Oracle:
    """An exercise's ``oracle.py``, loaded."""

    coincides: Callable[[Mapping[str, Value]], bool]
    pytorch: Callable[..., Any]
    agrees: Callable[[Value, Value], str | None]
    differences: tuple[tuple[str, str], ...]


def load(exercise: Exercise) -> Oracle | None:
    """Return the exercise's oracle, None where it has none."""
    path = exercise.folder / "oracle.py"
    if not path.is_file():
        return None
    names = runpy.run_path(str(path))
    return Oracle(names["coincides"], names["pytorch"], names["agrees"], names["DIFFERENCES"])


def verify(exercise: Exercise, expectations: Expectations) -> int:
    """Compare the expected observations with PyTorch's wherever the rules coincide; return how many calls agreed.

    Raises:
        ReferenceError: they differ; the sentence names exercise, check, case and values.
    """
    oracle = load(exercise)
    if oracle is None:
        return 0
    agreed = 0
    seen: set[str] = set()
    for check in exercise.checks:
        expected = expectations.checks[check.id]
        for case, observation in zip(expected.cases, expected.observations, strict=True):
            for arguments, outcome in zip(case.calls, observation.outcomes, strict=True):
                key = repr(arguments)
                if key in seen or not oracle.coincides(arguments):
                    continue
                seen.add(key)
                agreed += 1
                found = _compare(oracle, arguments, outcome.returned, expectations.reference.device)
                if found:
                    place = f"{exercise.slug}, check {check.id}, case “{case.name}”"
                    raise ReferenceError(f"our reference and PyTorch disagree on {place}: {found}")
    return agreed


def _compare(oracle: Oracle, arguments: Mapping[str, Value], ours: Value, device: str) -> str | None:
    import torch

    with torch.device(device):  # what an oracle makes itself is made there, too
        seen = observe(oracle.pytorch, Case("", (arguments,)), device=device).outcomes[0]
    if seen.raised is not None:
        return f"PyTorch raised {seen.raised.type_name}: {seen.raised.message}"
    return oracle.agrees(ours, seen.returned)
