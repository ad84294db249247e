"""Prove a reference solution by PyTorch itself: ``exercises/<slug>/oracle.py``, where an exercise has one.

The file defines ``coincides(arguments)`` (where the two rules must agree), ``pytorch(**arguments)`` (what PyTorch
does), ``agrees(got, want)`` (None, or the first difference) and ``DIFFERENCES`` (where the two rules differ, and
why).
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from autograder.checks import show_calls
from autograder.models import Case, Exercise, Outcome, Value
from autograder.observations import observe
from autograder.reference.expectations import Expectations, ReferenceError, place_of
from autograder.values import show

_FILE: Final = "oracle.py"


@dataclass(frozen=True, slots=True)
class Oracle:
    """An exercise's ``oracle.py``, loaded."""

    coincides: Callable[[Mapping[str, Value]], bool]
    pytorch: Callable[..., Any]
    agrees: Callable[[Value, Value], str | None]
    differences: tuple[tuple[str, str], ...]


def load(exercise: Exercise) -> Oracle | None:
    """Return the exercise's oracle, None where it has none."""
    path = exercise.folder / _FILE
    if not path.is_file():
        return None
    names = runpy.run_path(str(path))
    return Oracle(names["coincides"], names["pytorch"], names["agrees"], names["DIFFERENCES"])


def verify(exercise: Exercise, expectations: Expectations) -> int:
    """Compare the expected observations with PyTorch's wherever the rules coincide; return how many calls agreed.

    Raises:
        ReferenceError: they differ; the sentence names file, check, case, what each did, and what to do.
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
                theirs = _pytorch(oracle, arguments, expectations.reference.device)
                found = _difference(oracle, outcome, theirs)
                if found:
                    call = show_calls(exercise.entry, Case(case.name, (arguments,)), 0)
                    raise ReferenceError(
                        f"{place_of(exercise, check.id)}, case “{case.name}”: our reference and PyTorch disagree on "
                        f"{call}: {found}. solutions/{exercise.slug}.py {_did(outcome)}; PyTorch, as {_FILE} asks it, "
                        f"{_did(theirs)}. Mend solutions/{exercise.slug}.py; or where the two rules differ there, let "
                        f"`coincides` in exercises/{exercise.slug}/{_FILE} return False for such arguments, and say "
                        "why in DIFFERENCES."
                    )
    return agreed


def _did(outcome: Outcome) -> str:
    if outcome.raised is not None:
        return f"raised {outcome.raised.type_name}: {outcome.raised.message}"
    return f"returned {show(outcome.returned)}"


def _difference(oracle: Oracle, ours: Outcome, theirs: Outcome) -> str | None:
    if theirs.raised is not None:
        return f"PyTorch raised {theirs.raised.type_name}: {theirs.raised.message}"
    return oracle.agrees(ours.returned, theirs.returned)


def _pytorch(oracle: Oracle, arguments: Mapping[str, Value], device: str) -> Outcome:
    import torch

    with torch.device(device):  # what an oracle makes itself is made there, too
        return observe(oracle.pytorch, Case("", (arguments,)), device=device).outcomes[0]
