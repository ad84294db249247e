"""What came of running a student's cells, in words; the same ones in the confined process and in a browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from autograder.models import Observation, Raised
from autograder.sandbox.forbid import sentence
from autograder.values import brief


@dataclass(frozen=True, slots=True)
class Loaded:
    """What is said about the student's cells by the process that ran them; a claim."""

    forbidden: tuple[tuple[int, int, str], ...] = ()
    """(cell, line, name) of what the exercise does not accept; found before the code ran."""
    defined: bool = False
    callable: bool = False
    errors: tuple[Raised, ...] = ()
    notes: tuple[str, ...] = ()
    output: str = ""


RENAMED: Final = "its cell may have been deleted or renamed"
"""Why a notebook may have no function of that name."""


def no_function(
    loaded: Loaded, entry: str, lost: str = f"; {RENAMED}", other: str = f"; {RENAMED}"
) -> Observation | None:
    """Return why there is nothing to try, as an observation of the whole submission; None where there is a function.

    Args:
        loaded: what came of the student's cells.
        entry: the function's name.
        lost: what is said after "there is no `entry`" where no exception explains it.
        other: what is said where the name is that of something else.
    """
    if loaded.forbidden:
        cell, line, name = loaded.forbidden[0]
        return whole("forbidden", f"{sentence(name)} (cell {cell}, line {line})")
    if loaded.callable:
        return None
    what = f"the name `{entry}` is defined, but it is not a function" if loaded.defined else f"there is no `{entry}`"
    because = f", because {place(loaded.errors[0])}" if loaded.errors else other if loaded.defined else lost
    return whole("error", what + because)


def whole(ended: Literal["error", "timeout", "forbidden", "not_run"], detail: str) -> Observation:
    """Return an observation that concerns the whole submission, and no case of it."""
    return Observation(ended=ended, detail=detail, whole=True)


def late(seconds: float) -> str:
    """Return what is said of a check that ran out of time: what was allowed, not what was measured."""
    return f"no answer within {brief(seconds, 3)} s: an endless loop, or far too slow"


def before_the_end(budget: float) -> str:
    """Return by when a submission with a budget of so many seconds was to be through with everything."""
    return f"before the {brief(2 * budget, 3)} s for the whole submission were over"


def far_too_slow(budget: float) -> str:
    """Return what is said of the check at which all time of a submission ran out."""
    return f"no answer {before_the_end(budget)}: it, or what ran before, is far too slow"


def used_up() -> Observation:
    """Return what is observed of a check for which there is no time left."""
    return whole("not_run", "not run, because the time for this submission was used up before")


def not_understood(error: Exception) -> Observation:
    """Return what is observed where an answer is not of the form, or not within the limits, that are agreed on."""
    return Observation(ended="crashed", detail=f"the run's answer was not in the expected form ({error})")


def too_large(limit: int) -> Observation:
    """Return what is observed where an answer has more than ``limit`` bytes."""
    return Observation(ended="crashed", detail=f"it returned more than can be compared: over {limit // 2**20} MiB")


def place(raised: Raised) -> str:
    """Return an exception and where it was, in one line."""
    where = "" if raised.line is None else f"line {raised.line}: "
    cell = "" if raised.cell is None else f"cell {raised.cell}, "
    message = f": {raised.message}" if raised.message else ""
    source = f" ({raised.source})" if raised.source else ""
    return f"{cell}{where}{raised.type_name}{message}{source}"
