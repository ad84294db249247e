"""The vocabulary of ``exercises/*/checks.py`` and the judging of observations; standard library only.

An exercise's ``checks.py`` defines ``CHECKS`` (in the order in which they are shown) and ``MISCONCEPTIONS``::

    from autograder.checks import Check, Misconception, case, each_call, differ, f32

    def doubled(arguments, got, want):
        return differ(got.returned, want.returned, rtol=2e-6)

    CHECKS = (
        Check(
            id="doubles", title="Doubles every element", points=1.0, rule="Every element is multiplied by two.",
            see="book/01_sixteen_bits.html#doubling", judge=each_call(doubled),
            cases=(case("one element", x=f32(1.0)), case("a negative one", x=f32(-3.0))),
        ),
    )
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from autograder.floats import pattern, ulp
from autograder.models import (
    Case,
    Check,
    CheckResult,
    CheckStatus,
    Judge,
    Misconception,
    Mismatch,
    Observation,
    Outcome,
    Raised,
    Scalar,
    Tensor,
    Value,
)
from autograder.observations import digest
from autograder.values import DTYPES, WIDTHS, number, position, rounded, show

__all__ = [
    "Case",
    "Check",
    "Misconception",
    "Mismatch",
    "Outcome",
    "Scalar",
    "Tensor",
    "calls",
    "case",
    "close",
    "differ",
    "each_call",
    "each_item",
    "f32",
    "f64",
    "full",
    "kind_of",
    "outlives",
    "pattern",
    "patterns",
    "real",
    "rounded",
    "tensor",
    "ulp",
]

FORBIDDEN_EXCEPTION: Final = "ForbiddenOperation"
"""Name of the exception that a forbidden operation raises in the confined process."""

# ---------------------------------------------------------------------------- inputs


def tensor(
    values: Sequence[Any] | float | int,
    dtype: str = "float32",
    *,
    strided: bool = False,
    share: str = "",
    library: str = "torch",
) -> Tensor:
    """Return a Tensor from nested sequences; the values of a float16, bfloat16 or float32 are rounded to it.

    Args:
        values: a number (0-d) or nested lists of equal lengths; ``[]`` has shape (0,).
        dtype: name of the dtype.
        strided: build a non-contiguous view.
        share: tensors of one call with the same name are one object.
        library: "torch" or "numpy".

    Raises:
        ValueError: no such dtype, rows of different lengths, or elements that are not numbers.
    """
    if dtype not in DTYPES:
        raise ValueError(f"there is no dtype {dtype!r}; there are {', '.join(sorted(DTYPES))}")
    shape: list[int] = []
    flat: list[Any] = [values]
    while flat and isinstance(flat[0], (list, tuple)):
        if not all(isinstance(row, (list, tuple)) and len(row) == len(flat[0]) for row in flat):
            raise ValueError(f"rows of different lengths: {values!r}")
        shape.append(len(flat[0]))
        flat = [item for row in flat for item in row]
    if not all(isinstance(item, (bool, int, float)) for item in flat):
        raise ValueError(f"elements that are not numbers: {values!r}")
    if dtype.startswith(("float", "bfloat")):
        flat = [rounded(float(item), dtype) for item in flat]
    return Tensor(dtype, tuple(shape), tuple(flat), library, strided, share)  # type: ignore[arg-type]


def f32(*values: float, **options: Any) -> Tensor:
    """Return a 1-d float32 Tensor of these values."""
    return tensor(list(values), "float32", **options)


def f64(*values: float, **options: Any) -> Tensor:
    """Return a 1-d float64 Tensor of these values."""
    return tensor(list(values), "float64", **options)


def full(size: int, value: float, dtype: str = "float32", **others: float) -> Tensor:
    """Return a 1-d Tensor of one value, but for ``at_<index>=value`` (a negative index as ``at_last=``)."""
    items = [value] * size
    for name, other in others.items():
        position = name.removeprefix("at_")
        items[-1 if position == "last" else int(position)] = other
    return tensor(items, dtype)


def patterns(bits: Sequence[Any] | int, dtype: str = "float32", **options: Any) -> Tensor:
    """Return a Tensor of the elements with these bit patterns: one whole number, or nested sequences as for ``tensor``.

    Raises:
        ValueError: a dtype without such patterns, or a number that is none of its patterns.
    """
    if dtype not in WIDTHS:
        raise ValueError(f"elements of dtype {dtype!r} are not given by bits; those of {', '.join(WIDTHS)} are")
    made = tensor(bits, "int64", **options)
    for value in made.values:
        if type(value) is not int or not 0 <= value < 2 ** WIDTHS[dtype]:
            raise ValueError(f"{value!r} is no pattern of {WIDTHS[dtype]} bits")
    return replace(made, dtype=dtype, bits=True)


def case(name: str, /, **arguments: Value) -> Case:
    """Return a case of one call with these keyword arguments."""
    return Case(name, (arguments,))


def calls(name: str, *arguments: Mapping[str, Value]) -> Case:
    """Return a case of several calls in one process, in order."""
    return Case(name, tuple(arguments))


# ---------------------------------------------------------------------------- judges


def each_call(
    compare: Callable[[Mapping[str, Value], Outcome, Outcome], str | Mismatch | None], show: str = "returned"
) -> Judge:
    """Return a judge that compares each call with ``compare(arguments, got, want)``.

    ``compare`` returns one sentence about the first difference (or a Mismatch, to show another part), or None. It
    sees only calls that returned: where the reference raises, the student's call must raise an exception of the
    same type; where it does not, none.

    Args:
        compare: the comparison.
        show: which part of the outcome the message shows: "returned", "after", "later" or "kept".
    """

    def judge(case: Case, observed: Observation, expected: Observation) -> Mismatch | None:
        if observed.ended:
            return Mismatch(observed.detail or observed.ended, status=observed.ended, whole=observed.whole)
        if len(observed.outcomes) != len(expected.outcomes):
            return Mismatch("the run answered with another number of calls than were made", status="crashed")
        for index, (arguments, got, want) in enumerate(
            zip(case.calls, observed.outcomes, expected.outcomes, strict=True)
        ):
            found = _raises(got.raised, want.raised)
            if found is None and want.raised is None:
                text = compare(arguments, got, want)
                found = Mismatch(text, show=show) if isinstance(text, str) else text  # type: ignore[arg-type]
            if found is not None:
                return replace(found, call=index)
        return None

    return judge


def each_item(compare: Callable[[Mapping[str, Value], Value, Value], str | None]) -> Judge:
    """Return a judge for the scenario ``each``: it compares call by call and shows the first one that differs.

    Args:
        compare: ``compare(arguments, got, want)`` of one call returns a sentence about the difference, or None.
    """

    def together(arguments: Mapping[str, Value], got: Outcome, want: Outcome) -> Mismatch | str | None:
        if type(got.returned) is not list or len(got.returned) != len(want.returned):
            return Mismatch("the run answered with another number of results than calls were made", status="crashed")
        for item, (mine, theirs) in enumerate(zip(got.returned, want.returned, strict=True)):
            one = {name: values[item] for name, values in arguments.items()}
            if text := compare(one, mine, theirs):
                return Mismatch(text, item=item)
        return None

    return each_call(together)


def outlives(observed: Observation) -> Mismatch | None:
    """Return a mismatch for the first result that a later call of the case has changed, None where all stayed.

    For the scenarios ``kept`` and ``overwritten``, in a judge of its own or after ``each_call``. It finds a list, dict
    or tensor that the function keeps for itself and returns at every call, filled anew; one case of two calls that
    return different values shows it.
    """
    for index, outcome in enumerate(observed.outcomes):
        if outcome.raised is None and differ(outcome.kept, outcome.returned):
            which = ("first", "second", "third")[index] if index < 3 else f"{index + 1}th"
            found = f"a later call changed what the {which} had returned: the function keeps it, and fills it anew"
            return Mismatch(found, call=index, show="kept")
    return None


def _raises(got: Raised | None, want: Raised | None) -> Mismatch | None:
    if got is None:
        return None if want is None else Mismatch(f"it returned where it must raise {want.type_name}")
    if want is not None and got.type_name == want.type_name:
        return None
    where = "" if got.line is None else f" (line {got.line}{_in_cell(got)}{got.source and ': ' + got.source})"
    if got.type_name == FORBIDDEN_EXCEPTION:
        return Mismatch(got.message, status="forbidden")
    if got.type_name == "MemoryError" or "can't allocate memory" in got.message:
        return Mismatch(f"it ran out of memory{where}", status="memory")
    if got.type_name == "NotImplementedError":
        return Mismatch("not started yet: it raises NotImplementedError", status="error")
    message = f": {got.message}" if got.message else ""
    due = "" if want is None else f"; it must raise {want.type_name}"
    return Mismatch(f"it raised {got.type_name}{message}{where}{due}", status="error")


def _in_cell(raised: Raised) -> str:
    return "" if raised.cell is None else f" of cell {raised.cell}"


# ------------------------------------------------------------------------ comparison


def differ(got: Value, want: Value, *, rtol: float = 0.0, atol: float = 0.0, where: str = "it") -> str | None:
    """Return one sentence about the first difference between two values, or None where there is none.

    Types must agree: list, tuple, dict (same keys), tensor (library, dtype, shape), NumPy scalar (dtype), bool, int,
    float. nan equals nan; 0.0 equals -0.0; inf only the same inf. Numbers a, b agree when
    ``|a - b| <= atol + rtol * |b|``.
    """
    if type(want) is Tensor:
        return _differ_tensors(got, want, rtol, atol, where)
    if type(want) is list or type(want) is tuple:
        return _differ_items(got, want, rtol, atol, where)
    if type(want) is dict:
        if type(got) is not dict:
            return f"{where} is {kind_of(got)}, not a dict"
        if got.keys() != want.keys():
            return f"{where} has the keys {show(sorted(got))}, not {show(sorted(want))}"
        parts = (differ(got[key], want[key], rtol=rtol, atol=atol, where=f"{where}[{key!r}]") for key in want)
        return next((part for part in parts if part), None)
    if type(got) is not type(want):
        return f"{where} is {show(got)} ({kind_of(got)}), not {show(want)} ({kind_of(want)})"
    if type(want) is Scalar and got.dtype == want.dtype:
        return None if close(got.value, want.value, rtol, atol) else f"{where} is {show(got)}, not {show(want)}"
    if type(want) in (int, float):
        return None if close(got, want, rtol, atol) else f"{where} is {show(got)}, not {show(want)}"
    return None if got == want else f"{where} is {show(got)}, not {show(want)}"


def close(got: float, want: float, rtol: float = 0.0, atol: float = 0.0) -> bool:
    """Return whether two real numbers agree within the tolerance; nan agrees with nan."""
    if got == want:
        return True
    try:
        if math.isnan(want):
            return math.isnan(got)
        if not math.isfinite(got) or not math.isfinite(want):
            return False
        return abs(got - want) <= atol + rtol * abs(want)
    except OverflowError:  # an int beyond the largest float is near none but itself
        return False


def real(value: Value) -> float | None:
    """Return the one number that a value stands for, None where it stands for none.

    An int, a float, a NumPy number and a 0-d tensor or array of numbers stand for one; a bool does not. An int beyond
    the largest float counts as infinite.
    """
    if type(value) is Tensor and value.shape == () and len(value.values) == 1:
        value = value.values[0]
    elif type(value) is Scalar:
        value = value.value
    if type(value) not in (int, float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _differ_items(got: Value, want: Sequence[Value], rtol: float, atol: float, where: str) -> str | None:
    if type(got) is not type(want):
        return f"{where} is {kind_of(got)}, not {kind_of(want)}"
    if len(got) != len(want):
        return f"{where} has {_count(len(got))}, not {len(want)}"
    if got == want and not _mixes_types(got, want):
        return None  # one comparison in C for the long ones
    for index, (a, b) in enumerate(zip(got, want, strict=True)):
        if found := differ(a, b, rtol=rtol, atol=atol, where=f"{where}[{index}]"):
            return found
    return None


def _mixes_types(got: Sequence[Value], want: Sequence[Value]) -> bool:
    # True == 1 == 1.0 in Python, and an equal list may hold either.
    kinds = set(map(type, got)) | set(map(type, want))
    return len(kinds) > 1 or not kinds <= {bool, int, float, str}


def _differ_tensors(got: Value, want: Tensor, rtol: float, atol: float, where: str) -> str | None:
    if type(got) is not Tensor or got.library != want.library:
        return f"{where} is {kind_of(got)}, not {kind_of(want)}"
    if got.dtype != want.dtype:
        return f"{where} has dtype {got.dtype}, not {want.dtype}"
    if got.shape != want.shape:
        return f"{where} has shape {got.shape}, not {want.shape}"
    for index, (a, b) in enumerate(zip(got.values, want.values, strict=True)):
        if not close(a, b, rtol, atol):
            place = where if not want.shape else f"{where}[{position(index, want.shape)}]"
            return f"{place} is {number(a, got.dtype)}, not {number(b, want.dtype)}"
    return None


def _count(n: int) -> str:
    return "1 item" if n == 1 else f"{n} items"


def kind_of(value: Value) -> str:
    """Return the name of a value's type with its article, as messages use it."""
    if value is None:
        return "None"
    if type(value) is Tensor:
        return "a tensor" if value.library == "torch" else "a NumPy array"
    if type(value) is Scalar:
        return f"a numpy.{value.dtype}"
    name = getattr(value, "type_name", type(value).__name__)[:100] or "nameless object"
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


