"""What is graded about ``dynamic_loss_scale``, and the beliefs behind its known wrong answers.

Each check looks at one property, so that one mistake costs one check where that is possible. The updating rule shows
in two places, ``scales`` and ``final_scale``, and either is accepted as its evidence. Only ``grows_at_the_interval``
counts steps exactly, and there ``final_scale`` decides: elsewhere runs are as long as it takes for a growth one step
early or late to make no difference at the end. Where limits do not matter, scales are small whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from autograder.checks import (
    Case,
    Check,
    Misconception,
    Mismatch,
    Outcome,
    Tensor,
    calls,
    case,
    close,
    differ,
    each_call,
    kind_of,
    outlives,
)
from autograder.models import Scalar

PAGE = "book/05_dynamic_scaling.html#"
RULE, RECORD, SKIPPED = PAGE + "the-rule", PAGE + "record-before-update", PAGE + "skipped-steps"
BACK_OFF, INTERVAL, RUN = PAGE + "back-off", PAGE + "growth-interval", PAGE + "a-run-of-good-steps"
NO_LIMITS, DEFAULTS, ONE_PASS = PAGE + "no-floor-no-ceiling", PAGE + "defaults", PAGE + "one-pass"
PURE, NOT_THE_SCALER = PAGE + "a-pure-function", PAGE + "not-the-scaler"

F, T = False, True
RTOL = 1e-6
KEYS = ("scales", "skipped", "final_scale")

# ------------------------------------------------------------------------- comparing
# These see claims of the student's process: any plain value may come, and none may make them raise.

Arguments = Mapping[str, Any]
Record = Mapping[str, Any]


def record_of(got: Outcome) -> Record | str:
    """Return the dict with its three keys, or a sentence on what came instead."""
    value = got.returned
    if value is None:
        return "it returned None; the last line is `return {...}`, with the keys scales, skipped and final_scale"
    if type(value) is not dict:
        return f"it returned {kind_of(value)}, not a dict with the keys scales, skipped and final_scale"
    missing = [key for key in KEYS if key not in value]
    if missing:
        there = ", ".join(repr(key) for key in value) or "none"
        return f"the dict has no key {missing[0]!r}; the keys that it has: {there}"
    return value


def real(value: Any) -> float | None:
    """Return an int, float or NumPy real as a float; None for all else, and for a bool."""
    value = getattr(value, "value", value)  # of a NumPy scalar
    if type(value) not in (int, float):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")  # an int beyond the largest float


def items_of(value: Any) -> Sequence[Any] | None:
    """Return the elements of a list, a tuple, or a 1-d array or tensor; None for all else."""
    if type(value) is Tensor:
        return value.values if len(value.shape) == 1 else None
    return value if type(value) in (list, tuple) else None


def numbers(value: Any) -> list[float] | None:
    """Return the elements as floats; None unless it is a sequence of real numbers."""
    items = items_of(value)
    if items is None:
        return None
    if set(map(type, items)) == {float}:
        return list(items)
    made = [real(item) for item in items]
    return None if None in made else made  # type: ignore[return-value]


def first_difference(mine: Sequence[float], theirs: Sequence[float]) -> int | None:
    """Return the first index at which two sequences of one length differ."""
    if list(mine) == list(theirs):
        return None  # a run may have 200,000 steps
    pairs = enumerate(zip(mine, theirs, strict=True))
    return next((index for index, (a, b) in pairs if not close(a, b, RTOL)), None)


def not_numbers(key: str, value: Any) -> str:
    """Return a sentence on what stands where a sequence of numbers, or one number, should be."""
    items = items_of(value)
    if key == "final_scale" or items is None:
        due = "one number" if key == "final_scale" else "a list of numbers"
        return f"the value of {key} is {kind_of(value)}, not {due}"
    index, item = next((i, item) for i, item in enumerate(items) if real(item) is None)
    return f"the entry {key}[{index}] is {kind_of(item)}, not a number"


# What happened, in words.


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def overflowed(flag: Any) -> bool:
    return bool(flag.value if type(flag) is Scalar else flag)


def event(arguments: Arguments, want: Record, step: int) -> str:
    """Return a clause on what a step, or the last one (-1), did to the scale by the rule."""
    flags, trace = arguments["overflows"], [*want["scales"], want["final_scale"]]
    step %= len(flags)
    if overflowed(flags[step]):
        factor = arguments.get("backoff_factor", 0.5)
        return f"step {step} used {trace[step]:.9g} and overflowed, and backoff_factor is {factor:g}"
    first = step
    while first > 0 and not overflowed(flags[first - 1]) and trace[first - 1] == trace[first]:
        first -= 1
    length, interval = step - first + 1, arguments.get("growth_interval", 2000)
    grown = trace[step + 1] != trace[step]
    factor = f" and growth_factor {arguments.get('growth_factor', 2.0):g}" if grown else ""
    return f"step {step} made it {counted(length, 'good step')} in a row, and growth_interval is {interval}{factor}"


def first_scale(arguments: Arguments) -> str:
    """Return a clause on where the first scale comes from."""
    return "the first step uses init_scale" + ("" if "init_scale" in arguments else ", which is 65536 by default")


def wrong_scale(arguments: Arguments, record: Record, want: Record) -> str:
    """Return a sentence on the first wrong scale: where, what, and what the step before it was."""
    scales, final = numbers(record["scales"]), real(record["final_scale"])
    if scales is not None and len(scales) == len(want["scales"]):
        index = first_difference(scales, want["scales"])
        later = wrong_scale_after(arguments, scales, final, want)
        if index is not None and later and later[0] > index:
            return later[1]
        if index is not None:
            why = event(arguments, want, index - 1) if index else first_scale(arguments)
            return f"the entry scales[{index}] is {scales[index]:.9g}, not {want['scales'][index]:.9g}: {why}"
    if final is None:
        return not_numbers("final_scale", record["final_scale"])
    return f"the value of final_scale is {final:.9g}, not {want['final_scale']:.9g}: {event(arguments, want, -1)}"


def wrong_scale_after(
    arguments: Arguments, scales: Sequence[float], final: float | None, want: Record
) -> tuple[int, str] | None:
    """Return the first step after which the scale is wrong, with a sentence; None where scales[i] is not that one.

    Whoever records after updating, which is judged elsewhere, would else be told of that in every check.
    """
    if not scales or final is None or not close(scales[-1], final, RTOL):
        return None
    theirs = [*want["scales"][1:], want["final_scale"]]
    step = first_difference(scales, theirs)
    if step is None:
        return None
    why = event(arguments, want, step)
    return step, f"the scale after step {step} is {scales[step]:.9g}, not {theirs[step]:.9g}: {why}"


# One comparison for each property.


def same_updates(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """The updating rule is right, as ``scales`` or ``final_scale`` shows: how they are recorded is judged elsewhere."""
    record = record_of(got)
    if isinstance(record, str):
        return record
    scales, final = numbers(record["scales"]), real(record["final_scale"])
    if final is not None and close(final, want.returned["final_scale"], RTOL):
        return None
    theirs = want.returned["scales"]
    if scales is not None and len(scales) == len(theirs) and first_difference(scales, theirs) is None:
        return None
    return wrong_scale(arguments, record, want.returned)


def same_work(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Every step was looked at: the updating rule is right or, where steps overflowed, their numbers are.

    No run with thousands of overflows keeps its scale in range without counting good steps exactly, which is judged
    elsewhere.
    """
    if want.returned["skipped"] and same_skipped(arguments, got, want) is None:
        return None
    return same_updates(arguments, got, want)


