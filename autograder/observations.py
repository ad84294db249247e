"""Make observations, and carry them as JSON; standard library only.

``observe`` is the one way in which a function is tried: in the confined process, in a student's notebook, in a browser,
and for the reference.
"""

from __future__ import annotations

import errno
import hashlib
import io
import linecache
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Final

from autograder.models import Case, Observation, Opaque, Outcome, Part, Raised, Scalar, Tensor, Value
from autograder.scenarios import SCENARIOS, Built, Scenario, Tried, Within, directly, prepare
from autograder.tensors import encoded, exactly, plain, type_name, without_address
from autograder.values import BadValue, Budget, decode, encode

OUTPUT_LIMIT: Final = 10_000
"""Characters of printed output that are kept for one case."""
_MESSAGE_LIMIT: Final = 500
_MAX_CALLS: Final = 64
_TRACE_OF: Final = BaseException.__dict__["__traceback__"].__get__
_ENDED: Final = ("", "error", "timeout", "memory", "crashed", "forbidden", "not_run")

_ENDS: Final = 2_000

CellOf = Callable[[str], int | None]
"""Maps a code object's file name to the number of the student's cell, or None."""
Heard = Callable[[str], object]
"""Is told what is printed, as it is printed."""


def observe(
    function: Callable[..., Any],
    case: Case,
    scenario: str = "call",
    *,
    device: str = "cpu",
    cell_of: CellOf | None = None,
    heard: Heard | None = None,
) -> Observation:
    """Run a scenario on a case and return what it saw; exceptions of the function become part of it.

    Printed text is captured and warnings are silenced: an overflow warning is no fault, and nbgrader scores a cell
    that writes to stderr as 0. ``heard`` is told what is captured at once: a run may be ended before it returns.
    """
    run = SCENARIOS[scenario]
    steps = (partial(_build_and_run, run, function, arguments, device) for arguments in case.calls)
    return _seen(steps, cell_of, heard)


def observe_built(
    function: Callable[..., Any],
    calls: Sequence[Built],
    scenario: str,
    *,
    cell_of: CellOf | None = None,
    within: Within = directly,
) -> dict[str, Any]:
    """As ``encode_observation(observe(...))``, on calls whose arguments are built already; they are used up by it.

    ``within`` runs each step that is the student's code.
    """
    seen = _seen((partial(SCENARIOS[scenario], function, built, within, encoded) for built in calls), cell_of, None)
    return encode_observation(seen, write=_as_it_is)


def _seen(steps: Iterable[Callable[[], Tried]], cell_of: CellOf | None, heard: Heard | None) -> Observation:
    output = Capture(heard)
    with quiet(output):
        # All calls come before the second reading of the first one: a later call may change what an earlier returned.
        made = [_or_raised(step, cell_of) for step in steps]
        outcomes = [_or_raised(partial(_read_again, tried), cell_of).outcome for tried in made]
    return Observation(tuple(outcomes), output=output.getvalue())


def _build_and_run(run: Scenario, function: Callable[..., Any], arguments: Mapping[str, Value], device: str) -> Tried:
    return run(function, prepare(arguments, device), directly, plain)


def _or_raised(step: Callable[[], Tried], cell_of: CellOf | None) -> Tried:
    try:
        return step()
    except KeyboardInterrupt:
        raise  # the student stops the run in their notebook
    except BaseException as error:
        return Tried(Outcome(raised=describe(error, cell_of)))


def _read_again(tried: Tried) -> Tried:
    return tried if tried.again is None else Tried(replace(tried.outcome, kept=tried.again()))


class Capture(io.StringIO):
    """A text stream that keeps the first OUTPUT_LIMIT characters and swallows the rest; it cannot be closed."""

    def __init__(self, heard: Heard | None = None) -> None:
        """Make an empty one; ``heard`` is told whatever is kept."""
        super().__init__()
        self._heard = heard

    def write(self, text: str, /) -> int:
        room = OUTPUT_LIMIT - self.tell()
        if room > 0:
            super().write(text[:room])
            if self._heard is not None:
                self._heard(text[:room])
        return len(text)

    def close(self) -> None:
        """Stay open: whoever closes sys.stdout does not close ours."""

    def getvalue(self) -> str:
        """Return what was kept, within the limit whatever way it was written."""
        return super().getvalue()[:OUTPUT_LIMIT]


class quiet:
    """Send stdout and stderr into ``output`` and silence warnings, as long as the ``with`` statement lasts."""

    def __init__(self, output: io.StringIO) -> None:
        """Change nothing yet."""
        self._output = output
        self._warnings = warnings.catch_warnings(action="ignore")

    def __enter__(self) -> None:
        self._before = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self._output
        self._warnings.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._warnings.__exit__(kind, error, trace)
        sys.stdout, sys.stderr = self._before


