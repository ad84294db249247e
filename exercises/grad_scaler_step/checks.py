"""What is graded about ``grad_scaler_step``, and the beliefs behind its known wrong answers.

Each check looks at one property, so that one mistake costs one point where that is possible: where it does not matter
*which* value is bad it is an inf beside a nan, where only size matters the scale is 1 or only the verdict counts, and
empty tensors stand in ``keeps_structure`` alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
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
    f32,
    f64,
    full,
    kind_of,
    outlives,
    tensor,
)

PAGE = "book/04_one_scaler_step.html#"
UNSCALE, JUDGE, EVERY, LARGE = PAGE + "unscale", PAGE + "judge", PAGE + "every-element", PAGE + "large-is-not-infinite"
ORDER, SKIP, SCALE = PAGE + "order", PAGE + "skip", PAGE + "grow-and-back-off"
INPUTS, NOT_THE_SCALER = PAGE + "inputs", PAGE + "not-the-scaler"

INF, NAN = math.inf, math.nan
VALUE_RTOL, SCALE_RTOL = 2e-6, 1e-6
# Dividing and multiplying by the reciprocal may differ by two of the smallest subnormals.
VALUE_ATOL = {"float32": 2 * 2.0**-149, "float64": 2 * 2.0**-1074}
LARGEST = {"float32": 2.0**128 - 2.0**104, "float64": math.ldexp(2.0 - 2.0**-52, 1023)}

# ------------------------------------------------------------------------- comparing
# These see claims of the student's process: any plain value may come, and none may make them raise.

Arguments = Mapping[str, Any]


def pair_of(got: Outcome) -> tuple[Any, Any] | str:
    """Return (unscaled, new scale), or a sentence on what came instead."""
    value = got.returned
    if type(value) is list and len(value) == 2 and real(value[1]) is not None:
        return value[0], value[1]  # the wrong container costs `keeps_structure` alone
    if value is None:
        return "it returned None alone; the last line of each way out is `return <unscaled or None>, <new scale>`"
    if type(value) is not tuple:
        return f"it returned {kind_of(value)}, not a tuple of two: the unscaled gradients (or None), then the new scale"
    if len(value) != 2:
        return f"it returned a tuple of {len(value)}, not of two: the unscaled gradients (or None), then the new scale"
    first, second = value
    if real(first) is not None and (second is None or type(second) in (list, tuple)):
        return "the two parts are swapped: the unscaled gradients (or None) come first, the new scale second"
    return first, second


def real(value: Any) -> float | None:
    """Return the number that a new scale is: an int, float, NumPy real or 0-d real tensor; None for all else."""
    if type(value) is Tensor:
        value = value.values[0] if value.shape == () else None
    value = getattr(value, "value", value)  # of a NumPy scalar
    if type(value) not in (int, float):
        return None
    try:
        return float(value)
    except OverflowError:
        return INF if value > 0 else -INF  # an int beyond the largest float


def finite_list(unscaled: Any, want: list[Any]) -> str | None:
    """Return a sentence unless it is a list of as many tensors as there are gradients."""
    if unscaled is None:
        return "it skipped the step, although every unscaled element is finite"
    if type(unscaled) not in (list, tuple):
        return f"the unscaled gradients are {kind_of(unscaled)}, not a list of tensors"
    if len(unscaled) != len(want):
        return f"it returned {counted(len(unscaled), 'tensor')} for {counted(len(want), 'gradient')}"
    for index, item in enumerate(unscaled):
        if type(item) is not Tensor or item.library != "torch":
            return f"item {index} of the unscaled gradients is {kind_of(item)}, not a tensor"
    return None


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def same_values(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Clean steps: every element is right, whatever its dtype and its tensor's shape."""
    pair = pair_of(got)
    if isinstance(pair, str):
        return pair
    expected = want.returned[0]
    if found := finite_list(pair[0], expected):
        return found
    for index, (mine, theirs) in enumerate(zip(pair[0], expected, strict=True)):
        if len(mine.values) != len(theirs.values):
            elements = counted(len(mine.values), "element")
            return f"tensor unscaled[{index}] has {elements}, not {len(theirs.values)}"
        alike = replace(mine, dtype=theirs.dtype, shape=theirs.shape)
        atol = VALUE_ATOL[theirs.dtype]
        if found := differ(alike, theirs, rtol=VALUE_RTOL, atol=atol, where=f"element unscaled[{index}]"):
            return found
    return None