# --------------------------------------------------------------------------- verdicts


def judge_check(
    check: Check, entry: str, tried: Iterable[tuple[Case, Observation, Observation]]
) -> tuple[CheckResult, tuple[str, ...]]:
    """Judge all cases of a check; return its result and, a case, the digest of a failure ("." where it passed).

    The first failing case is the one shown: cases are listed smallest first.

    Args:
        check: the check.
        entry: name of the student's function, as messages write it.
        tried: (case, observed on the student's code, observed on the reference), in the check's order.
    """
    first: CheckResult | None = None
    marks: list[str] = []
    for case, observed, expected in tried:
        mismatch, mark = judge_case(check, case, observed, expected)
        marks.append(mark)
        if mismatch is not None and first is None:
            first = failure(check, entry, case, observed, expected, mismatch)
    return first or passed(check), tuple(marks)


def judge_case(check: Check, case: Case, observed: Observation, expected: Observation) -> tuple[Mismatch | None, str]:
    """Judge one case; return the first difference, and the digest of a failure ("." where it passed)."""
    mismatch = check.judge(case, observed, expected)
    return mismatch, "." if mismatch is None else digest(observed, mismatch.show)


def passed(check: Check) -> CheckResult:
    """Return the result of a check that passed."""
    return CheckResult(check.id, check.title, check.points, check.points, "passed", see=check.see)