_OUT_OF_RANGE: Final = (errno.ERANGE, os.strerror(errno.ERANGE))
"""What Python raises where a power leaves the range of float: the number and the words are the system's."""
_LINUX_SAYS: Final = "(34, 'Numerical result out of range')"


def describe(error: BaseException, cell_of: CellOf | None = None) -> Raised:
    """Return an exception as plain data, with the innermost line of the student's own code."""
    find = cell_of or _notebook_cell
    try:
        if (raised := _syntax_error(error, find)) is not None:
            return raised
        message = exactly(without_address(str(error)), _MESSAGE_LIMIT)
        if type(error) is OverflowError and error.args == _OUT_OF_RANGE:
            message = _LINUX_SAYS  # the same for every system, and for a browser
    except Exception:  # a student's __str__ may do anything
        message = ""
    name = type_name(error)
    for frame in reversed(_frames(_TRACE_OF(error))):
        if (cell := find(frame.filename)) is not None:
            line = frame.lineno or 0
            source = linecache.getline(frame.filename, line).strip()[:200]
            return Raised(name, message, cell or None, line, source)
    return Raised(name, message)


def _syntax_error(error: BaseException, find: CellOf) -> Raised | None:
    # It carries its place itself. That of an eval() in the student's code is no line of theirs: their call is.
    if not isinstance(error, SyntaxError) or type(error.lineno) is not int or not 0 <= error.lineno < 10**9:
        return None
    if (cell := find(error.filename or "")) is None:
        return None
    source = exactly((error.text or "").strip(), 200)
    return Raised(type_name(error), exactly(error.msg or "", _MESSAGE_LIMIT), cell or None, error.lineno, source)


