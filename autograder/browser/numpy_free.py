"""Leave out what only NumPy can make: there is none in a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import compress
from typing import Any

from autograder.models import Case, Check, Scalar, Tensor
from autograder.plan import Plan
from autograder.reference.expectations import Expected


def plan(whole: Plan) -> Plan:
    """Return the plan without the cases that hold a NumPy value, and without their marks in the known patterns.

    Raises:
        ValueError: a check would have no case left.
    """
    checks, keeps = {}, {}
    for name, expected in whole.expectations.checks.items():
        keep = [not holds_numpy(case.calls) for case in expected.cases]
        keeps[name] = keep[: expected.fixed]
        if not any(keeps[name]):
            raise ValueError(f"every case of {whole.exercise.slug}'s check {name} needs NumPy")
        cases = tuple(compress(expected.cases, keep))
        checks[name] = Expected(cases, tuple(compress(expected.observations, keep)), sum(keeps[name]))
    patterns = {
        name: {check: tuple(compress(marks, keeps[check])) for check, marks in rows.items()}
        for name, rows in whole.patterns.items()
    }
    return replace(whole, expectations=replace(whole.expectations, checks=checks), patterns=patterns)


def between(check: Check, last: Case | None, case: Case | None) -> Iterator[Case]:
    """Yield what was left out of a check's fixed cases between two that were not; None stands for either end.

    Plain numbers stand for NumPy's there. They are tried all the same, unjudged: an answer that remembers earlier calls
    has then been called as often as everywhere, so that it is recognized.
    """
    start = 0 if last is None else _place(check, last) + 1
    end = len(check.cases) if case is None else _place(check, case)
    yield from (skipped for skipped in check.cases[start:end] if holds_numpy(skipped.calls))


def _place(check: Check, case: Case) -> int:
    """Return a case's place among the fixed ones; drawn ones come after them."""
    return next((index for index, fixed in enumerate(check.cases) if fixed is case), len(check.cases))


def holds_numpy(value: Any) -> bool:
    """Return whether a value is one of NumPy's or has one inside."""
    if isinstance(value, (Scalar, Tensor)):
        return isinstance(value, Scalar) or value.library == "numpy"
    if isinstance(value, Mapping):
        return any(map(holds_numpy, value.values()))
    if isinstance(value, (list, tuple)):
        return not {int, float, bool}.issuperset(map(type, value)) and any(map(holds_numpy, value))
    return False