def failure(
    check: Check, entry: str, case: Case, observed: Observation, expected: Observation, mismatch: Mismatch
) -> CheckResult:
    """Return the result of a check whose first failing case this is."""
    call = "" if mismatch.whole else _shown(check, entry, case, mismatch)
    returned = _part(observed, mismatch)
    wanted = _part(expected, mismatch)
    return CheckResult(
        id=check.id,
        title=check.title,
        points=check.points,
        earned=0.0,
        status=mismatch.status,
        message=_message(check, mismatch, call, returned, wanted),
        see=check.see,
        case=case.name,
        call=call,
        returned=returned,
        expected=wanted,
        show=mismatch.show,
        rule=check.rule if mismatch.status in ("failed", "error") and not mismatch.whole else "",
        difference=_sentence(mismatch.difference),
    )


def show_calls(entry: str, case: Case, upto: int) -> str:
    """Return the case's calls up to and with number ``upto`` as Python source, one a line."""
    lines = []
    for arguments in case.calls[: upto + 1]:
        inside = ", ".join(f"{name}={show(value)}" for name, value in arguments.items())
        lines.append(f"{entry}({inside})")
    return "\n".join(lines)


def _shown(check: Check, entry: str, case: Case, mismatch: Mismatch) -> str:
    if check.scenario != "each":
        # What the calls after it did to a result shows only beside them.
        upto = len(case.calls) - 1 if mismatch.show == "kept" else mismatch.call
        return show_calls(entry, case, upto)
    arguments = case.calls[mismatch.call]
    if mismatch.item is not None:
        one = {name: values[mismatch.item] for name, values in arguments.items()}
        return show_calls(entry, Case(case.name, (one,)), 0)
    names = ", ".join(arguments)
    lists = ", ".join(show(values) for values in arguments.values())
    inside = ", ".join(f"{name}={name}" for name in arguments)
    return f"[{entry}({inside}) for {names} in {lists if len(arguments) == 1 else f'zip({lists})'}]"


