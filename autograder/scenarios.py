"""Scenarios: the small programs that use the student's function and return what they saw.

They run beside the student's code, so what they return is a claim. They return values, never verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
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


Built = tuple[tuple[str, Any], ...]
"""The keyword arguments of one call, built. A tuple: what is read after the call are the very objects passed in."""
Within = Callable[[Callable[[], Any]], Any]
"""Runs a step, which is the student's code alone, and returns what it returns."""
Read = Callable[[Any], Any]
"""Returns a value as data: ``plain``, or ``encoded``, which is its JSON form."""
Scenario = Callable[[Callable[..., Any], Built, Within, Read], Tried]
"""(the student's function, the arguments, how its code is run, how values are read) -> the call."""


def directly(step: Callable[[], Any]) -> Any:
    """Run a step as it is."""
    return step()


def prepare(arguments: Mapping[str, Value], device: str = "cpu") -> Built:
    """Return plain keyword arguments, built for one call; they are used up by it."""
    return tuple(build(dict(arguments), device).items())


def call(function: Callable[..., Any], built: Built, within: Within = directly, read: Read = plain) -> Tried:
    """Call once; return what came back and what the arguments were afterwards."""
    returned = within(partial(function, **dict(built)))
    return Tried(Outcome(returned=read(returned), after=_each_read(built, read)))


def kept(function: Callable[..., Any], built: Built, within: Within = directly, read: Read = plain) -> Tried:
    """Call once, keep what came back, and read it again after the other calls of the case.

    A list, dict or tensor that the function has for itself, and fills anew at every call, changes with the next call.
    """
    returned = within(partial(function, **dict(built)))
    return Tried(Outcome(returned=read(returned), after=_each_read(built, read)), lambda: read(returned))


def overwritten(function: Callable[..., Any], built: Built, within: Within = directly, read: Read = plain) -> Tried:
    """Call once, then overwrite the lists and tensors that were passed in, and read the returned value again.

    What is returned and shares memory with an input changes with it. It is kept, too, as ``kept`` does.
    """
    returned = within(partial(function, **dict(built)))
    before, after = read(returned), _each_read(built, read)
    overwrite(dict(built))
    return Tried(Outcome(returned=before, after=after, later=read(returned)), lambda: read(returned))


def each(function: Callable[..., Any], built: Built, within: Within = directly, read: Read = plain) -> Tried:
    """Call once for every element of the arguments, which are lists of one length; return the list of what came back.

    So thousands of inputs are one case. The first exception ends it; what became of the elements is not looked at.
    """
    returned = within(partial(_each, function, built))
    return Tried(Outcome(returned=read(returned)))


def _each_read(built: Built, read: Read) -> dict[str, Any]:
    return {name: read(value) for name, value in built}


def _each(function: Callable[..., Any], built: Built) -> list[Any]:
    names = [name for name, _ in built]
    rows = zip(*(items for _, items in built), strict=True)
    if len(names) == 1:  # the usual case, and a dict from a pair of tuples takes as long as a short answer
        (name,) = names
        return [function(**{name: item}) for (item,) in rows]
    return [function(**dict(zip(names, row, strict=True))) for row in rows]


SCENARIOS: Final[Mapping[str, Scenario]] = MappingProxyType(
    {"call": call, "kept": kept, "overwritten": overwritten, "each": each}
)
