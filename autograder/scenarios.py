"""Scenarios: the small programs that use the student's function and return what they saw.

They run beside the student's code, so what they return is a claim. They return values, never verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from autograder.models import Outcome, Value
from autograder.tensors import build, overwrite, plain


@dataclass(frozen=True, slots=True)
class Tried:
    """One call that was made."""

    outcome: Outcome
    again: Callable[[], Value] | None = None
    """Reads the returned value once more, when all calls of the case have been made; None where nobody asks."""


Scenario = Callable[[Callable[..., Any], Mapping[str, Value], str], Tried]
"""(the student's function, plain keyword arguments, device) -> the call."""


def call(function: Callable[..., Any], arguments: Mapping[str, Value], device: str = "cpu") -> Tried:
    """Call once; return what came back and what the arguments were afterwards."""
    built = _built(arguments, device)
    returned = function(**dict(built))
    return Tried(Outcome(returned=plain(returned), after=plain(dict(built))))


def kept(function: Callable[..., Any], arguments: Mapping[str, Value], device: str = "cpu") -> Tried:
    """Call once, keep what came back, and read it again after the other calls of the case.

    A list, dict or tensor that the function has for itself, and fills anew at every call, changes with the next call.
    """
    built = _built(arguments, device)
    returned = function(**dict(built))
    return Tried(Outcome(returned=plain(returned), after=plain(dict(built))), lambda: plain(returned))


def overwritten(function: Callable[..., Any], arguments: Mapping[str, Value], device: str = "cpu") -> Tried:
    """Call once, then overwrite the lists and tensors that were passed in, and read the returned value again.

    What is returned and shares memory with an input changes with it. It is kept, too, as ``kept`` does.
    """
    built = _built(arguments, device)
    returned = function(**dict(built))
    before, after = plain(returned), plain(dict(built))
    overwrite(dict(built))
    return Tried(Outcome(returned=before, after=after, later=plain(returned)), lambda: plain(returned))


def each(function: Callable[..., Any], arguments: Mapping[str, Value], device: str = "cpu") -> Tried:
    """Call once for every element of the arguments, which are lists of one length; return the list of what came back.

    So thousands of inputs are one case. The first exception ends it; what became of the elements is not looked at.
    """
    built = build(dict(arguments), device)
    rows = zip(*built.values(), strict=True)
    returned = [function(**dict(zip(built, row, strict=True))) for row in rows]
    return Tried(Outcome(returned=plain(returned)))


def _built(arguments: Mapping[str, Value], device: str) -> tuple[tuple[str, Any], ...]:
    # A tuple: what is read after the call are the very objects that were passed in.
    return tuple(build(dict(arguments), device).items())


SCENARIOS: Final[Mapping[str, Scenario]] = MappingProxyType(
    {"call": call, "kept": kept, "overwritten": overwritten, "each": each}
)