def same_structure(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Clean steps: a tuple; a list of tensors; every dtype and shape as it came."""
    pair = pair_of(got)
    if isinstance(pair, str):
        return pair
    if type(got.returned) is not tuple:
        return "it returned a list of two, not a tuple of two: write `return unscaled, new_scale` without brackets"
    if not want.returned[0] and pair[0] is None:
        return "an empty list has nothing in it that overflowed: the step is clean and the unscaled gradients are []"
    if found := finite_list(pair[0], want.returned[0]):
        return found
    for index, (mine, theirs) in enumerate(zip(pair[0], want.returned[0], strict=True)):
        for field in ("dtype", "shape"):
            if getattr(mine, field) != getattr(theirs, field):
                return f"tensor unscaled[{index}] has {field} {getattr(mine, field)}, not {getattr(theirs, field)}"
    return None


def same_scale(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Any step: the new scale is right, whatever came before it."""
    pair = pair_of(got)
    if isinstance(pair, str):
        return pair
    new, expected = real(pair[1]), real(want.returned[1])
    if expected is None or (new is not None and close(new, expected, SCALE_RTOL)):
        return None
    which = "backoff_factor" if want.returned[0] is None else "growth_factor"
    factor = arguments.get(which, 0.5 if want.returned[0] is None else 2.0)
    due = f"{expected:.9g} ({arguments['scale']:.9g} * {which} {factor:.9g})"
    if new is not None:
        return f"the new scale is {new:.9g}, not {due}"
    if type(pair[1]) is Tensor:
        return f"the new scale is {kind_of(pair[1])} of shape {pair[1].shape}, not one number: {due}"
    return f"the new scale is {kind_of(pair[1])}, not the number {due}"


def same_backoff(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """An overflow: the new scale is right. A clean step: it has not backed off, which is all that is asked here."""
    if want.returned[0] is None:
        return same_scale(arguments, got, want)
    pair = pair_of(got)
    if isinstance(pair, str):
        return pair
    new, backed_off = real(pair[1]), arguments["scale"] * arguments.get("backoff_factor", 0.5)
    if new is not None and close(new, backed_off, SCALE_RTOL):
        return f"the scale backed off to {new:.9g}, although every unscaled element is finite"
    return None


def same_skip(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Any step: None on an overflow and only there."""
    pair = pair_of(got)
    if isinstance(pair, str):
        return pair
    if want.returned[0] is not None:
        return "it skipped the step, although every unscaled element is finite" if pair[0] is None else None
    if pair[0] is None:
        return None
    culprit = overflowed(arguments)
    if type(pair[0]) in (list, tuple) and not pair[0]:
        return f"{culprit}, so None must come back, which says that there is no step; an empty list says a clean one"
    return f"{culprit}, so the step must be skipped, with None in place of the gradients"


def same_verdict(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Any step: the overflow was noticed, be it by None or by a scale that backs off; a clean step is no overflow."""
    pair = pair_of(got)
    if isinstance(pair, str):
        return pair
    if want.returned[0] is not None:
        return "it skipped the step, although every unscaled element is finite" if pair[0] is None else None
    new, expected = real(pair[1]), real(want.returned[1])
    backed_off = new is not None and expected is not None and close(new, expected, SCALE_RTOL)
    return None if pair[0] is None or backed_off else f"{overflowed(arguments)}: it went unnoticed"


def same_when_large(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Large clean steps: every element is right where the scale is 1; below it, only that there is a step."""
    return (same_values if arguments["scale"] == 1 else same_verdict)(arguments, got, want)


def overflowed(arguments: Arguments) -> str:
    """Return a clause that names the first element that is not finite once it is unscaled."""
    scale = arguments["scale"]
    for number, grad in enumerate(arguments["grads"]):
        for index, value in enumerate(grad.values):
            place = f"element grads[{number}]" + (f"[{index}]" if grad.shape else "")
            if not math.isfinite(value):
                return f"{place} is {value}"
            if abs(value) / scale > LARGEST[grad.dtype]:
                limit = f"the largest {grad.dtype}, {LARGEST[grad.dtype]:.5g}"
                return f"{place} / {scale:g} exceeds {limit}, and becomes {math.copysign(INF, value)}"
    return "an unscaled element is not finite"


def untouched(arguments: Arguments, got: Outcome, want: Outcome) -> str | Mismatch | None:
    """The arguments are as they were; what came back does not change when they are overwritten later."""
    pair = pair_of(got)
    if isinstance(pair, str):
        return pair
    # Whoever takes zeros, or nothing at all, for an overflow is told so elsewhere.
    telling = any(any(grad.values) for grad in arguments["grads"])
    if telling and want.returned[0] is not None and (found := finite_list(pair[0], want.returned[0])):
        return found
    if found := differ(got.after.get("grads"), arguments["grads"], where="after the call, grads"):
        return Mismatch(found, show="after")
    if differ(got.later, got.returned):
        if not isinstance(later := pair_of(replace(got, returned=got.later)), str) and longer(later[0], pair[0]):
            found = "the list that came back is grads itself: it grew when the caller appended to grads afterwards"
        else:
            found = (
                "something returned shares memory with grads: it changed when the caller wrote into grads afterwards"
            )
        return Mismatch(found, show="later")
    return None


def longer(later: Any, before: Any) -> bool:
    return type(later) is type(before) is list and len(later) > len(before)


def inputs_alone(case: Case, observed: Any, expected: Any) -> Mismatch | None:
    """Judge each call by ``untouched``, that the same call made again returns the same, and that results stay."""
    if mismatch := each_call(untouched)(case, observed, expected):
        return mismatch
    for index in range(1, len(case.calls)):
        if case.calls[index] == case.calls[0] and (found := changed(observed.outcomes[0], observed.outcomes[index])):
            return Mismatch(found, call=index)
    return outlives(observed)


def changed(first: Outcome, again: Outcome) -> str | None:
    """Return a sentence where two outcomes of one call differ."""
    if not differ(again.returned, first.returned):
        return None
    pairs = pair_of(first), pair_of(again)
    scales = [pair if isinstance(pair, str) else real(pair[1]) for pair in pairs]
    if scales[0] == scales[1]:
        return "the same call, made again, returned other gradients: something is remembered between calls"
    gave = f"the same call gave the new scale {scales[0]} first and {scales[1]} later"
    return f"{gave}: something is remembered between calls"


# ---------------------------------------------------------------------- random inputs

SCALES = (0.25, 0.5, 1.0, 2.0, 3.0, 10.0, 1000.0, 1024.0, 65536.0)


def values(random: Random, count: int) -> list[float]:
    """Return ordinary gradients: either sign, between 1e-4 and 1e3."""
    return [random.choice((-1, 1)) * 10.0 ** random.uniform(-4, 3) for _ in range(count)]


def ordinary(random: Random) -> list[Tensor]:
    """Return one to four clean tensors."""
    dtypes = [random.choice(("float32", "float64")) for _ in range(random.randint(1, 4))]
    return [tensor(values(random, random.randint(1, 5)), dtype) for dtype in dtypes]


def block(shape: tuple[int, ...], numbers: Iterable[float], dtype: str = "float32", strided: bool = False) -> Tensor:
    """Return a tensor of any shape from its elements in row-major order."""
    return replace(tensor(list(numbers), dtype, strided=strided), shape=shape)


def counting(*shape: int, strided: bool = False, **others: float) -> Tensor:
    """Return a float32 tensor of 1.0, 2.0, ... of any shape, but for ``at_<index>=value`` in row-major order."""
    numbers = [float(number) for number in range(1, math.prod(shape) + 1)]
    for name, other in others.items():
        numbers[int(name.removeprefix("at_"))] = other
    return block(shape, numbers, strided=strided)


def some_shape(random: Random, dimensions: int, smallest: int = 1) -> tuple[int, ...]:
    """Return sizes up to 3, the last of them of at least ``smallest``."""
    sizes = [random.randint(1, 3) for _ in range(dimensions)]
    return (*sizes[:-1], random.randint(smallest, 3)) if sizes else ()


def shaped(random: Random, dimensions: int) -> Tensor:
    """Return a clean tensor of either dtype, contiguous or not."""
    shape, dtype = some_shape(random, dimensions), random.choice(("float32", "float64"))
    return block(shape, values(random, math.prod(shape)), dtype, random.random() < 0.5)


def spoiled(random: Random, dimensions: Sequence[int]) -> list[Tensor]:
    """Return clean float32 tensors of so many dimensions, with an inf and a nan in one row of one of them."""
    shapes = [some_shape(random, count, smallest=2) for count in dimensions]
    rows = [values(random, math.prod(shape)) for shape in shapes]
    bad = random.randrange(len(rows))
    width = shapes[bad][-1]
    place = random.randrange(0, len(rows[bad]), width) + random.randrange(width - 1)
    rows[bad][place : place + 2] = random.choice(((INF, NAN), (NAN, INF)))
    return [block(shape, row, strided=random.random() < 0.5) for shape, row in zip(shapes, rows, strict=True)]


def random_values(random: Random) -> list[Case]:
    flat = [case(f"random {i}", grads=ordinary(random), scale=random.choice(SCALES)) for i in (1, 2, 3)]
    grads = [shaped(random, dimensions) for dimensions in random.sample(range(5), 3)]
    return [*flat, case("random 4", grads=grads, scale=random.choice(SCALES))]


def random_shapes(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3, 4):
        grads = [shaped(random, random.randint(0, 4)) for _ in range(random.randint(1, 4))]
        cases.append(case(f"random {i}", grads=grads, scale=random.choice(SCALES)))
    return cases


def random_growth(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3):
        growth, backoff = random.choice((1.25, 1.5, 3.0, 4.0)), random.choice((0.125, 0.25, 0.75))
        scale = random.choice(SCALES)
        factors = {"growth_factor": growth, "backoff_factor": backoff}
        cases.append(case(f"random {i}", grads=ordinary(random), scale=scale, **factors))
    return cases


def random_backoff(random: Random) -> list[Case]:
    return [
        case(
            f"random {i}",
            grads=[f32(INF, NAN) for _ in range(random.randint(1, 3))],
            scale=random.choice(SCALES),
            growth_factor=random.choice((1.25, 1.5, 3.0, 4.0)),
            backoff_factor=random.choice((0.125, 0.25, 0.75)),
        )
        for i in (1, 2, 3)
    ]


def random_inf(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3):
        tensors, elements = random.randint(1, 3), random.randint(1, 3)
        grads = [f32(*random.choices((INF, -INF), k=elements)) for _ in range(tensors)]
        cases.append(case(f"random {i}", grads=grads, scale=random.choice(SCALES)))
    return cases


def random_nan(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3):
        tensors, elements = random.randint(1, 3), random.randint(1, 3)
        cases.append(case(f"random {i}", grads=[full(elements, NAN)] * tensors, scale=random.choice(SCALES)))
    return cases


def random_places(random: Random) -> list[Case]:
    """Return lists of two to seven tensors of one to four dimensions, one of them bad in one place."""
    kinds = [[1] * random.randint(2, 4) for _ in range(2)]
    kinds += [[random.randint(1, 4) for _ in range(random.randint(4, 7))] for _ in range(3)]
    return [
        case(f"random {i}", grads=spoiled(random, kind), scale=random.choice(SCALES)) for i, kind in enumerate(kinds, 1)
    ]


def random_large(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3):
        big = [10.0 ** random.uniform(8, 38) for _ in range(random.randint(1, 4))]
        cases.append(case(f"random {i}", grads=[f32(*big)], scale=1.0))
    # Below 1 the quotient is large as well, and finite.
    scale = random.choice((0.125, 0.25, 0.5))
    big = random.uniform(0.5, 0.9) * LARGEST["float32"] * scale
    return [*cases, case("random 4", grads=[f32(random.choice((big, -big)))], scale=scale)]


def random_order(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3):
        big = random.uniform(0.6, 0.95) * LARGEST["float32"]
        cases.append(case(f"random {i}", grads=[f32(big, -big)], scale=random.choice((0.125, 0.25, 0.5))))
    return cases


def random_inputs(random: Random) -> list[Case]:
    scale = random.choice((2.0, 3.0, 1024.0))
    cases = [case(f"random {i}", grads=ordinary(random), scale=scale) for i in (1, 2)]
    shapes = [some_shape(random, random.randint(0, 2)) for _ in range(random.randint(1, 4))]
    two = [[block(shape, values(random, math.prod(shape))) for shape in shapes] for _ in range(2)]
    return [*cases, calls("random 3", *[{"grads": grads, "scale": scale} for grads in two])]


# ---------------------------------------------------------------------------- checks

CHECKS = (
    Check(
        id="unscales",
        title="Divides every gradient by the scale",
        points=1.0,
        rule="The loss was multiplied by scale, so every gradient was too: dividing by scale undoes it, element by "
        "element.",
        see=UNSCALE,
        judge=each_call(same_values),
        random=random_values,
        cases=(
            case("one element", grads=[f32(8.0)], scale=4.0),
            case("both signs", grads=[f32(2048.0, -4096.0)], scale=1024.0),
            case("results below one", grads=[f32(1.0, -3.0)], scale=4.0),
            case("a scale of one", grads=[f32(3.0, -5.0)], scale=1.0),
            case("a scale below one", grads=[f32(1.5, -2.0)], scale=0.25),
            case("an int as the scale", grads=[f32(6.0)], scale=8),
            case("a scale that is no power of two", grads=[f32(1.0, 2.0, -7.0)], scale=3.0),
            case("a growth factor of three", grads=[f32(12.0)], scale=2.0, growth_factor=3.0),
            case("two tensors", grads=[f32(16.0), f32(-2.0, 4.0)], scale=2.0),
            case("a tiny gradient", grads=[f32(2.0**-100)], scale=1024.0),
            case("a subnormal result", grads=[f32(2.0**-120)], scale=65536.0),
            case("a very large scale", grads=[f32(1.0, -3.0)], scale=2.0**60),
            case("float64 beside float32", grads=[f64(0.1), f32(-512.0)], scale=1024.0),
            case("four dimensions", grads=[counting(2, 1, 3, 2)], scale=2.0),
        ),
    ),
    Check(
        id="keeps_structure",
        title="Returns a tuple with one tensor a gradient, of the same shape and dtype",
        points=1.0,
        rule="One tensor comes back for every gradient, in the same order, with its shape and dtype: "
        "each is the gradient of one parameter and must still fit it.",
        see=UNSCALE,
        judge=each_call(same_structure),
        random=random_shapes,
        cases=(
            case("one tensor", grads=[f32(8.0)], scale=4.0),
            case("no gradients", grads=[], scale=4.0),
            case("an empty tensor", grads=[tensor([])], scale=4.0),
            case("a 0-d tensor", grads=[tensor(8.0)], scale=4.0),
            case("a 1-by-1 tensor", grads=[tensor([[8.0]])], scale=4.0),
            case("a float64 tensor", grads=[f64(8.0)], scale=4.0),
            case("a matrix", grads=[tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])], scale=2.0),
            case("a non-contiguous matrix", grads=[tensor([[1.0, 2.0], [3.0, 4.0]], strided=True)], scale=2.0),
            case("two dtypes", grads=[f32(4.0), f64(8.0)], scale=4.0),
            case("the same tensor twice", grads=[f32(8.0, share="g"), f32(8.0, share="g")], scale=4.0),
            case("an empty tensor between others", grads=[f32(4.0), tensor([]), f32(8.0, 12.0)], scale=4.0),
            case("seven tensors of different sizes", grads=[full(n, 4.0) for n in (3, 1, 4, 2, 6, 5, 7)], scale=4.0),
            case("three dimensions", grads=[counting(2, 3, 1)], scale=2.0),
            case("four dimensions", grads=[counting(2, 1, 3, 2)], scale=2.0),
            case("four dimensions, non-contiguous", grads=[counting(2, 1, 3, 2, strided=True)], scale=2.0),
        ),
    ),
    Check(
        id="grows_when_clean",
        title="Multiplies the scale by growth_factor after a clean step",
        points=1.0,
        rule="A step whose unscaled gradients are all finite is clean: the new scale is scale * growth_factor, "
        "for any factor and any scale.",
        see=SCALE,
        judge=each_call(same_scale),
        random=random_growth,
        cases=(
            case("one element", grads=[f32(8.0)], scale=4.0),
            case("zeros", grads=[f32(0.0, -0.0)], scale=4.0),
            case("only negative elements", grads=[f32(-2.0, -4.0)], scale=8.0),
            case("a growth factor of three", grads=[f32(8.0)], scale=4.0, growth_factor=3.0),
            case("a growth factor of 1.5", grads=[f32(8.0)], scale=4.0, growth_factor=1.5),
            case("a backoff factor of 0.25", grads=[f32(8.0)], scale=4.0, backoff_factor=0.25),
            case("both factors", grads=[f32(8.0)], scale=4.0, growth_factor=1.5, backoff_factor=0.75),
            case("an int as the scale", grads=[f32(8.0)], scale=4),
            case("a scale of 0.25", grads=[f32(8.0)], scale=0.25),
            case("a scale of 65536", grads=[f32(8.0)], scale=65536.0),
            case("a scale of 2**60", grads=[f32(8.0)], scale=2.0**60),
            case("no gradients", grads=[], scale=4.0),
        ),
    ),
    Check(
        id="backs_off_once",
        title="Multiplies the scale by backoff_factor, once, after an overflow",
        points=1.0,
        rule="After an overflow the new scale is scale * backoff_factor: multiplied once, however many elements are "
        "bad, for any factor and any scale.",
        see=SCALE,
        judge=each_call(same_backoff),
        random=random_backoff,
        cases=(
            case("one bad tensor", grads=[f32(INF, NAN)], scale=4.0),
            case("a backoff factor of 0.25", grads=[f32(INF, NAN)], scale=4.0, backoff_factor=0.25),
            case("a backoff factor of 0.75", grads=[f32(INF, NAN)], scale=4.0, backoff_factor=0.75),
            case("a growth factor of three", grads=[f32(INF, NAN)], scale=4.0, growth_factor=3.0),
            case("a scale of one", grads=[f32(INF, NAN)], scale=1.0),
            case("a scale below one", grads=[f32(INF, NAN)], scale=0.25),
            case("two bad tensors", grads=[f32(INF, NAN), f32(NAN, INF)], scale=4.0),
            case("inf in one tensor and -inf in another", grads=[f32(INF, NAN), f32(-INF, NAN)], scale=4.0),
            case("no overflow", grads=[f32(8.0)], scale=4.0),
        ),
    ),
    Check(
        id="skips_on_inf",
        title="Returns None in place of the gradients when one is inf or -inf",
        points=1.0,
        rule="inf and -inf both mean that the backward pass overflowed: the step is skipped, and None says so.",
        see=JUDGE,
        judge=each_call(same_skip),
        random=random_inf,
        cases=(
            case("inf", grads=[f32(INF)], scale=4.0),
            case("-inf", grads=[f32(-INF)], scale=4.0),
            case("-inf beside a finite element", grads=[f32(-INF, 1.0)], scale=4.0),
            case("a 0-d inf", grads=[tensor(INF)], scale=4.0),
            case("inf in float64", grads=[f64(INF)], scale=4.0),
            case("nothing but infs", grads=[f32(INF, INF, INF)], scale=4.0),
            case("inf and -inf, whose sum is nan", grads=[f32(INF), f32(-INF)], scale=4.0),
            case("no overflow", grads=[f32(8.0)], scale=4.0),
        ),
    ),
    Check(
        id="skips_on_nan",
        title="Returns None in place of the gradients when one is nan",
        points=1.0,
        rule="nan is an overflow too: it is what inf - inf and 0 * inf leave behind. The step is skipped, and None "
        "says so.",
        see=JUDGE,
        judge=each_call(same_skip),
        random=random_nan,
        cases=(
            case("nan", grads=[f32(NAN)], scale=4.0),
            case("a 0-d nan", grads=[tensor(NAN)], scale=4.0),
            case("nan in float64", grads=[f64(NAN)], scale=4.0),
            case("nothing but nans", grads=[f32(NAN, NAN, NAN)], scale=4.0),
            case("no overflow", grads=[f32(8.0)], scale=4.0),
        ),
    ),
    Check(
        id="looks_everywhere",
        title="Notices an overflow in any element of any tensor",
        points=1.0,
        rule="One element that is not finite, in any place of any tensor, makes the whole step an overflow.",
        see=EVERY,
        judge=each_call(same_verdict),
        random=random_places,
        cases=(
            case("after a finite element", grads=[f32(1.0, INF, NAN)], scale=4.0),
            case("before a finite element", grads=[f32(INF, NAN, 1.0)], scale=4.0),
            case("among finite elements", grads=[f32(1.0, INF, NAN, 2.0)], scale=4.0),
            case("in the first of two tensors", grads=[f32(NAN, INF), f32(1.0)], scale=4.0),
            case("in the last of two tensors", grads=[f32(1.0), f32(INF, NAN)], scale=4.0),
            case("in the middle tensor", grads=[f32(1.0), f32(INF, NAN), f32(2.0)], scale=4.0),
            case("inside a long tensor", grads=[full(4099, 1.0, at_2048=INF, at_2049=NAN)], scale=4.0),
            case("at the end of a long tensor", grads=[full(4099, 1.0, at_4097=INF, at_last=NAN)], scale=4.0),
            case("nowhere", grads=[f32(1.0, 2.0), f32(3.0)], scale=4.0),
            case("in the first row of a matrix", grads=[counting(3, 2, at_0=INF, at_1=NAN)], scale=4.0),
            case("in the last row of a matrix", grads=[counting(3, 2, at_4=INF, at_5=NAN)], scale=4.0),
            case("in three dimensions", grads=[counting(2, 2, 3, at_7=NAN, at_8=INF)], scale=4.0),
            case("in four dimensions", grads=[counting(2, 1, 3, 2, at_10=INF, at_11=NAN)], scale=4.0),
            case("in a non-contiguous matrix", grads=[counting(3, 2, strided=True, at_4=INF, at_5=NAN)], scale=4.0),
            case(
                "in a non-contiguous tensor of three dimensions",
                grads=[f32(1.0), counting(2, 2, 2, strided=True, at_6=NAN, at_7=INF)],
                scale=4.0,
            ),
            case(
                "in the last of five tensors",
                grads=[f32(1.0), f32(2.0), f32(3.0), f32(4.0), f32(5.0, INF, NAN)],
                scale=4.0,
            ),
            case(
                "in the fifth of seven tensors",
                grads=[
                    counting(2, 2),
                    tensor(1.0),
                    counting(1, 2, 2),
                    f32(1.0, 2.0),
                    counting(2, 3, at_3=NAN, at_4=INF),
                    tensor(2.0),
                    counting(2, 1, 2),
                ],
                scale=4.0,
            ),
            case(
                "nowhere in four tensors", grads=[counting(2, 2), tensor(1.0), counting(1, 2, 2), f32(3.0)], scale=4.0
            ),
        ),
    ),
    Check(
        id="large_is_not_infinite",
        title="Takes large finite gradients for what they are",
        points=1.0,
        rule="Only inf and nan are overflows. A finite number, however large, is a gradient like any other: "
        "test each element by itself, in its own dtype.",
        see=LARGE,
        judge=each_call(same_when_large),
        random=random_large,
        cases=(
            case("between fp16's largest number and its inf", grads=[f32(65510.0)], scale=1.0),
            case("above what fp16 can hold", grads=[f32(70000.0)], scale=1.0),
            case("a million", grads=[f32(1e6)], scale=1.0),
            case("a number whose square overflows", grads=[f32(1e30)], scale=1.0),
            case("near the largest float32", grads=[f32(3e38)], scale=1.0),
            case("two numbers whose sum overflows", grads=[f32(3e38, 3e38)], scale=1.0),
            case("two tensors whose sum overflows", grads=[f32(3e38), f32(3e38)], scale=1.0),
            case("above what float32 can hold", grads=[f64(1e300)], scale=1.0),
            case("two float64 numbers whose sum overflows", grads=[f64(1.7e308, 1.7e308)], scale=1.0),
            case("a large number that stays finite at a scale below one", grads=[f32(1e38)], scale=0.5),
            case("a negative one, at a smaller scale", grads=[f32(-8e37)], scale=0.25),
            case("a large float64 at a scale below one", grads=[f64(8e307)], scale=0.5),
        ),
    ),
    Check(
        id="judges_after_unscaling",
        title="Judges the unscaled values, not the incoming ones",
        points=1.0,
        rule="What is judged is what the optimizer would get: the values after the division, in their dtype. For "
        "scale >= 1 either order gives the same answer; below 1 the division makes gradients larger and can "
        "itself overflow.",
        see=ORDER,
        judge=each_call(same_verdict),
        random=random_order,
        cases=(
            case("the division overflows", grads=[f32(3e38, -3e38)], scale=0.5),
            case("a smaller scale", grads=[f32(1e38, -1e38)], scale=0.25),
            case("float64 overflows", grads=[f64(1.7e308, -1.7e308)], scale=0.5),
            case("two tensors overflow", grads=[f32(3e38, -3e38), f32(-2e38, 2e38)], scale=0.5),
            case("nothing overflows", grads=[f32(1.0, -2.0)], scale=0.5),
        ),
    ),
    Check(
        id="leaves_inputs_alone",
        title="Leaves its inputs as they were, and shares and remembers nothing",
        points=1.0,
        rule="The function only looks at its inputs: grads is the same after the call, what is returned shares no "
        "memory with it, the same call made again returns the same, and what one call returned stays as it is when "
        "the next one is made.",
        see=INPUTS,
        scenario="overwritten",
        judge=inputs_alone,
        random=random_inputs,
        cases=(
            case("one element", grads=[f32(8.0)], scale=4.0),
            case("a scale of one", grads=[f32(8.0, -3.0)], scale=1.0),
            case("two tensors", grads=[f32(8.0), f64(4.0, -2.0)], scale=4.0),
            case("an overflow", grads=[f32(1.0, INF, NAN), f32(8.0)], scale=4.0),
            calls("the same call three times", *[{"grads": [f32(8.0)], "scale": 4.0} for _ in range(3)]),
            calls("an overflow, twice", *[{"grads": [f32(INF, NAN)], "scale": 4.0} for _ in range(2)]),
            case("no gradients", grads=[], scale=4.0),
            case("zeros", grads=[f32(0.0, 0.0)], scale=4.0),
            case("zeros beside others", grads=[f32(8.0), tensor([[0.0], [-0.0]])], scale=4.0),
            calls(
                "two calls with other gradients",
                {"grads": [f32(8.0)], "scale": 4.0},
                {"grads": [f32(12.0)], "scale": 4.0},
            ),
            calls(
                "a clean step, then an overflow",
                {"grads": [f32(8.0, -3.0), tensor([[2.0]])], "scale": 4.0},
                {"grads": [f32(INF, NAN), tensor([[NAN]])], "scale": 4.0},
            ),
        ),
    ),
)

# ---------------------------------------------------------------------------- beliefs

MISCONCEPTIONS = (
    # what counts as an overflow
    Misconception(
        "only_checks_inf",
        "An overflow is an inf, so I look for inf.",
        "isinf(nan) is False. As soon as the backward pass subtracts two infs, or multiplies one by zero, the overflow "
        "arrives as nan; torch.isfinite refuses both.",
        JUDGE,
    ),
    Misconception(
        "only_checks_nan",
        "A broken gradient shows up as nan.",
        "isnan(inf) is False, and inf != inf is False too. An overflow that nothing has touched since is a plain inf; "
        "torch.isfinite refuses both.",
        JUDGE,
    ),
    Misconception(
        "infinity_has_one_sign",
        "Too large means +inf, so that is what to compare with.",
        "Gradients have signs, and a large negative one overflows to -inf, which equals neither inf nor anything that "
        "isposinf accepts. isfinite knows both signs.",
        JUDGE,
    ),
    Misconception(
        "largest_shows_overflow",
        "If the largest element is finite, all of them are.",
        "-inf is the smallest number there is, never the largest: the max of [1, -inf] is 1. Ask every element, or "
        "take abs() first.",
        JUDGE,
    ),
    Misconception(
        "every_tensor_has_a_largest",
        "Every tensor has a largest element that I can look at.",
        "An empty tensor has none, and max() of no elements raises. isfinite(g).all() is True there: nothing in it is "
        "bad.",
        EVERY,
    ),
    Misconception(
        "never_skips",
        "Dividing by the scale brings an overflowed gradient back into range.",
        "inf / 1024 is inf, and nan / 1024 is nan. The overflow happened in the backward pass, and the number that "
        "stood there is lost; all that is left to do is to skip the step.",
        JUDGE,
    ),
    # where to look
    Misconception(
        "first_tensor_is_enough",
        "If one layer overflows all of them do, so I check the first tensor.",
        "Backward runs from the loss to the input, and an overflow can begin anywhere on the way, or be cut off by a "
        "zero. Every tensor has to be looked at.",
        EVERY,
    ),
    Misconception(
        "last_tensor_decides",
        "After the loop my flag says whether a gradient was bad.",
        "A flag that each pass sets anew tells about the last tensor only. Keep what was found (found = found or ...), "
        "use any(...), or return at once.",
        EVERY,
    ),
    Misconception(
        "one_element_speaks_for_all",
        "If a tensor overflowed, its first element shows it.",
        "An overflow is a matter of single elements: in a matrix of a million weights one inf is enough, in any place.",
        EVERY,
    ),
    Misconception(
        "a_row_answers_for_all",
        "all(dim=-1) answers for the whole matrix.",
        "With a dimension it answers for each row by itself, and any() over these answers is content with one good "
        "row. all() without arguments looks at every element, whatever the shape.",
        EVERY,
    ),
    Misconception(
        "matrices_do_not_overflow",
        "I look at the vectors; a matrix is made of them.",
        "A condition on the number of dimensions leaves out the weights, which are most of the gradients. "
        "isfinite(g).all() asks every element and does not care about the shape.",
        EVERY,
    ),
    Misconception(
        "memory_is_the_tensor",
        "A tensor's elements lie one after the other in memory.",
        "A view of every second column, or a transposed matrix, is spread over memory that is not all its own: read "
        "in order, half of the numbers are a stranger's and half of its own are missed. g.reshape(-1) goes by "
        "strides.",
        EVERY,
    ),
    Misconception(
        "any_finite_is_enough",
        "isfinite(g).any() tells me that the gradient is usable.",
        "any() is True as soon as one element is finite. What is needed is that all of them are: isfinite(g).all().",
        EVERY,
    ),
    Misconception(
        "every_tensor_must_overflow",
        "I skip only when every gradient is bad; else there is still something to learn.",
        "One optimizer step writes all parameters. A single nan in one of them reaches every output at the next "
        "forward pass, so one bad tensor spoils the whole step.",
        EVERY,
    ),
    Misconception(
        "one_bad_is_noise",
        "One bad element among thousands is noise.",
        "One nan written into a parameter stays nan, and spreads to every output that the parameter touches. One bad "
        "element is an overflow.",
        EVERY,
    ),
    # large is not infinite
    Misconception(
        "sum_shows_overflow",
        "A sum is finite exactly when all its terms are.",
        "3e38 + 3e38 exceeds the largest float32, about 3.4e38: the sum is inf, though both terms are finite. "
        "Test elements, not totals.",
        LARGE,
    ),
    Misconception(
        "norm_shows_overflow",
        "If the norm is infinite, a gradient overflowed.",
        "The norm squares its elements, and 1e30 squared is far above the largest float32, about 3.4e38: an infinite "
        "norm of a finite gradient. Test elements.",
        LARGE,
    ),
    Misconception(
        "fp16_limit_applies",
        "65504 is the largest fp16 number, so anything above it has overflowed.",
        "These tensors are float32 or float64, where 70000 is an ordinary number. An overflow in fp16 has left an inf "
        "or a nan: look for those, not for a threshold.",
        LARGE,
    ),
    Misconception(
        "judges_in_half",
        "The gradients were computed in fp16, so fp16 is where to test them.",
        "The cast makes infs that were not there: 70000.0 becomes inf in fp16. Test the tensor as it is.",
        LARGE,
    ),
    Misconception(
        "judges_in_float32",
        "Gradients are float32, so I test them as float32.",
        "A float64 gradient of 1e300 is finite, and inf as float32. Test each tensor in its own dtype.",
        LARGE,
    ),
    Misconception(
        "large_overflows_at_small_scales",
        "Below scale 1 the division makes numbers larger, so I refuse what is large already.",
        "How large is too large depends on the scale: 3e38 / 0.5 is inf in float32, and 1e38 / 0.5 is 2e38, an "
        "ordinary number. Divide first, and ask the quotient.",
        LARGE,
    ),
    Misconception(
        "zero_means_lost",
        "A zero gradient has underflowed, so the step is worthless.",
        "Zero is finite, and often simply true: a dead ReLU, an unused embedding row. And against underflow the scale "
        "has to grow, while skipping backs it off.",
        SCALE,
    ),
    # the order
    Misconception(
        "order_is_free",
        "It makes no difference whether I check before or after dividing.",
        "For scale >= 1 it makes none, and PyTorch itself checks before. But dividing by 0.5 doubles: 3e38 / 0.5 is "
        "inf in float32, and a check made before has seen only 3e38.",
        ORDER,
    ),
    Misconception(
        "wider_dtype_judges",
        "Computing and judging in float64 is safer.",
        "6e38 is finite in float64 and becomes inf when it is stored as float32. What the optimizer gets is the "
        "float32 tensor, so judge that one.",
        ORDER,
    ),
    # unscaling
    Misconception(
        "unscaling_multiplies",
        "Unscaling makes up for the scale, so I multiply by it.",
        "Multiplying the loss by S multiplied every gradient by S (the chain rule). Undoing it means dividing: "
        "2048 / 1024 = 2, while 2048 * 1024 is 2097152.",
        UNSCALE,
    ),
    Misconception(
        "direction_is_enough",
        "The optimizer needs the direction only, so the gradients may stay scaled.",
        "With SGD a gradient that is 1024 times too large makes a step that is 1024 times too long; and clipping and "
        "weight decay mix it with quantities that were never scaled.",
        UNSCALE,
    ),
    Misconception(
        "floor_division_divides",
        "// divides too.",
        "a // b rounds the quotient down to a whole number: 1 // 4 is 0 and -3 // 4 is -1. Gradients are real numbers, "
        "mostly far below one: use /.",
        UNSCALE,
    ),
    Misconception(
        "new_scale_unscales",
        "I update the scale first and unscale with the new one.",
        "These gradients were made with the scale that was passed in. The new one belongs to the next backward pass.",
        UNSCALE,
    ),
    Misconception(
        "unscale_twice",
        "I divide once for the check and once for the result.",
        "If the second division starts from values that are already unscaled, the result is g / scale**2. "
        "Divide once, and use that for both.",
        UNSCALE,
    ),
    Misconception(
        "sign_does_not_matter",
        "Overflow is about size, so I work with absolute values.",
        "abs() is fine inside the test, but the sign is the direction of the step: what is returned must keep it.",
        UNSCALE,
    ),
    Misconception(
        "rounding_tidies",
        "Rounding removes the noise of floating point.",
        "Unscaled gradients are often tiny: rounded to four places 1e-5 is 0, which is the very underflow that loss "
        "scaling is there to prevent.",
        UNSCALE,
    ),
    Misconception(
        "gradients_live_in_half",
        "Mixed precision means that gradients are fp16.",
        "The unscaled gradient is the small number that fp16 could not hold, which is why it is kept in the dtype of "
        "its parameter: 1e-8 is 0 in fp16, and 70000 is inf.",
        UNSCALE,
    ),
    Misconception(
        "half_round_trip_is_exact",
        ".half().float() gives the same number back.",
        "fp16 has 11 significant bits: 1/3 comes back as 0.33325195, 1e-8 as 0 and 70000 as inf.",
        UNSCALE,
    ),
    Misconception(
        "reciprocal_fits_half",
        "1 / scale is one small number; fp16 is good enough for it.",
        "1/3 in fp16 is off by one part in 4096, and 2**-60 is 0 there. Keep the reciprocal in float32 or better, "
        "or divide.",
        UNSCALE,
    ),
    # structure
    Misconception(
        "more_precision_is_free",
        "Returning float64 keeps more precision.",
        "A gradient has its parameter's dtype, and PyTorch refuses to assign another. float64 also hides an overflow: "
        "6e38 is finite there and inf in float32.",
        UNSCALE,
    ),
    Misconception(
        "empty_tensors_do_not_count",
        "An empty tensor has nothing to unscale, so I leave it out.",
        "Gradients and parameters are matched by position. One tensor fewer, and every later gradient belongs to the "
        "wrong parameter.",
        UNSCALE,
    ),
    Misconception(
        "one_tensor_is_handier",
        "I stack the gradients into one tensor and divide that.",
        "Stacking needs equal shapes, which parameters do not have, and what comes back must be a list with one "
        "tensor a gradient.",
        UNSCALE,
    ),
    Misconception(
        "generator_is_a_list",
        "(g / scale for g in grads) is the list of unscaled gradients.",
        "Round brackets make a generator: it computes nothing yet, has no length, and is used up by the first loop "
        "over it. Square brackets make a list.",
        UNSCALE,
    ),
    Misconception(
        "shape_does_not_matter",
        "The step is element by element, so flat tensors do.",
        "The gradient must have its parameter's shape, or the optimizer cannot subtract it.",
        UNSCALE,
    ),
    Misconception(
        "tensors_divide_like_numbers",
        "torch.tensor(scale) divides just as scale does.",
        "A number never changes a tensor's dtype or shape, a tensor may: dividing a 0-d float32 gradient by a 0-d "
        "float64 tensor gives float64, and by a tensor of shape (1,) the shape (1,).",
        UNSCALE,
    ),
    Misconception(
        "a_weight_is_a_matrix",
        "Weights are matrices and biases vectors, so loops for two dimensions do.",
        "The weight of a 2-d convolution has four dimensions. g / scale and isfinite(g) work on each element, however "
        "many dimensions there are, and need no loop.",
        UNSCALE,
    ),
    Misconception(
        "one_gradient_is_enough",
        "There is one gradient, so I return grads[0] / scale.",
        "grads holds one tensor a parameter, and all of them come back, in a list.",
        UNSCALE,
    ),
    Misconception(
        "numbers_are_tensors",
        "A list of numbers is as good as a tensor.",
        "tolist() gives Python numbers: shape, dtype and device are gone, and no optimizer accepts them as a gradient.",
        UNSCALE,
    ),
    Misconception(
        "list_is_a_tuple",
        "[unscaled, new_scale] is the same as (unscaled, new_scale).",
        "It unpacks in the same way, but the function says that it returns a tuple, and a list of two says two things "
        "of one kind. Write return unscaled, new_scale.",
        UNSCALE,
    ),
    Misconception(
        "scale_comes_first",
        "The order of the two results does not matter.",
        "The caller writes unscaled, scale = grad_scaler_step(...): swapped results put a number where the gradients "
        "belong.",
        SKIP,
    ),
    Misconception(
        "gradients_are_the_result",
        "The function is there to unscale, so it returns the gradients.",
        "The next backward pass needs the new scale, and a float cannot be changed in place: it has to be returned, "
        "beside the gradients.",
        SCALE,
    ),
    Misconception(
        "nothing_means_skip",
        "Without gradients there is nothing to step with, so it is a skip.",
        "A skip says that something overflowed. In an empty list nothing did: the step is clean, [] comes back and "
        "the scale grows. An empty list is falsy in Python, so `not grads` and `grads or None` mistake it for None.",
        SKIP,
    ),
    # the new scale
    Misconception(
        "factors_are_fixed",
        "The scale doubles or halves.",
        "2 and 0.5 are defaults. The caller may ask for other factors: multiply by growth_factor and by "
        "backoff_factor.",
        SCALE,
    ),
    Misconception(
        "growth_can_wait",
        "PyTorch grows only every 2000 steps, so a single step does not grow.",
        "That is growth_interval, which belongs to dynamic scaling. This function is one step of a scaler that grows "
        "at every clean step.",
        SCALE,
    ),
    Misconception(
        "skipping_is_enough",
        "The bad step is skipped, so the scale may stay.",
        "The scale was too large for these gradients and will be so at the next step: without backing off, every step "
        "from here on is skipped.",
        SCALE,
    ),
    Misconception(
        "overflow_wants_more",
        "An overflow means that the scale is wrong, so it has to grow.",
        "A larger scale makes larger gradients, and overflows again. An overflow asks for a smaller scale, and a "
        "clean step can afford a larger one.",
        SCALE,
    ),
    Misconception(
        "backing_off_divides",
        "Backing off makes the scale smaller, so I divide by backoff_factor.",
        "backoff_factor is below one: multiplying by 0.5 halves the scale, dividing by 0.5 doubles it.",
        SCALE,
    ),
    Misconception(
        "one_factor_is_enough",
        "Backing off undoes growing, so one factor gives the other.",
        "2 and 0.5 are each other's inverse by default only. The two factors are independent: each has its own use.",
        SCALE,
    ),
    Misconception(
        "scale_has_a_floor",
        "A scale below one makes no sense, so I stop at one.",
        "PyTorch's scaler has no such floor, nor has this step: at large losses a scale below one is what keeps fp16 "
        "gradients finite.",
        SCALE,
    ),
    Misconception(
        "scale_has_a_cap",
        "65536 is the largest scale.",
        "65536 is where PyTorch starts. From there the scale grows as long as the steps are clean.",
        SCALE,
    ),
    Misconception(
        "scale_is_whole",
        "A scale is a whole number.",
        "A scale may fall below one, and a factor may be 1.5. int() turns 0.5 into 0, and dividing by 0 ends the "
        "training.",
        SCALE,
    ),
    Misconception(
        "factors_are_added",
        "Growing adds growth_factor, backing off subtracts backoff_factor.",
        "A factor multiplies. The right scale may be 1 or 16777216, and only multiplying gets from one to the other "
        "in a few steps.",
        SCALE,
    ),
    Misconception(
        "factors_are_exponents",
        "The scale grows exponentially, so I raise it to growth_factor.",
        "Growing exponentially means multiplying by the same factor again and again. scale ** 2 goes from 65536 to "
        "4294967296 at once, and leaves a scale of 1 where it is.",
        SCALE,
    ),
    Misconception(
        "each_bad_tensor_backs_off",
        "Every bad tensor makes the scale smaller.",
        "There is one scale for all gradients and one decision a step: it backs off once, whether one element is bad "
        "or all.",
        SCALE,
    ),
    Misconception(
        "a_tensor_of_one_is_a_number",
        "A tensor with one element is a number.",
        "A tensor of shape (1,) has a dimension, and what is multiplied by it gets one too: a 0-d loss comes out with "
        "shape (1,). Return a float, or a 0-d tensor.",
        SCALE,
    ),
    # skipping
    Misconception(
        "skip_is_an_empty_list",
        "An empty list says that there is nothing to step with.",
        "An empty list is a clean step of a model without gradients. None says that there is no step, and code that "
        "forgets to look fails at once in place of training on nothing.",
        SKIP,
    ),
    Misconception(
        "skip_is_a_zero_step",
        "With zero gradients the step does nothing, which is a skip.",
        "A step with zero gradients still moves the parameters by momentum, weight decay and Adam's averages, and "
        "counts as a step. A skipped step does none of it.",
        SKIP,
    ),
    Misconception(
        "infs_can_be_cleaned",
        "I replace inf and nan by usable numbers and go on.",
        "Nobody knows what stood there: nan_to_num puts 0 or 3.4e38 in its place, and the step follows an invention. "
        "And if the scale does not back off, the overflow comes back.",
        SKIP,
    ),
    Misconception(
        "drop_the_bad_tensor",
        "I leave out the bad tensor and step with the others.",
        "The others came from the same backward pass at a scale that was too large, and updating a part of the "
        "parameters is another direction than the gradient's.",
        SKIP,
    ),
    Misconception(
        "skip_by_the_scale",
        "The scale backs off; the gradients go back to the caller, who decides.",
        "The caller decides by None, and has no other sign: gradients that come back are stepped with, infs and all.",
        SKIP,
    ),
    Misconception(
        "overflow_is_an_error",
        "An overflow is an error, so I raise an exception.",
        "With dynamic scaling an overflow is ordinary: it is how the scaler finds out that the scale is too large. "
        "It skips, backs off and goes on.",
        SKIP,
    ),
    # the inputs
    Misconception(
        "in_place_is_fine",
        "PyTorch's unscale_ works in place, so may I.",
        "Here the gradients belong to the caller, who may unscale them again: a second call would divide a second "
        "time. g / scale makes a new tensor, g /= scale and g.div_(scale) change the caller's.",
        INPUTS,
    ),
    Misconception(
        "same_values_same_tensor",
        "At scale 1 there is nothing to divide, so I return the gradients themselves.",
        "The values are right, but they are the caller's own tensors: what is written into one of the two shows in "
        "the other.",
        INPUTS,
    ),
    Misconception(
        "the_list_is_mine",
        "Assigning to grads[i] changes only my own list.",
        "A list is passed by reference: grads[i] = ... replaces the tensor in the caller's list. Build a new list.",
        INPUTS,
    ),
    Misconception(
        "bad_gradients_are_cleared",
        "After an overflow the gradients are useless, so I clear them.",
        "They are the caller's, who may want to see where the overflow was. Clearing gradients is what "
        "optimizer.zero_grad() is for.",
        INPUTS,
    ),
    Misconception(
        "empty_lists_are_all_alike",
        "An empty list is an empty list, so I return the one that I was given.",
        "It is the caller's: what the caller appends to it later would appear among the unscaled gradients. [] makes a "
        "new one.",
        INPUTS,
    ),
    Misconception(
        "zero_needs_no_division",
        "Zero divided by anything is zero, so I return a gradient of zeros as it is.",
        "The value is right and the tensor is the caller's: the next backward pass adds to it, and to what was "
        "returned with it. g / scale is new for zeros too.",
        INPUTS,
    ),
    Misconception(
        "buffers_save_time",
        "I make the list and its tensors once and fill them at every call, which saves memory.",
        "Then all calls return one and the same object, and a second call changes what the first one gave: who keeps "
        "the gradients of two steps has the last ones twice. PyTorch reuses freed memory by itself.",
        INPUTS,
    ),
    Misconception(
        "function_keeps_count",
        "The function counts good steps from one call to the next.",
        "A default argument and an attribute live as long as the function: two trainings in one process would share "
        "the count. All that this step depends on is passed in.",
        INPUTS,
    ),
    # what is not accepted
    Misconception(
        "pytorch_may_do_it",
        "PyTorch's scaler already does this, so I call it.",
        "It is what this exercise rebuilds, and its rule is another one below scale 1. Once yours passes, use "
        "PyTorch's.",
        NOT_THE_SCALER,
    ),
)