def _frames(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    # The ends suffice, and a recursion may be thousands deep.
    frames = traceback.extract_tb(trace, limit=4)
    return list(frames) + list(traceback.extract_tb(trace, limit=-12))


def _notebook_cell(filename: str) -> int | None:
    # In a notebook the code's file is a temporary one of the kernel's; its number is not the reader's cell number.
    return 0 if "ipykernel_" in filename or filename.startswith("<ipython-input") else None


# ----------------------------------------------------------------------------- JSON


def encode_observation(observation: Observation, write: Callable[[Any], Any] = encode) -> dict[str, Any]:
    """Return the JSON form of an observation; empty parts are left out. ``write`` gives that of a value."""
    data: dict[str, Any] = {"outcomes": [_encode_outcome(outcome, write) for outcome in observation.outcomes]}
    for key in ("ended", "detail", "output"):
        if text := getattr(observation, key):
            data[key] = text
    if observation.whole:
        data["whole"] = True
    return data


def _as_it_is(value: Any) -> Any:
    return value


def _encode_outcome(outcome: Outcome, write: Callable[[Any], Any]) -> dict[str, Any]:
    if outcome.raised is not None:
        r = outcome.raised
        return {"raised": [r.type_name, r.message, r.cell, r.line, r.source]}
    after = {name: write(value) for name, value in outcome.after.items()}
    data: dict[str, Any] = {"returned": write(outcome.returned), "after": after}
    for key in ("later", "kept"):
        if (value := getattr(outcome, key)) is not None:
            data[key] = write(value)
    return data


def encode_arguments(arguments: Mapping[str, Value]) -> dict[str, Any]:
    """Return keyword arguments with each value in its JSON form."""
    return {name: encode(value) for name, value in arguments.items()}


def decode_observation(data: Any, *, trusted: bool = False, elements: int = 2_000_000) -> Observation:
    """Return the observation of a JSON form; BadValue where it is not exactly one.

    ``ended``, ``detail`` and ``whole`` are the trusted side's to say, so they are refused unless ``trusted``.
    """
    allowed = {"outcomes", "output"} | ({"ended", "detail", "whole"} if trusted else set())
    if type(data) is not dict or not {"outcomes"} <= data.keys() <= allowed:
        raise BadValue("not an observation")
    if type(data["outcomes"]) is not list or len(data["outcomes"]) > _MAX_CALLS:
        raise BadValue("outcomes that are not a short list")
    ended = data.get("ended", "")
    if ended not in _ENDED or type(data.get("whole", False)) is not bool:
        raise BadValue("an unknown end")
    budget = Budget(elements=elements)
    return Observation(
        tuple(_decode_outcome(item, budget) for item in data["outcomes"]),
        ended,
        _text(data.get("detail", ""), 1_000),
        data.get("whole", False),
        output=_text(data.get("output", ""), OUTPUT_LIMIT),
    )


def _decode_outcome(data: Any, budget: Budget) -> Outcome:
    if type(data) is not dict:
        raise BadValue("an outcome that is not an object")
    if data.keys() == {"raised"}:
        parts = data["raised"]
        if type(parts) is not list or len(parts) != 5:
            raise BadValue("a malformed exception")
        name, message, cell, line, source = parts
        for position in (cell, line):
            if position is not None and (type(position) is not int or not 0 <= position < 10**9):
                raise BadValue("a malformed position")
        return Outcome(raised=Raised(_text(name, 100), _text(message, _MESSAGE_LIMIT), cell, line, _text(source, 200)))
    known = {"returned", "after", "later", "kept"}
    if not {"returned", "after"} <= data.keys() <= known or type(data["after"]) is not dict:
        raise BadValue("an outcome with unknown keys")
    return Outcome(
        returned=decode(data["returned"], budget),
        after={_text(name, 100): decode(value, budget) for name, value in data["after"].items()},
        later=decode(data.get("later"), budget),
        kept=decode(data.get("kept"), budget),
    )


def _text(text: Any, limit: int) -> str:
    if type(text) is not str or len(text) > limit:
        raise BadValue("text that is too long, or no text")
    return text


# --------------------------------------------------------------------------- digest


def digest(observation: Observation, part: Part = "returned") -> str:
    """Return six hex digits of one part of what was observed, floats to five significant digits, without line numbers.

    Inside the part, a list is as good as a tuple: which of them an answer likes to build is no mistake.

    Two answers that are wrong in the same way have the same digest on the same case. Only the part that the judge found
    fault with counts, so that a second mistake, which shows in another part, does not hide the first.
    """
    canonical = repr((observation.ended, [_canonical_outcome(outcome, part) for outcome in observation.outcomes]))
    return hashlib.sha256(canonical.encode("utf-8", "backslashreplace")).hexdigest()[:6]


def plainly(observation: Observation) -> Observation:
    """Return what would have been observed had each number inside a dict been Python's own.

    A count that comes as a 0-d tensor is a mistake of form; beside it, the count may be wrong as a known one is wrong.
    Where there is no such number the observation itself is returned, so that nobody judges it twice.
    """
    if not any(_has_others(outcome.returned) for outcome in observation.outcomes):
        return observation
    return replace(observation, outcomes=tuple(replace(o, returned=_plain(o.returned)) for o in observation.outcomes))


def _has_others(value: Value) -> bool:
    return type(value) is dict and any(type(item) in (Scalar, Tensor) for item in value.values())


def _plain(value: Value) -> Value:
    if type(value) is dict:
        return {key: _number(item) for key, item in value.items()}
    return value


def _number(value: Value) -> Value:
    if type(value) is Scalar:
        return value.value
    return value.values[0] if type(value) is Tensor and value.shape == () else value


def _canonical_outcome(outcome: Outcome, part: Part) -> Any:
    if outcome.raised is not None:
        return (outcome.raised.type_name, _of_any_python(outcome.raised.message))
    if part == "after":
        return {name: _canonical(value) for name, value in outcome.after.items()}
    return _canonical(getattr(outcome, part))


_DIVISION: Final = frozenset(("float division by zero", "integer division or modulo by zero", "float modulo by zero"))
_EMPTY: Final = re.compile(r"(max|min)\(\) arg is an empty sequence\Z")


def _of_any_python(message: str) -> str:
    """Return an exception's message as the newest Python words it: the grader's, a notebook's and a page's differ."""
    return "division by zero" if message in _DIVISION else _EMPTY.sub(r"\1() iterable argument is empty", message)


def _canonical(value: Value, outermost: bool = True) -> Any:
    if type(value) is float:
        return float(f"{value + 0.0:.5g}")  # -0.0 is 0.0 to a judge
    if type(value) is Tensor:
        return (value.dtype, value.shape, [_canonical(item) for item in value.values], value.library)
    if type(value) is Scalar:
        return ("scalar", value.dtype, _canonical(value.value))
    if type(value) is Opaque:
        return ("opaque", value.type_name)
    if type(value) is list or type(value) is tuple:
        # The ends of a very long one tell answers apart as well, and cost what they are worth.
        some = value if len(value) <= 2 * _ENDS else [*value[:_ENDS], *value[-_ENDS:]]
        kind = type(value).__name__ if outermost else "items"
        return (kind, len(value), [_canonical(item, False) for item in some])
    if type(value) is dict:
        return {key: _canonical(item, False) for key, item in sorted(value.items())}
    return value