def _part(observation: Observation, mismatch: Mismatch) -> str:
    if mismatch.call >= len(observation.outcomes):
        return ""
    outcome = observation.outcomes[mismatch.call]
    if outcome.raised is not None:
        return f"raised {outcome.raised.type_name}"
    if mismatch.show == "after":
        return ", ".join(f"{name}={show(value)}" for name, value in outcome.after.items())
    value = getattr(outcome, mismatch.show)
    if mismatch.item is not None and type(value) is list and mismatch.item < len(value):
        value = value[mismatch.item]
    return show(value)


_LABELS: Final = {
    "returned": "returned",
    "after": "left its arguments as",
    "later": "returned, read again later,",
    "kept": "returned, read again after all calls,",
}
_RUN_ENDS: Final[frozenset[CheckStatus]] = frozenset(("timeout", "memory", "crashed", "forbidden", "not_run"))


def _message(check: Check, mismatch: Mismatch, call: str, returned: str, expected: str) -> str:
    found = _sentence(mismatch.difference)
    if mismatch.whole or mismatch.status == "not_run":
        return found
    if mismatch.status in _RUN_ENDS:
        return f"{found}\nCalled    {_indent(call)}"
    lines = [check.rule, f"Called    {_indent(call)}"]
    if mismatch.status == "failed":
        label = _LABELS[mismatch.show]
        lines += [f"It {label} {returned}", f"Expected  {expected}"]
    lines.append(found)
    return "\n".join(lines)


def _sentence(text: str) -> str:
    """Return a text with a capital and a full stop; a first word that is code (a name, a path) stays as it is."""
    first = text.partition(" ")[0]
    begun = text[:1].upper() + text[1:] if first.isalpha() else text
    return begun if begun.endswith((".", "?", "!", "…")) else f"{begun}."


def _indent(text: str) -> str:
    return text.replace("\n", "\n          ")


def with_misconception(result: CheckResult, misconception: Misconception) -> CheckResult:
    """Return the result with the belief that was recognized, and why it is wrong, in its message."""
    text = f"{result.message}\nA belief behind this: “{misconception.belief}” {misconception.truth}"
    return replace(
        result,
        message=text,
        misconception=misconception.id,
        see=misconception.see,
        belief=misconception.belief,
        truth=misconception.truth,
    )