def same_scales(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """One scale for each step, the one that it used."""
    record = record_of(got)
    if isinstance(record, str):
        return record
    scales, theirs = numbers(record["scales"]), want.returned["scales"]
    if scales is None:
        return not_numbers("scales", record["scales"])
    if len(scales) != len(theirs):
        return f"the list scales has {counted(len(scales), 'number')} for {counted(len(theirs), 'step')}"
    index = first_difference(scales, theirs)
    if index is None:
        return None
    why = f"that is the scale in force when step {index} began" if index else first_scale(arguments)
    return f"the entry scales[{index}] is {scales[index]:.9g}, not {theirs[index]:.9g}: {why}"


def same_final(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """The scale after the last update."""
    record = record_of(got)
    if isinstance(record, str):
        return record
    final, theirs = real(record["final_scale"]), want.returned["final_scale"]
    if final is None:
        return not_numbers("final_scale", record["final_scale"])
    if close(final, theirs, RTOL):
        return None
    return f"the value of final_scale is {final:.9g}, not {theirs:.9g}: {event(arguments, want.returned, -1)}"


def same_skipped(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """The numbers of the overflowed steps, in order."""
    record = record_of(got)
    if isinstance(record, str):
        return record
    value, theirs = record["skipped"], want.returned["skipped"]
    items = items_of(value)
    if items is None:
        return f"the value of skipped is {kind_of(value)}, not a list of step numbers"
    if {int}.issuperset(map(type, items)) and list(items) == theirs:
        return None  # a run may have 100,000 of them
    for index, item in enumerate(items):
        if real(item) is None:
            return f"the entry skipped[{index}] is {kind_of(item)}, not the number of a step"
        if index < len(theirs) and real(item) != theirs[index]:
            return f"the entry skipped[{index}] is {real(item):.9g}, not {theirs[index]}: {in_words(theirs)}"
    if len(items) != len(theirs):
        return f"the list skipped names {counted(len(items), 'step')}, not {len(theirs)}: {in_words(theirs)}"
    return None


def in_words(skipped: Sequence[int]) -> str:
    """Return which steps overflowed, as a clause."""
    if not skipped:
        return "no step overflowed"
    few = ", ".join(str(step) for step in skipped[:6]) + (", …" if len(skipped) > 6 else "")
    return f"the {'step' if len(skipped) == 1 else 'steps'} that overflowed, counted from 0: {few}"


def same_form(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """A dict of exactly three keys, whose values are of the right kinds; nothing else, but for an empty run."""
    record = record_of(got)
    if isinstance(record, str):
        return record
    extra = [key for key in record if key not in KEYS]
    if extra:
        return f"the dict has another key, {extra[0]!r}; its keys are scales, skipped and final_scale, and no more"
    if arguments["overflows"] and says_nothing(record):
        return "both scales and skipped are empty, although there were steps"
    found = wrong_items("scales", record["scales"], "float") or wrong_items("skipped", record["skipped"], "int")
    found = found or wrong_kind("the value of final_scale", record["final_scale"], "float")
    return found or (None if arguments["overflows"] else wrong_when_empty(record, want.returned))


def wrong_items(key: str, value: Any, kind: str) -> str | None:
    """Return a sentence unless it is a list, tuple or 1-d array of Python's or NumPy's floats, or ints."""
    items = items_of(value)
    if items is None or (type(value) is Tensor and value.library != "numpy"):
        return f"the value of {key} is {kind_of(value)}, not a list of {kind}s"
    if type(value) is Tensor:
        fits = not items or value.dtype.startswith((kind, "uint" if kind == "int" else kind))
        return None if fits else f"the value of {key} is an array of {value.dtype}, not of {kind}s"
    found = (wrong_kind(f"the entry {key}[{index}]", item, kind) for index, item in enumerate(items))
    return next((sentence for sentence in found if sentence), None)


def wrong_kind(where: str, value: Any, kind: str) -> str | None:
    """Return a sentence unless it is a Python or NumPy float, or int; a bool is neither."""
    if type(value).__name__ == kind:
        return None
    if type(value) is Scalar and value.dtype.removeprefix("u").startswith(kind):
        return None
    article = "an" if kind == "int" else "a"
    shown = f"{value!r}, " if type(value) in (bool, int, float) else ""
    return f"{where} is {shown}{kind_of(value)}, not {article} {kind}"


def wrong_when_empty(record: Record, want: Record) -> str | None:
    """Return a sentence unless the record is that of a run without steps."""
    for key in ("scales", "skipped"):
        if items_of(record[key]):
            return f"the list {key} is not empty, although there was no step"
    final = real(record["final_scale"])
    if final is None or not close(final, want["final_scale"], RTOL):
        due = f"{want['final_scale']:.9g}: without a step the scale is still init_scale"
        return f"the value of final_scale is {final}, not {due}"
    return None


def says_nothing(record: Record) -> bool:
    """Return whether no step shows in the record."""
    return items_of(record["scales"]) in ([], ()) and items_of(record["skipped"]) in ([], ())


def untouched(arguments: Arguments, got: Outcome, want: Outcome) -> str | Mismatch | None:
    """The flags are as they were."""
    record = record_of(got)
    if isinstance(record, str):
        return record
    if says_nothing(record):
        return "both scales and skipped are empty, although there were steps"
    found = differ(got.after.get("overflows"), arguments["overflows"], where="after the call, overflows")
    return Mismatch(found, show="after") if found else None


def pure(case: Case, observed: Any, expected: Any) -> Mismatch | None:
    """Judge each call by ``untouched``, that the same call made again returns the same, and that results stay."""
    if mismatch := each_call(untouched)(case, observed, expected):
        return mismatch
    first = observed.outcomes[0]
    for index in range(1, len(case.calls)):
        again = case.calls[index] == case.calls[0]
        if again and differ(observed.outcomes[index].returned, first.returned):
            found = "the same call, made again, returned something else: something is remembered between calls"
            return Mismatch(found, call=index)
    return outlives(observed)


# ---------------------------------------------------------------------- random inputs


def flags(random: Random, count: int) -> list[bool]:
    """Return so many flags, of which at most six are true."""
    bad = random.sample(range(count), random.randint(1, min(6, count)))
    return [step in bad for step in range(count)]


def run(random: Random, name: str, overflows: list[Any], **others: Any) -> Case:
    """Return a case that starts at some power of two."""
    return case(name, overflows=overflows, init_scale=2.0 ** random.randint(10, 12), **others)


def random_form(random: Random) -> list[Case]:
    kinds = (2 ** random.randint(6, 12), float(random.randint(70, 99)), random.randint(70, 99))
    return [case(f"random {i}", overflows=flags(random, 5), init_scale=kind) for i, kind in enumerate(kinds, 1)]


def random_flags(random: Random) -> list[Case]:
    return [run(random, f"random {i}", flags(random, random.randint(5, 20))) for i in (1, 2, 3)]


def random_ends(random: Random) -> list[Case]:
    return [run(random, f"random {i}", [*flags(random, random.randint(3, 12)), T]) for i in (1, 2, 3)]


def random_exact(random: Random) -> list[Case]:
    cases = []
    for i, more in enumerate((-1, 0, 1), 1):
        interval = random.randint(3, 9)
        overflows = [T] * random.randint(0, 1) + [F] * (random.choice((1, 2)) * interval + more)
        cases.append(run(random, f"random {i}", overflows, growth_interval=interval))
    return cases


def random_two_growths(random: Random) -> list[Case]:
    intervals = random.sample(range(6, 30), 3)
    return [
        run(random, f"random {i}", [F] * (2 * interval + 2), growth_interval=interval)
        for i, interval in enumerate(intervals, 1)
    ]


def random_interruptions(random: Random) -> list[Case]:
    """Return runs that an overflow cuts short, before one that is long enough or not."""
    cases = []
    for i, enough in enumerate((F, F, T), 1):
        interval = random.randint(6, 9)
        overflows: list[bool] = []
        for _ in range(random.randint(2, 4)):
            overflows += [F] * random.randint(interval // 2, interval - 2) + [T] * random.randint(1, 2)
        overflows += [F] * (interval + 1 if enough else interval - 2)
        cases.append(run(random, f"random {i}", overflows, growth_interval=interval))
    return cases


def random_factors(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3):
        interval = random.randint(5, 8)
        factors = {
            "growth_factor": random.choice((1.25, 1.5, 3.0, 4.0)),
            "backoff_factor": random.choice((0.125, 0.25, 0.75)),
        }
        overflows = [T] * random.randint(1, 2) + [F] * (interval + 1)
        cases.append(run(random, f"random {i}", overflows, growth_interval=interval, **factors))
    return cases


def random_sizes(random: Random) -> list[Case]:
    small, large = 2.0 ** random.randint(-40, -20), 2.0 ** random.randint(40, 90)
    return [
        case("random 1", overflows=[T] * random.randint(1, 5), init_scale=small),
        case("random 2", overflows=[F] * 5, init_scale=large, growth_interval=4),
        case("random 3", overflows=flags(random, random.randint(5, 12)), init_scale=small),
        case("random 4", overflows=[F] * 5 + [T] * random.randint(1, 2), init_scale=large, growth_interval=4),
    ]


def random_defaults(random: Random) -> list[Case]:
    """Return runs with a few overflows near their start, one of them with too few good steps for a growth."""
    cases = []
    for i, good in enumerate((random.randint(2002, 2400), random.randint(1000, 1900)), 1):
        overflows: list[bool] = []
        for _ in range(random.randint(1, 6)):
            overflows += [F] * random.randint(1, 9) + [T]
        cases.append(case(f"random {i}", overflows=[*overflows, *[F] * good]))
    return cases


def random_long(random: Random) -> list[Case]:
    overflows = flags(random, random.randint(3000, 5000))
    return [run(random, "random 1", overflows, growth_interval=300_000)]


def random_inputs(random: Random) -> list[Case]:
    arguments = {"overflows": [T, *flags(random, 8), F], "init_scale": 1024.0, "growth_interval": 3}
    other = {**arguments, "overflows": [F, *flags(random, 8), T], "init_scale": 512.0}
    return [calls("random 1", arguments, arguments), calls("random 2", arguments, other)]


# ---------------------------------------------------------------------------- checks


def np_bool(value: bool) -> Scalar:
    return Scalar("bool", value)


def twice(**arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return arguments, arguments


CHECKS = (
    Check(
        id="keeps_the_form",
        title="Returns a dict with scales (floats), skipped (ints) and final_scale (a float)",
        points=0.5,
        rule="The result is a plain dict with the keys scales, skipped and final_scale. Scales are floats, whatever "
        "init_scale was; step numbers are ints. A run without steps has none of either, and ends with init_scale.",
        see=RULE,
        judge=each_call(same_form),
        random=random_form,
        cases=(
            case("one good step", overflows=[F], init_scale=8.0),
            case("one overflow", overflows=[T], init_scale=8.0),
            case("an int as the initial scale", overflows=[F], init_scale=8),
            case("an int, and an overflow", overflows=[T], init_scale=8),
            case("ints for all that may be one", overflows=[F, F], init_scale=8, growth_factor=2, growth_interval=1),
            case("a run without steps", overflows=[], init_scale=8.0),
            case("a run without steps, and an int", overflows=[], init_scale=8),
        ),
    ),
    Check(
        id="records_scale_used",
        title="Records for every step the scale that it used",
        points=1.0,
        rule="scales[i] is the scale that step i used: recorded before the step changes it, for skipped steps too, one "
        "number a step.",
        see=RECORD,
        judge=each_call(same_scales),
        random=random_flags,
        cases=(
            case("one good step", overflows=[F], init_scale=8.0),
            case("one overflow", overflows=[T], init_scale=8.0),
            case("one good step that makes the scale grow", overflows=[F], init_scale=8.0, growth_interval=1),
            case("a good step, then an overflow", overflows=[F, T], init_scale=8.0),
            case("an overflow, then good steps", overflows=[T, F, F], init_scale=8.0),
            case("two overflows, then a good step", overflows=[T, T, F], init_scale=8.0),
        ),
    ),
    Check(
        id="final_scale",
        title="Returns as final_scale the scale after the last step",
        points=0.5,
        rule="final_scale is what a next step would use: the scale after the last step's update. A change that the "
        "last step makes shows nowhere else.",
        see=RECORD,
        judge=each_call(same_final),
        random=random_ends,
        cases=(
            case("one overflow", overflows=[T], init_scale=8.0),
            case("an overflow after a good step", overflows=[F, T], init_scale=8.0),
            case("two overflows", overflows=[T, T], init_scale=1024.0),
        ),
    ),
    Check(
        id="lists_skipped_steps",
        title="Lists the numbers of the steps that overflowed, counted from 0",
        points=1.0,
        rule="skipped holds the number of each step whose flag is true, counted from 0 and in order, and nothing else. "
        "A flag is true when `if flag:` says so, be it a bool, a NumPy bool or a 1.",
        see=SKIPPED,
        judge=each_call(same_skipped),
        random=random_flags,
        cases=(
            case("one good step", overflows=[F], init_scale=8.0),
            case("one overflow", overflows=[T], init_scale=8.0),
            case("an overflow at step 1", overflows=[F, T], init_scale=8.0),
            case("nothing but overflows", overflows=[T, T, T], init_scale=8.0),
            case("the first and the last step", overflows=[T, F, F, T], init_scale=8.0),
            case("every other step", overflows=[F, T, F, T, F, T], init_scale=64.0),
            case("flags that are 0 and 1", overflows=[0, 1, 0], init_scale=8.0),
            case("flags from NumPy", overflows=[np_bool(F), np_bool(T), np_bool(F)], init_scale=8.0),
        ),
    ),
    Check(
        id="backs_off",
        title="Multiplies the scale by backoff_factor after every overflow",
        points=1.0,
        rule="Every overflow makes the scale smaller at once, from the next step on: it is multiplied by "
        "backoff_factor, 0.5 unless the caller says otherwise.",
        see=BACK_OFF,
        judge=each_call(same_updates),
        random=random_flags,
        cases=(
            case("one overflow", overflows=[T], init_scale=8.0),
            case("one good step", overflows=[F], init_scale=8.0),
            case("two overflows in a row", overflows=[T, T], init_scale=8.0),
            case("two overflows, not in a row", overflows=[T, F, T], init_scale=8.0),
            case("three overflows in a row", overflows=[T, T, T], init_scale=1024.0),
            case("an overflow among good steps", overflows=[F, F, T, F, F], init_scale=8.0),
        ),
    ),
    Check(
        id="grows_at_the_interval",
        title="Multiplies the scale by growth_factor at exactly the growth_interval-th good step in a row",
        points=1.0,
        rule="The growth_interval-th good step in a row makes the scale grow, not the one before it and not the one "
        "after it. Counting starts anew with the first good step after an overflow or a growth.",
        see=INTERVAL,
        judge=each_call(same_final),
        random=random_exact,
        cases=(
            case("an interval of one", overflows=[F], init_scale=8.0, growth_interval=1),
            case("one step less than the interval", overflows=[F, F], init_scale=8.0, growth_interval=3),
            case("as many steps as the interval", overflows=[F, F, F], init_scale=8.0, growth_interval=3),
            case("one step more than the interval", overflows=[F] * 4, init_scale=8.0, growth_interval=3),
            case("one step less than two intervals", overflows=[F] * 5, init_scale=8.0, growth_interval=3),
            case("as many steps as two intervals", overflows=[F] * 6, init_scale=8.0, growth_interval=3),
            case("seven steps, an interval of three", overflows=[F] * 7, init_scale=8.0, growth_interval=3),
            case("one step too few after an overflow", overflows=[T, F], init_scale=8.0, growth_interval=2),
            case("as many as it takes after an overflow", overflows=[T, F, F], init_scale=8.0, growth_interval=2),
            case("one step more after an overflow", overflows=[T, F, F, F], init_scale=8.0, growth_interval=2),
            case("an overflow where growth was due", overflows=[F, F, T, F], init_scale=8.0, growth_interval=3),
            case("an interval of one, with an overflow", overflows=[F, T, F], init_scale=8.0, growth_interval=1),
            case("the statement's example", overflows=[F, T, F, F, F], init_scale=8.0, growth_interval=2),
        ),
    ),
    Check(
        id="growth_restarts_the_run",
        title="Starts a new run of good steps after the scale has grown",
        points=1.0,
        rule="A growth puts the run of good steps back at zero: the larger scale has to last for another "
        "growth_interval good steps before the scale grows again, and then it does.",
        see=RUN,
        judge=each_call(same_updates),
        random=random_two_growths,
        cases=(
            case("time for two growths", overflows=[F] * 14, init_scale=8.0, growth_interval=6),
            case("time for three growths", overflows=[F] * 27, init_scale=8.0, growth_interval=8),
        ),
    ),
    Check(
        id="overflow_restarts_the_run",
        title="Starts a new run of good steps after an overflow",
        points=1.0,
        rule="Good steps count only in a row: an overflow puts the run back at zero, wherever it comes.",
        see=RUN,
        judge=each_call(same_updates),
        random=random_interruptions,
        cases=(
            case(
                "five good steps, but no four in a row", overflows=[F, F, T, F, F, F], init_scale=8.0, growth_interval=4
            ),
            case("two overflows between them", overflows=[F, F, T, T, F, F, F], init_scale=8.0, growth_interval=4),
            case("three short runs", overflows=[F, F, T, F, F, T, F, F, F], init_scale=8.0, growth_interval=4),
            case("two longer runs", overflows=[F] * 4 + [T] + [F] * 5, init_scale=8.0, growth_interval=6),
            case("a long run after an overflow", overflows=[F, F, T] + [F] * 5, init_scale=8.0, growth_interval=4),
        ),
    ),
    Check(
        id="uses_the_factors",
        title="Uses growth_factor and backoff_factor as they are given",
        points=1.0,
        rule="A growth multiplies the scale by growth_factor and an overflow by backoff_factor, whatever the two are; "
        "neither follows from the other.",
        see=RULE,
        judge=each_call(same_updates),
        random=random_factors,
        cases=(
            case("a backoff factor of 0.25", overflows=[T], init_scale=8.0, backoff_factor=0.25),
            case("a backoff factor of 0.75", overflows=[T, T, T], init_scale=64.0, backoff_factor=0.75),
            case("a growth factor of four", overflows=[F] * 5, init_scale=8.0, growth_factor=4.0, growth_interval=4),
            case("a growth factor of 1.5", overflows=[F] * 5, init_scale=8.0, growth_factor=1.5, growth_interval=4),
            case("an overflow, with a growth factor of four", overflows=[T], init_scale=8.0, growth_factor=4.0),
            case(
                "a growth, with a backoff factor of 0.25",
                overflows=[F] * 5,
                init_scale=8.0,
                backoff_factor=0.25,
                growth_interval=4,
            ),
            case(
                "both factors",
                overflows=[T] + [F] * 5,
                init_scale=8.0,
                growth_factor=3.0,
                backoff_factor=0.25,
                growth_interval=4,
            ),
        ),
    ),
    Check(
        id="no_floor_no_ceiling",
        title="Lets the scale become as small or as large as the factors make it",
        points=0.5,
        rule="There is no smallest and no largest scale: it goes below 1 and above 65536, and keeps its fraction.",
        see=NO_LIMITS,
        judge=each_call(same_updates),
        random=random_sizes,
        cases=(
            case("an overflow at a scale of one", overflows=[T], init_scale=1.0),
            case("an overflow at a scale of three", overflows=[T], init_scale=3.0),
            case("eight overflows from four", overflows=[T] * 8, init_scale=4.0),
            case("below the smallest fp16 numbers", overflows=[T] * 30, init_scale=1.0),
            case("a hundred overflows", overflows=[T] * 100, init_scale=65536.0),
            case("a growth at 65536", overflows=[F] * 5, init_scale=65536.0, growth_interval=4),
            case("a growth at 2**24", overflows=[F] * 5, init_scale=2.0**24, growth_interval=4),
            case("a growth at 2**100", overflows=[F] * 5, init_scale=2.0**100, growth_interval=4),
            case("two overflows among good steps, from one", overflows=[F, T, F, F, T, F], init_scale=1.0),
            case("a growth, then two overflows", overflows=[F] * 5 + [T, T], init_scale=2.0**100, growth_interval=4),
        ),
    ),
    Check(
        id="defaults",
        title="Starts at 65536 and doubles after 2000 good steps in a row unless told otherwise",
        points=0.5,
        rule="Unless the caller says otherwise, the scale starts at 65536 and doubles after 2000 good steps in a row: "
        "PyTorch's defaults.",
        see=DEFAULTS,
        judge=each_call(same_updates),
        random=random_defaults,
        cases=(
            case("one good step", overflows=[F]),
            case("a little less than 2000 good steps", overflows=[F] * 1998),
            case("a little more than 2000 good steps", overflows=[F] * 2002),
            case("a little more than 4000 good steps", overflows=[F] * 4004),
            case("a little more than 2000 good steps after an overflow", overflows=[T] + [F] * 2002),
            case("a little less than 2000 good steps after two overflows", overflows=[T, F, T] + [F] * 1990),
        ),
    ),
    Check(
        id="one_pass",
        title="Does 200,000 steps, looking at each of them once",
        points=0.5,
        rule="The work for one step must not grow with the number of steps before it: two numbers, carried from step "
        "to step, are all that the rule needs to know.",
        see=ONE_PASS,
        judge=each_call(same_work),
        random=random_long,
        cases=(
            case("20,000 good steps", overflows=[F] * 20_000, init_scale=8.0, growth_interval=300_000),
            case(
                "200,000 steps, the last an overflow",
                overflows=[F] * 199_999 + [T],
                init_scale=8.0,
                growth_interval=300_000,
            ),
            case(
                "110,000 steps, nearly all of them overflows, and growths that make up for them",
                overflows=([T] * 88 + [T, F] * 5 + [F] * 2) * 1_100,
                init_scale=2.0**60,
                growth_factor=2.0**93,
                growth_interval=3,
            ),
        ),
    ),
    Check(
        id="pure",
        title="Leaves its input as it was, and remembers nothing",
        points=0.5,
        rule="The function only looks at overflows, and all that its result depends on is passed in: the same call, "
        "made again, returns the same, and what one call returned stays as it is when the next one is made.",
        see=PURE,
        scenario="kept",
        judge=pure,
        random=random_inputs,
        cases=(
            case("one good step", overflows=[F], init_scale=8.0),
            case("a mixed run", overflows=[F, T, F, F], init_scale=8.0, growth_interval=2),
            case("flags that are 0 and 1", overflows=[0, 1, 0], init_scale=8.0),
            calls("one overflow, twice", *twice(overflows=[T], init_scale=8.0)),
            calls("one good step, twice", *twice(overflows=[F], init_scale=8.0, growth_interval=2)),
            calls("two runs", {"overflows": [T], "init_scale": 8.0}, {"overflows": [F, T], "init_scale": 64.0}),
        ),
    ),
)

# ---------------------------------------------------------------------------- beliefs

MISCONCEPTIONS = (
    # what is recorded, and when
    Misconception(
        "scale_is_what_the_step_leaves",
        "scales[i] is the scale after step i.",
        "scales[i] is the scale that step i used: the loss was multiplied by it before anyone could know whether the "
        "gradients would overflow. Record first, then update; what the last step leaves is final_scale.",
        RECORD,
    ),
    Misconception(
        "skipped_steps_are_retried",
        "A step that overflows is done again at the smaller scale, so that is the scale it used.",
        "Nothing is done again: a skipped step is lost, and the next batch comes with the smaller scale. The overflow "
        "happened at the scale that was in force before.",
        RECORD,
    ),
    Misconception(
        "growth_counts_for_its_own_step",
        "The step that completes the interval already uses the larger scale.",
        "It has to be over, and good, before it counts. The larger scale is first used by the step after it.",
        RECORD,
    ),
    Misconception(
        "skipped_steps_use_no_scale",
        "A skipped step did not happen, so it has no scale.",
        "Only the optimizer skipped it. Forward and backward ran, with a scale, and overflowed because of it. "
        "Recording it keeps scales[i] with step i.",
        RECORD,
    ),
    Misconception(
        "initial_scale_is_extra",
        "scales starts with init_scale, and every step adds one.",
        "That is one number too many: init_scale is the scale of step 0, and what the last step leaves has a place of "
        "its own, final_scale.",
        RECORD,
    ),
    Misconception(
        "only_changes_are_news",
        "The scale needs to be recorded only when it changes.",
        "scales[i] has to be the scale of step i, so there is one number for each step; with changes alone nobody can "
        "tell which step they belong to.",
        RECORD,
    ),
    Misconception(
        "names_stay_linked",
        "I set one from the other, so both change together.",
        "An assignment copies no link. After scale = init_scale, and in [scale] * n, a float is a value: a later "
        "scale *= 0.5 gives the name scale a new number, and nothing else.",
        RECORD,
    ),
    Misconception(
        "last_used_is_final",
        "The final scale is the last one in the list.",
        "The last one in the list was used by the last step, which then made its own update. final_scale is what "
        "comes out of that.",
        RECORD,
    ),
    # which steps are skipped
    Misconception(
        "steps_start_at_one",
        "The first step is step 1.",
        "Steps are counted from 0, as Python counts: overflows[i], scales[i] and an i in skipped all mean the same "
        "step.",
        SKIPPED,
    ),
    Misconception(
        "true_says_it",
        "I append the flag to skipped.",
        "A list of True says how many steps were skipped, not which. What is asked for is the position, which "
        "enumerate gives along with the flag.",
        SKIPPED,
    ),
    Misconception(
        "flags_are_the_list",
        "skipped is the list of the flags, which says it all.",
        "The flags came in; what should come out are the numbers of the steps whose flag is true.",
        SKIPPED,
    ),
    Misconception(
        "a_number_is_enough",
        "skipped is how many steps were skipped.",
        "It is the list of their numbers. The count is its length; where they are cannot be had from the count.",
        SKIPPED,
    ),
    Misconception(
        "skipped_are_the_good_ones",
        "The number is appended in the branch of the good steps.",
        "A true flag means overflow, and it is the overflowed step whose update is skipped.",
        SKIPPED,
    ),
    Misconception(
        "scales_are_the_list",
        "skipped holds the scales at which steps were skipped.",
        "It holds step numbers. Their scales are then scales[i] for each i in it.",
        SKIPPED,
    ),
    Misconception(
        "more_is_better",
        "A little more information in the result does no harm.",
        "Whoever uses the result relies on its form: a pair where a number should be, or a key that nobody asked for, "
        "breaks code that was right.",
        RULE,
    ),
    Misconception(
        "index_finds_this_one",
        "overflows.index(flag) tells me where I am.",
        "It tells where the first equal flag is, at every overflow the same place, and searches from the start each "
        "time. enumerate counts along.",
        SKIPPED,
    ),
    Misconception(
        "true_is_one_object",
        "A flag is set when it is True, so I compare with `is`.",
        "`is` asks for one particular object. A numpy.bool_ that is true, or a 1, is another one. `if overflow:` asks "
        "what counts: whether it is true.",
        SKIPPED,
    ),
    Misconception(
        "a_flag_must_be_a_bool",
        "Whatever is not a bool is an error of the caller's.",
        "The flags come from arithmetic on gradients, often as numpy.bool_ or as 0 and 1; numpy.bool_ is no subclass "
        "of bool. What counts is whether a flag is true.",
        SKIPPED,
    ),
    # backing off
    Misconception(
        "skipping_is_enough",
        "The overflowed step is skipped; the scale may stay.",
        "Then the next step overflows just so, and so does every one after it: nothing is learned until the scale "
        "becomes smaller.",
        BACK_OFF,
    ),
    Misconception(
        "true_means_fine",
        "A true flag means that the step was fine.",
        "The list is called overflows: true means that the gradients of this step overflowed.",
        BACK_OFF,
    ),
    Misconception(
        "tilde_is_not",
        "~flag is the opposite of a flag.",
        "~ inverts the bits of an int, and a Python bool is one: ~True is -2 and ~False is -1, and both are true. "
        "Only NumPy's bools understand ~ as not. Write `not flag`.",
        BACK_OFF,
    ),
    Misconception(
        "one_overflow_is_noise",
        "One overflow may be chance; only the second in a row counts.",
        "Some libraries do so (they call it hysteresis). This rule, like PyTorch's, backs off at each overflow: a "
        "skipped step costs more than a scale that is half as large for a while.",
        BACK_OFF,
    ),
    Misconception(
        "a_burst_is_one_overflow",
        "Overflows in a row are one event, so the scale backs off once.",
        "Each of these steps used a smaller scale than the one before and overflowed all the same, so it is still too "
        "large. It backs off until a step is good.",
        BACK_OFF,
    ),
    Misconception(
        "update_follows_later",
        "The overflow is found in this step and dealt with in the next.",
        "It is dealt with before the next step begins. Otherwise that one runs at the scale that has just failed.",
        BACK_OFF,
    ),
    Misconception(
        "overflow_ends_the_training",
        "After an overflow there is nothing left to do.",
        "An overflow is ordinary: the step is skipped and the training goes on with a smaller scale. break leaves the "
        "loop, and the steps after it are lost.",
        BACK_OFF,
    ),
    Misconception(
        "return_collects",
        "return in the loop hands over what there is, and the loop goes on.",
        "return ends the function, here after the first step. It stands after the loop, with the indentation of the "
        "for.",
        RULE,
    ),
    Misconception(
        "factors_are_steps",
        "The factors are what is added and taken away.",
        "A factor multiplies. The right scale may be 8 or 8 million: steps of one size would be useless for one of "
        "them, halving and doubling get anywhere quickly.",
        BACK_OFF,
    ),
    Misconception(
        "scale_returns_to_the_start",
        "After an overflow the scale is init_scale * backoff_factor.",
        "It is the present scale that was too large. Going back to a fraction of the first forgets all that was found "
        "out since, and a second overflow in a row would change nothing.",
        BACK_OFF,
    ),
    Misconception(
        "zero_is_no_multiple",
        "run % growth_interval == 0 is true only when the interval is full.",
        "0 is a multiple of everything: right after an overflow the run is 0, and the scale that has just backed off "
        "grows again. Ask only after a good step.",
        BACK_OFF,
    ),
    Misconception(
        "multiplying_changes_the_name",
        "scale * backoff_factor makes the scale smaller.",
        "It computes a number and drops it. Only an assignment changes what the name stands for: scale = scale * "
        "backoff_factor, or scale *= backoff_factor.",
        BACK_OFF,
    ),
    Misconception(
        "backing_off_divides",
        "Backing off means dividing by the backoff factor.",
        "The backoff factor is below 1, so dividing by it makes the scale larger: 8 / 0.5 is 16. Backing off "
        "multiplies.",
        BACK_OFF,
    ),
    Misconception(
        "factors_swapped",
        "After an overflow the growth factor applies.",
        "Growth follows good steps and makes the scale larger; backing off follows an overflow and makes it smaller.",
        BACK_OFF,
    ),
    # when the scale grows
    Misconception(
        "interval_must_be_exceeded",
        "The scale grows when more than growth_interval good steps have passed.",
        "The growth_interval-th good step itself makes it grow. Count the step first and compare then; and from start "
        "to step there are step - start + 1 steps.",
        INTERVAL,
    ),
    Misconception(
        "counting_starts_at_zero",
        "Counting starts at zero, so the last one is growth_interval - 1.",
        "Indices start at zero, a number of good steps does not: after the third good step in a row the run is 3 "
        "steps long.",
        INTERVAL,
    ),
    Misconception(
        "first_step_is_no_step",
        "The run begins at step 0, so its length is the distance from there.",
        "From step 0 to step 2 the distance is 2, but the steps 0, 1 and 2 are three. The last change before the "
        "first step is at -1.",
        INTERVAL,
    ),
    Misconception(
        "run_starts_at_one",
        "Before the first step the run is at 1.",
        "Before the first step no step was good: the run is 0, and the first good step makes it 1.",
        INTERVAL,
    ),
    Misconception(
        "growing_step_counts_twice",
        "The step that makes the scale grow is the first of the next run.",
        "It used the old scale, so it says nothing about the new one. The next run begins at 0.",
        INTERVAL,
    ),
    Misconception(
        "overflow_counts_as_a_step",
        "With the overflow a new run begins, and it is its first step.",
        "An overflow is no good step. It leaves a run of 0, and the first good step after it makes it 1.",
        INTERVAL,
    ),
    Misconception(
        "every_good_step_grows",
        "A good step makes the scale grow.",
        "That was grad_scaler_step, whose growth interval is one. Growing at each good step runs into an overflow "
        "every other step; with an interval of N one step in N + 1 is skipped.",
        INTERVAL,
    ),
    Misconception(
        "interval_is_2000",
        "The growth interval is 2000.",
        "That is its default. What counts is the argument growth_interval.",
        INTERVAL,
    ),
    Misconception(
        "scale_only_shrinks",
        "The scale has to become smaller when it is too large; that is all.",
        "Then one bad batch would leave it small for good, and small gradients would vanish in fp16. As the gradients "
        "shrink during training, the scale has to find its way up again.",
        INTERVAL,
    ),
    Misconception(
        "growth_repairs_a_backoff",
        "Growing undoes earlier backing off, so init_scale is the limit.",
        "init_scale is a first guess, and nothing says that it was not too small. The scale grows past it.",
        NO_LIMITS,
    ),
    Misconception(
        "counter_lives_in_the_loop",
        "The run is set to 0 at the top of the loop.",
        "There it is set to 0 anew at every step, so it never gets beyond 1. What is carried from step to step is set "
        "before the loop.",
        INTERVAL,
    ),
    # when a run begins anew
    Misconception(
        "equality_comes_again",
        "The comparison with == makes it grow at every interval.",
        "The run goes on counting past the interval, and never equals it again. After a growth it has to be zeroed.",
        RUN,
    ),
    Misconception(
        "a_full_run_stays_full",
        "When the last growth_interval steps were good, the scale grows.",
        "They were good at a smaller scale. After a growth the run begins anew; otherwise the scale doubles at every "
        "step from then on.",
        RUN,
    ),
    Misconception(
        "one_growth_is_enough",
        "The scale grows once, then it has found its place.",
        "Nobody tells it that it has. It goes on trying a larger scale after each interval, which costs one skipped "
        "step when it was too large.",
        RUN,
    ),
    Misconception(
        "interval_grows_with_the_scale",
        "After a growth the next one takes longer.",
        "The interval is the same all along. (Some trainers make it longer as the scale grows; this rule, like "
        "PyTorch's, does not.)",
        RUN,
    ),
    Misconception(
        "good_steps_add_up",
        "The scale grows after growth_interval good steps altogether.",
        "Only good steps in a row count. With an overflow now and then, a total would make the scale grow right after "
        "it has proved too large.",
        RUN,
    ),
    Misconception(
        "interval_is_a_clock",
        "Every growth_interval-th step makes the scale grow.",
        "It is not the number of the step that counts, but how many good ones came one after the other: an overflow, "
        "and a growth too, sets the count back to zero.",
        RUN,
    ),
    Misconception(
        "overflows_count_too",
        "The interval counts all steps since the last growth.",
        "It counts good steps, and an overflow sets it back to zero. A step that overflowed is no evidence that the "
        "scale may grow.",
        RUN,
    ),
    Misconception(
        "overflow_takes_back_a_step",
        "An overflow costs one of the good steps.",
        "It costs all of them. The scale has just proved too large, so all the good steps before it say nothing about "
        "the next one.",
        RUN,
    ),
    Misconception(
        "run_shrinks_like_the_scale",
        "An overflow makes the run shorter by the same factor as the scale.",
        "It ends the run: counting begins at zero, however long it was.",
        RUN,
    ),
    Misconception(
        "two_overflows_make_a_restart",
        "Only overflows in a row end a run.",
        "Each one does, also a single one among good steps.",
        RUN,
    ),
    # the two factors
    Misconception(
        "growth_is_doubling",
        "Growing means doubling.",
        "That is the default. The factor is an argument: multiply by growth_factor.",
        RULE,
    ),
    Misconception(
        "backoff_is_halving",
        "Backing off means halving.",
        "That is the default. The factor is an argument: multiply by backoff_factor.",
        RULE,
    ),
    Misconception(
        "backoff_undoes_growth",
        "Backing off divides by the growth factor.",
        "With the defaults, 2 and 0.5, it comes to the same. The two are independent: many back off by more than they "
        "grow.",
        RULE,
    ),
    Misconception(
        "growth_undoes_backoff",
        "Growing divides by the backoff factor.",
        "With the defaults, 2 and 0.5, it comes to the same. The two are independent: a scale may fall quickly and "
        "rise slowly.",
        RULE,
    ),
    Misconception(
        "backoff_is_a_share",
        "The backoff factor is the share that is taken away.",
        "It is what is left: a factor of 0.25 leaves a quarter. At 0.5 the two cannot be told apart.",
        RULE,
    ),
    Misconception(
        "growth_is_a_rate",
        "A growth factor of 2 adds twice the scale.",
        "That would triple it. A factor multiplies: scale * 2 is one doubling.",
        RULE,
    ),
    Misconception(
        "exponential_is_a_power",
        "The scale grows exponentially, so I raise it to the power of the factor.",
        "Growing exponentially means multiplying by the same factor again and again. 65536 ** 2 is 4294967296 at "
        "once, and 1 ** 2 is still 1.",
        RULE,
    ),
    Misconception(
        "scales_are_powers_of_two",
        "Scales are powers of two, so I keep the exponent.",
        "With the defaults they are. A factor of 1.5, or an initial scale of 3, has no whole exponent, and rounding "
        "it changes the scale.",
        RULE,
    ),
    # limits
    Misconception(
        "scale_is_at_least_one",
        "A scale below 1 makes no sense.",
        "It makes gradients smaller, and a model whose gradients are beyond fp16 needs just that. Whether it is a "
        "sign of something broken is for a person to judge, who has to see it.",
        NO_LIMITS,
    ),
    Misconception(
        "default_is_the_largest",
        "65536 is the largest scale.",
        "It is the first guess. Where gradients are tiny, the scale that keeps them out of fp16's zero is much larger.",
        NO_LIMITS,
    ),
    Misconception(
        "scale_must_fit_fp16",
        "The scale must not exceed 65504, the largest fp16 number.",
        "The loss is multiplied in fp32, as long as it is computed there, so the scale need not fit fp16. What has to "
        "fit are the gradients times the scale, and they may be tiny.",
        NO_LIMITS,
    ),
    Misconception(
        "large_scales_are_useless",
        "Beyond 2**24 a larger scale has no use.",
        "fp16's smallest number is 2**-24, but gradients may be far smaller than that, and some libraries have such a "
        "cap. The rule here has none: the next overflow says when it is enough.",
        NO_LIMITS,
    ),
    Misconception(
        "scale_must_be_a_normal_half",
        "Below 2**-14 the scale would be subnormal in fp16.",
        "The scale is kept as a float, not in fp16. It goes as low as the overflows send it.",
        NO_LIMITS,
    ),
    Misconception(
        "scale_must_stay_off_zero",
        "A small floor keeps the scale from becoming zero.",
        "Then a run in which every step overflows would look as if it had settled. A scale that sinks on and on is "
        "the alarm, and a floor silences it.",
        NO_LIMITS,
    ),
    Misconception(
        "scale_is_whole",
        "A scale is a whole number.",
        "Half of 3 is 1.5, and half of 1 is 0.5. int() and // drop the fraction and make 1 and 0 of them, and from 0 "
        "the scale never recovers.",
        NO_LIMITS,
    ),
    Misconception(
        "a_few_digits_suffice",
        "A few digits of the scale are enough.",
        "round(x, 4) keeps four digits after the point, and a scale of 2**-20 has none there: it becomes 0, from "
        "which no factor brings it back.",
        NO_LIMITS,
    ),
    Misconception(
        "fp16_needs_an_fp16_scale",
        "In fp16 training the scale is an fp16 number too.",
        "65536 is inf in fp16, and everything below 2**-25 is 0. The scale is kept in fp32, here in a Python float; "
        "only tensors of the model are fp16.",
        NO_LIMITS,
    ),
    Misconception(
        "a_small_scale_is_an_error",
        "A scale below 1 is an error, so I raise an exception.",
        "Some libraries do, once a smallest scale is reached. This rule has no smallest scale, and goes on.",
        NO_LIMITS,
    ),
    # defaults
    Misconception(
        "default_interval_is_1000",
        "The scale grows after 1000 good steps.",
        "Other libraries have such a default. Here it is PyTorch's, 2000.",
        DEFAULTS,
    ),
    Misconception(
        "default_scale_is_two_to_15",
        "The first scale is 2**15, the largest power of two in fp16.",
        "The default is 2**16 = 65536, PyTorch's. The scale need not fit into fp16.",
        DEFAULTS,
    ),
    Misconception(
        "default_scale_is_two_to_24",
        "The first scale is 2**24.",
        "Other libraries have such a default. Here it is PyTorch's, 2**16 = 65536; a larger one costs a few more "
        "skipped steps at the start.",
        DEFAULTS,
    ),
    Misconception(
        "defaults_belong_to_the_caller",
        "The caller passes all arguments, so defaults are not needed.",
        "They are part of the signature: without them every call that leaves one out raises a TypeError.",
        DEFAULTS,
    ),
    # the form of the result
    Misconception(
        "an_int_stays_what_it_is",
        "init_scale goes in as it is, and comes out as it is.",
        "An int as init_scale would make the first scales ints and the later ones floats. float(init_scale) makes "
        "them all the same kind.",
        RULE,
    ),
    Misconception(
        "an_array_is_of_floats",
        "A NumPy array of scales is an array of floats.",
        "Of what it was made from: np.array([8, 8]) holds ints. Give it floats, or dtype=float.",
        RULE,
    ),
    Misconception(
        "whole_numbers_are_ints",
        "A scale without a fraction is better shown as an int.",
        "8 and 8.0 are equal, but a list that holds both kinds surprises the code that reads it. How a number is "
        "shown is a matter for whoever prints it.",
        RULE,
    ),
    Misconception(
        "three_values_are_a_tuple",
        "A function with three results returns a tuple of three.",
        'It may, but here the three have names: whoever calls writes result["final_scale"], and need not remember an '
        "order.",
        RULE,
    ),
    Misconception(
        "a_row_for_every_step",
        "A record of steps is a list with a row for each.",
        "What is asked for is a dict of three columns. final_scale belongs to no step, and would have no row.",
        RULE,
    ),
    Misconception(
        "printing_is_returning",
        "print shows the result.",
        "It shows it to a person and hands nothing to the caller: a function without return returns None.",
        RULE,
    ),
    Misconception(
        "keys_are_a_matter_of_taste",
        "The keys may be called what I like.",
        "The caller looks values up by these names: scales, skipped and final_scale. Any other name is a KeyError "
        "there.",
        RULE,
    ),
    Misconception(
        "there_is_always_a_step",
        "There is at least one step, so scales[-1] exists.",
        "A run may have no step, and [][-1] raises an IndexError. The scale is in a variable of its own, which has a "
        "value before the first step.",
        RULE,
    ),
    Misconception(
        "nothing_to_do_is_none",
        "Without steps there is nothing to return.",
        "There is: two empty lists, and a scale that is still init_scale. A loop over no steps gives that by itself.",
        RULE,
    ),
    Misconception(
        "no_step_no_scale",
        "Without steps there is no scale, so final_scale is 0.",
        "The scale is there before the first step: final_scale is what a next step would use, and that is init_scale.",
        RULE,
    ),
    Misconception(
        "an_iterator_is_a_list",
        "map and generators give what a list gives.",
        "They give it once. Who looks a second time, or asks for len() or [3], gets nothing or an error. list(...) "
        "around them makes a list.",
        RULE,
    ),
    Misconception(
        "a_set_is_a_list",
        "Step numbers are unique, so a set is as good as a list.",
        "A set has no order and no positions. append to a list: the steps come in order by themselves.",
        RULE,
    ),
    Misconception(
        "one_element_is_the_element",
        "A list of one is as good as its element.",
        "[8.0] is not 8.0: the next scale * loss with it fails. Return the number.",
        RULE,
    ),
    Misconception(
        "scales_are_tensors",
        "What has to do with training is a tensor.",
        "The result is plain Python: a list of floats, which needs no torch. tensor.tolist() makes one.",
        RULE,
    ),
    Misconception(
        "exact_is_better_than_float",
        "Exact fractions are better than floats.",
        "They are exact, but they are not floats, and code that expects floats (json, struct, torch) refuses them. "
        "float(...) of each would do.",
        RULE,
    ),
    # long runs
    Misconception(
        "fast_when_short",
        "It takes no time for a hundred steps, so it is fast.",
        "scales + [scale] copies the whole list, and a slice or an any() over the past reads it again: at each step "
        "the work is as large as the number of steps so far, and 200,000 steps make it 20 billion. append adds at the "
        "end; a counter knows how long the run is.",
        ONE_PASS,
    ),
    Misconception(
        "powers_fit_when_the_scale_does",
        "With g growths and b backoffs the scale is init_scale * growth_factor**g * backoff_factor**b.",
        "On paper it is. But each power is a number of its own, and a float ends at about 2**1024: 2.0**1100 raises "
        "OverflowError, and 0.5**1100 is 0, though the product of the two is 1. Multiplying step by step stays where "
        "the scale is.",
        ONE_PASS,
    ),
    Misconception(
        "recursion_is_a_loop",
        "A function that calls itself for the next step is as good as a loop.",
        "Python keeps every unfinished call, and stops at 1000 of them with a RecursionError. A loop has no such "
        "limit.",
        ONE_PASS,
    ),
    # a pure function
    Misconception(
        "the_list_is_mine",
        "The list that I am given is mine to work with.",
        "It is the caller's, passed by reference: what pop, reverse and append do to it stays. Loop over it, or copy "
        "it first with list(overflows).",
        PURE,
    ),
    Misconception(
        "cleaning_up_does_no_harm",
        "Making bools of the flags in place does no harm.",
        "It changes the caller's list, who may still need what was in it. Make a new list, or ask `if flag:` and "
        "leave it as it is.",
        PURE,
    ),
    Misconception(
        "defaults_are_made_anew",
        "A default of [] is a new list for every call.",
        "It is made once, with the function: every call appends to the same list. Make the list inside the function.",
        PURE,
    ),
    Misconception(
        "cleared_is_new",
        "clear() gives me an empty list again, so one list does for all calls.",
        "It is still the same list, and the caller of the call before still holds it: clear() empties that result, and "
        "append fills it with another run. A list made inside the function is a new one at every call.",
        PURE,
    ),
    Misconception(
        "a_scaler_remembers",
        "A scaler has a state, so the function keeps it for the next call.",
        "A GradScaler object does; this function is given a whole run and begins at init_scale. With something kept, "
        "a result depends on who called before.",
        PURE,
    ),
    # what is not accepted
    Misconception(
        "pytorch_may_do_it",
        "PyTorch's scaler already does this, so I call it.",
        "It is what this exercise rebuilds, and one operator call a step takes seconds for what a loop does in a "
        "blink. Once yours passes, use PyTorch's.",
        NOT_THE_SCALER,
    ),
)
