"""Scenarios: the small programs that use the student's function and return what they saw.

They run beside the student's code, so what they return is a claim. They return values, never verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from autograder.models import Outcome, Value
from autograder.tensors import build, overwrite, plain


def call(function: Callable[..., Any], arguments: Mapping[str, Value], device: str = "cpu") -> Outcome:
    """Call once; return what came back and what the arguments were afterwards."""
    built = _built(arguments, device)
    returned = function(**dict(built))
    return Outcome(returned=plain(returned), after=plain(dict(built)))


def overwritten(function: Callable[..., Any], arguments: Mapping[str, Value], device: str = "cpu") -> Outcome:
    """Call once, then overwrite the tensors that were passed in, and read the returned value again.

    A returned tensor that shares memory with an input changes with it.
    """
    built = _built(arguments, device)
    returned = function(**dict(built))
    before, after = plain(returned), plain(dict(built))
    overwrite(dict(built))
    return Outcome(returned=before, after=after, later=plain(returned))


def each(function: Callable[..., Any], arguments: Mapping[str, Value], device: str = "cpu") -> Outcome:
    """Call once for every element of the arguments, which are lists of one length; return the list of what came back.

    So thousands of inputs are one case. The first exception ends it; what became of the elements is not looked at.
    """
    built = build(dict(arguments), device)
    rows = zip(*built.values(), strict=True)
    returned = [function(**dict(zip(built, row, strict=True))) for row in rows]
    return Outcome(returned=plain(returned))


def _built(arguments: Mapping[str, Value], device: str) -> tuple[tuple[str, Any], ...]:
    # A tuple: what is read after the call are the very objects that were passed in.
    return tuple(build(dict(arguments), device).items())


SCENARIOS: Final[Mapping[str, Callable[..., Outcome]]] = MappingProxyType(
    {"call": call, "overwritten": overwritten, "each": each}
)
