"""What is graded about ``largest_safe_scale``, and the beliefs behind its known wrong answers.

Each check looks at one property. Where a check is not about rounding down, the largest magnitude is three times a power
of two: the scale is then far from both of its neighbors, whatever limit and whatever rounding an answer uses. Where it
is not about headroom, headroom is 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from random import Random
from typing import Any

from autograder.checks import (
    Case,
    Check,
    Misconception,
    Mismatch,
    Outcome,
    calls,
    case,
    differ,
    each_call,
    f32,
    f64,
    full,
    kind_of,
    real,
    tensor,
)

PAGE = "book/03_scale_the_loss.html#"
ROOM, TOO_LARGE, SCALE = PAGE + "headroom", PAGE + "too-large", PAGE + "static-scale"
FAILS = PAGE + "if-the-scale-is-wrong"
JUDGE, EVERY = "book/04_one_scaler_step.html#judge", "book/04_one_scaler_step.html#every-element"
INPUTS = "book/04_one_scaler_step.html#inputs"

INF, NAN = math.inf, math.nan
LARGEST = 65504.0

# ------------------------------------------------------------------------- comparing
# These see claims of the student's process: any plain value may come, and none may make them raise.

Arguments = Mapping[str, Any]


def same_scale(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """The scale is exactly that one, whatever number stands for it."""
    scale, due = real(got.returned), want.returned
    if got.returned is None:
        return "it returned None; the last line of each way out is `return <the scale>`"
    if scale is None:
        return f"it returned {kind_of(got.returned)}, not one number"
    if scale == due:
        return None
    return f"the scale is {scale:.10g}, not {due:.10g}{reason(arguments, due)}"


def reason(arguments: Arguments, due: float) -> str:
    """Return a clause with the inequality at the right scale and at the next one."""
    magnitudes = [abs(value) for grad in arguments["grads"] if grad is not None for value in grad.values]
    largest, headroom = max(magnitudes, default=0.0), arguments.get("headroom", 2.0)
    if largest == 0:
        return ": nothing here is different from zero"
    terms = f"{largest:.10g} * {due:.10g} * {headroom:.10g} = {largest * due * headroom:.10g}"
    if due == 2.0**24:
        return f": {terms} fits, and 2**24 is the end of the range"
    return f": {terms} fits, and twice as much, {2 * largest * due * headroom:.10g}, exceeds {LARGEST:.0f}"


def same_form(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """A Python float; which one is not looked at."""
    if type(got.returned) is float:
        return None
    return f"it returned {kind_of(got.returned)}, not a float"


def no_matter(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Where the reference returns, any number will do: what is asked is that nothing is raised."""
    return None if real(got.returned) is not None else f"it returned {kind_of(got.returned)}, not one number"


def untouched(arguments: Arguments, got: Outcome, want: Outcome) -> str | Mismatch | None:
    """The arguments are as they were before the call."""
    if real(got.returned) is None:
        return f"it returned {kind_of(got.returned)}, not one number"
    found = differ(got.after.get("grads"), want.after["grads"], where="after the call, grads")
    return Mismatch(found, show="after") if found else None


def inputs_alone(case: Case, observed: Any, expected: Any) -> Mismatch | None:
    """Judge each call by ``untouched``, and that the same call made again returns the same."""
    if mismatch := each_call(untouched)(case, observed, expected):
        return mismatch
    last = len(case.calls) - 1
    if case.calls[last] == case.calls[0] and differ(observed.outcomes[last].returned, observed.outcomes[0].returned):
        found = "the same call, made again, returned another scale: something is remembered between calls"
        return Mismatch(found, call=last)
    return None


# ---------------------------------------------------------------------- random inputs


def small(random: Random, largest: float) -> list[float]:
    """Return up to four positive elements of at most a twentieth of the largest."""
    return [random.uniform(0.001, 0.05) * largest for _ in range(random.randint(1, 4))]


def with_largest(random: Random, sign: int = 1) -> tuple[float, ...]:
    """Return elements whose largest magnitude is three times a power of two, in any place."""
    largest = 3 * 2.0 ** random.randint(0, 12)
    values = small(random, largest)
    values.insert(random.randrange(len(values) + 1), sign * largest)
    return tuple(values)


def random_magnitudes(random: Random) -> list[Case]:
    return [case(f"random {i}", grads=[f32(*with_largest(random, -1))], headroom=1.0) for i in (1, 2, 3)]


def random_lists(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3):
        largest = 3 * 2.0 ** random.randint(6, 12)
        grads = [f32(*small(random, largest / 64)) for _ in range(random.randint(1, 3))]
        grads.insert(random.randrange(1, len(grads) + 1), f32(largest, largest / 100))
        cases.append(case(f"random {i}", grads=grads, headroom=1.0))
    return cases


def random_powers(random: Random) -> list[Case]:
    return [case(f"random {i}", grads=[f32(10.0 ** random.uniform(-2, 4.5))], headroom=1.0) for i in (1, 2, 3, 4)]


def random_headroom(random: Random) -> list[Case]:
    rooms = (2.0, 4.0, 8.0, 16.0, 1.25, 2.5, 5.0, 10.0)
    return [
        case(f"random {i}", grads=[f32(3 * 2.0 ** random.randint(0, 8))], headroom=random.choice(rooms))
        for i in (1, 2, 3)
    ]


def random_non_finite(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3):
        rows = [list(with_largest(random)) for _ in range(random.randint(1, 3))]
        row = random.choice(rows)
        row.insert(random.randrange(len(row) + 1), NAN)
        row.insert(random.randrange(len(row) + 1), INF)
        cases.append(case(f"random {i}", grads=[f32(*row) for row in rows], headroom=1.0))
    return cases


# ---------------------------------------------------------------------------- checks

CHECKS = (
    Check(
        id="form",
        title="Returns a Python float",
        points=0.5,
        rule="A scale is a Python float, above 1 and below: GradScaler(init_scale=...), a log and a checkpoint take "
        "it as it is.",
        see=FAILS,
        judge=each_call(same_form),
        cases=(
            case("a scale above one", grads=[f32(3.0)], headroom=1.0),
            case("a scale below one", grads=[f32(3e6)], headroom=1.0),
            case("an int as the headroom", grads=[f32(3.0)], headroom=1),
        ),
    ),
    Check(
        id="largest_magnitude",
        title="Goes by the largest magnitude of any element",
        points=1.5,
        rule="The element that overflows first is the one with the largest magnitude, whatever its sign and wherever "
        "it is. All others are safe as soon as it is.",
        see=EVERY,
        judge=each_call(same_scale),
        random=random_magnitudes,
        cases=(
            case("one element", grads=[f32(3.0)], headroom=1.0),
            case("a negative element", grads=[f32(-3.0)], headroom=1.0),
            case("a large negative one beside a small one", grads=[f32(0.5, -3.0)], headroom=1.0),
            case("the largest comes first", grads=[f32(48.0, 1.0, 0.25)], headroom=1.0),
            case("the largest is in the middle", grads=[f32(1.0, -48.0, 0.25)], headroom=1.0),
            case("many of them", grads=[full(64, 3.0)], headroom=1.0),
            case("one large among many small", grads=[full(4099, 0.01, at_2048=-48.0)], headroom=1.0),
            case("a zero among them", grads=[f32(0.0, 3.0)], headroom=1.0),
        ),
    ),
    Check(
        id="every_tensor",
        title="Looks into every tensor, and skips None and empty ones",
        points=1.0,
        rule="There is one loss and so one scale: the largest magnitude of all tensors decides, whatever their shapes.",
        see=EVERY,
        judge=each_call(same_scale),
        random=random_lists,
        cases=(
            case("the largest is in the last", grads=[f32(0.01), f32(3.0)], headroom=1.0),
            case("the largest is in the first", grads=[f32(3.0), f32(0.01)], headroom=1.0),
            case("the largest is in between", grads=[f32(0.01), f32(3.0), f32(0.01)], headroom=1.0),
            case("None before it", grads=[None, f32(3.0)], headroom=1.0),
            case("None after it", grads=[f32(3.0), None], headroom=1.0),
            case("an empty tensor before it", grads=[tensor([]), f32(3.0)], headroom=1.0),
            case("a 0-d tensor", grads=[tensor(3.0)], headroom=1.0),
            case("a matrix", grads=[tensor([[0.01, 0.02], [3.0, 0.01]])], headroom=1.0),
            case("a non-contiguous matrix", grads=[tensor([[0.01, 3.0], [0.02, 0.01]], strided=True)], headroom=1.0),
            case(
                "four dtypes",
                grads=[tensor([0.5], "float16"), tensor([0.25], "bfloat16"), f32(1.0), f64(3.0)],
                headroom=1.0,
            ),
        ),
    ),
    Check(
        id="power_of_two_that_fits",
        title="Rounds down to the largest power of two that fits 65504",
        points=1.5,
        rule="The scale is a power of two, so that it changes exponents and no digits, and the largest one with "
        "max|g| * S * headroom <= 65504, in double precision: 65504 itself fits, 65504.1 does not.",
        see=TOO_LARGE,
        judge=each_call(same_scale),
        random=random_powers,
        cases=(
            case("three", grads=[f32(3.0)], headroom=1.0),
            case("five, nearer to the power above", grads=[f32(5.0)], headroom=1.0),
            case("one", grads=[f32(1.0)], headroom=1.0),
            case("ten", grads=[f32(10.0)], headroom=1.0),
            case("2047, which hits 65504", grads=[f32(2047.0)], headroom=1.0),
            case("2047.25, which would hit 65512", grads=[f32(2047.25)], headroom=1.0),
            case("2048, which would hit 65536", grads=[f32(2048.0)], headroom=1.0),
            case("65504 itself", grads=[f32(65504.0)], headroom=1.0),
            case("a tenth", grads=[f32(0.1)], headroom=1.0),
            case("2047 in float16, and a little more room", grads=[tensor([2047.0], "float16")], headroom=1.0001),
            case("2047, and very little more room", grads=[f32(2047.0)], headroom=1 + 1e-9),
        ),
    ),
    Check(
        id="keeps_headroom",
        title="Leaves the headroom that was asked for",
        points=1.0,
        rule="Gradients headroom times as large as these must still fit, so headroom multiplies the largest magnitude: "
        "more headroom, a smaller scale. It is a factor, 2 by default.",
        see=ROOM,
        judge=each_call(same_scale),
        random=random_headroom,
        cases=(
            case("a headroom of one", grads=[f32(3.0)], headroom=1.0),
            case("the default", grads=[f32(3.0)]),
            case("a headroom of two", grads=[f32(3.0)], headroom=2.0),
            case("a headroom of four", grads=[f32(3.0)], headroom=4.0),
            case("a headroom of 1.25", grads=[f32(3.0)], headroom=1.25),
            case("a headroom of ten", grads=[f32(3.0)], headroom=10.0),
            case("an int", grads=[f32(3.0)], headroom=8),
        ),
    ),
    Check(
        id="within_the_range",
        title="Stays between 2**-24 and 2**24, and uses all of it",
        points=1.0,
        rule="Any power of two from 2**-24 to 2**24 may be the answer: above 65536, where gradients are tiny, and "
        "below 1, where they are huge.",
        see=FAILS,
        judge=each_call(same_scale),
        cases=(
            case("a scale of two", grads=[f32(24576.0)], headroom=1.0),
            case("a scale above 65536", grads=[f32(0.1875)], headroom=1.0),
            case("a scale of 2**20", grads=[f32(3 * 2.0**-6)], headroom=1.0),
            case("gradients so small that 2**24 is the end", grads=[f32(1e-6)], headroom=1.0),
            case("gradients far smaller than that", grads=[f64(1e-300)], headroom=1.0),
            case("a scale below one", grads=[f32(3 * 2.0**18)], headroom=1.0),
            case("a scale of 2**-20", grads=[f32(3 * 2.0**34)], headroom=1.0),
            case("a scale of 2**-24", grads=[f32(3 * 2.0**38)], headroom=1.0),
        ),
    ),
    Check(
        id="nothing_to_overflow",
        title="Returns 2**24 where nothing is different from zero",
        points=1.0,
        rule="Where there is no gradient, or only zeros, any scale fits, and the largest in the range is 2**24.",
        see=FAILS,
        judge=each_call(same_scale),
        cases=(
            case("a zero", grads=[f32(0.0)], headroom=1.0),
            case("no gradients", grads=[], headroom=1.0),
            case("nothing but None", grads=[None, None], headroom=1.0),
            case("an empty tensor", grads=[tensor([])], headroom=1.0),
            case("an empty matrix", grads=[tensor([[], []])], headroom=1.0),
            case("negative zeros", grads=[f32(-0.0, 0.0)], headroom=1.0),
            case("some of each", grads=[None, tensor([]), f32(0.0, 0.0)], headroom=1.0),
        ),
    ),
    Check(
        id="refuses_non_finite",
        title="Raises ValueError where a gradient is inf or nan",
        points=1.0,
        rule="An inf or nan says that an overflow has already happened, and not how large the gradient was. No scale "
        "can be computed from it: raise ValueError.",
        see=JUDGE,
        judge=each_call(no_matter),
        random=random_non_finite,
        cases=(
            case("inf", grads=[f32(INF)], headroom=1.0),
            case("-inf", grads=[f32(-INF)], headroom=1.0),
            case("nan", grads=[f32(NAN)], headroom=1.0),
            case("inf among others", grads=[f32(1.0, INF, 3.0)], headroom=1.0),
            case("nan before a larger one", grads=[f32(NAN, 3.0)], headroom=1.0),
            case("nan after a larger one", grads=[f32(3.0, NAN)], headroom=1.0),
            case("nan in the first of two tensors", grads=[f32(NAN), f32(3.0)], headroom=1.0),
            case("nan in the last of two tensors", grads=[f32(3.0), f32(NAN)], headroom=1.0),
            case("-inf in the last of two tensors", grads=[f32(3.0), f32(-INF)], headroom=1.0),
            case("inf in float16", grads=[tensor([INF], "float16")], headroom=1.0),
            case("nothing but finite ones", grads=[f32(3.0)], headroom=1.0),
        ),
    ),
    Check(
        id="refuses_bad_headroom",
        title="Raises ValueError for a headroom below 1, inf or nan",
        points=0.5,
        rule="A headroom below 1 lets these very gradients overflow, and inf and nan ask for nothing at all: raise "
        "ValueError, whatever the gradients are.",
        see=ROOM,
        judge=each_call(no_matter),
        cases=(
            case("a half", grads=[f32(3.0)], headroom=0.5),
            case("zero", grads=[f32(3.0)], headroom=0.0),
            case("a negative one", grads=[f32(3.0)], headroom=-2.0),
            case("nan", grads=[f32(3.0)], headroom=NAN),
            case("inf", grads=[f32(3.0)], headroom=INF),
            case("a half and no gradients", grads=[], headroom=0.5),
            case("nan and only zeros", grads=[f32(0.0)], headroom=NAN),
            case("inf and only zeros", grads=[f32(0.0)], headroom=INF),
            case("one, which is allowed", grads=[f32(3.0)], headroom=1.0),
        ),
    ),
    Check(
        id="refuses_what_no_scale_fits",
        title="Raises ValueError where even 2**-24 is too large",
        points=0.5,
        rule="Where max|g| * 2**-24 * headroom exceeds 65504 there is no such scale, and returning one all the same "
        "would promise what does not hold: raise ValueError.",
        see=FAILS,
        judge=each_call(no_matter),
        cases=(
            case("3e38", grads=[f32(3e38)], headroom=1.0),
            case("three times 2**39", grads=[f32(3 * 2.0**39)], headroom=1.0),
            case("a float64 beyond float32", grads=[f64(1e300)], headroom=1.0),
            case("three times 2**38 with a headroom of two", grads=[f32(3 * 2.0**38)], headroom=2.0),
            case("three times 2**37, which fits", grads=[f32(3 * 2.0**37)], headroom=1.0),
        ),
    ),
    Check(
        id="leaves_inputs_alone",
        title="Leaves the gradients as they were, and remembers nothing",
        points=0.5,
        rule="To measure is to look: the gradients are the same after the call, and the same call made again returns "
        "the same.",
        see=INPUTS,
        judge=inputs_alone,
        random=lambda random: [case(f"random {i}", grads=[f32(*with_largest(random))], headroom=1.0) for i in (1, 2)],
        cases=(
            case("a negative element", grads=[f32(-3.0)], headroom=1.0),
            case("a zero and both signs", grads=[f32(0.0, -3.0, 1.0)], headroom=1.0),
            case("float16 and None", grads=[tensor([-3.0, 1.0], "float16"), None], headroom=1.0),
            calls(
                "a larger gradient in between",
                {"grads": [f32(3.0)], "headroom": 1.0},
                {"grads": [f32(300.0)], "headroom": 1.0},
                {"grads": [f32(3.0)], "headroom": 1.0},
            ),
        ),
    ),
)

# ---------------------------------------------------------------------------- beliefs

MISCONCEPTIONS = (
    # the limit
    Misconception(
        "fp16_ends_at_65536",
        "Sixteen bits go up to 2**16.",
        "The largest fp16 number is 65504. A product of exactly 65536 is inf, and powers of two hit 65536 all the "
        "time: 1.0 with a scale of 65536 has overflowed.",
        TOO_LARGE,
    ),
    Misconception(
        "rounding_down_is_safe",
        "What rounds to 65504 fits, so the limit is 65520.",
        "It is true that 65519 is stored as 65504. But such a gradient is clipped without a sign, and the rule asked "
        "for here ends at the largest number itself.",
        TOO_LARGE,
    ),
    Misconception(
        "the_limit_is_excluded",
        "The product must be less than 65504.",
        "65504 is a number like any other, and the largest one. It has not overflowed.",
        TOO_LARGE,
    ),
    Misconception(
        "nearest_power",
        "I round the exponent to the nearest whole number.",
        "About every second time that goes up. It takes room that was asked for, and where none was, the largest "
        "gradient overflows. A bound must be rounded to its safe side, down.",
        FAILS,
    ),
    Misconception(
        "any_number_will_do",
        "The largest safe scale is 65504 / max|g|.",
        "As a bound it is right. As a scale it rounds every gradient twice, when it multiplies and when it divides. "
        "A power of two only moves the exponent, and comes off without a trace.",
        SCALE,
    ),
    Misconception(
        "own_dtype_compares",
        "I compare in the gradient's dtype.",
        "In float16 65510 is rounded to 65504 before it is compared, and fits. In float32 the same happens with "
        "smaller differences. A Python float is a double: call .item() first.",
        FAILS,
    ),
    # which gradient
    Misconception(
        "max_is_the_largest_magnitude",
        "max() finds the largest gradient.",
        "It finds the one furthest to the right. Of [0.5, -3.0] it is 0.5, and -3.0 overflows first. Take abs() first.",
        EVERY,
    ),
    Misconception(
        "smallest_decides",
        "The scale has to save the smallest gradient.",
        "That asks for a scale without an upper end: the smallest may be 1e-30. How large a scale may be is decided by "
        "the largest.",
        FAILS,
    ),
    Misconception(
        "typical_gradient_decides",
        "The mean says how large the gradients are.",
        "One element is enough for an inf, and one inf spoils the step. The mean of a thousand small ones hides it.",
        EVERY,
    ),
    Misconception(
        "norm_is_the_largest",
        "The norm says how large the gradient is.",
        "It grows with the number of elements: the norm of 64 threes is 24, and each of them fits by itself. Such a "
        "scale is safe, but often not the largest.",
        EVERY,
    ),
    Misconception(
        "one_tensor_decides",
        "One layer shows how large the gradients are.",
        "Layers differ by many powers of two, and the scale is one for all: look into every tensor.",
        EVERY,
    ),
    Misconception(
        "largest_of_the_scales",
        "I compute a scale for each tensor and take the largest.",
        "It suits the tensor with the smallest gradients, and others may overflow. The smallest of these scales is "
        "safe for all.",
        EVERY,
    ),
    Misconception(
        "every_parameter_has_a_gradient",
        "Every parameter has a gradient.",
        "A frozen parameter, or one that the loss did not reach, has None in its .grad.",
        EVERY,
    ),
    Misconception(
        "every_tensor_has_a_largest",
        "Every tensor has a largest element.",
        "An empty one has none, and max() raises. It cannot overflow either: leave it out.",
        EVERY,
    ),
    # headroom
    Misconception(
        "headroom_makes_room",
        "More headroom, a larger scale.",
        "Headroom is distance from the ceiling. Gradients headroom times as large must still fit, so the scale is "
        "smaller.",
        ROOM,
    ),
    Misconception(
        "headroom_is_not_needed",
        "If these gradients fit, the scale is safe.",
        "It is safe for this batch. The next one may be twice as large; headroom is what you pay so that it fits, too.",
        ROOM,
    ),
    Misconception(
        "headroom_is_in_bits",
        "A headroom of 2 leaves two bits.",
        "It is a factor: 2 leaves one bit, 4 leaves two, and 1 leaves none.",
        ROOM,
    ),
    Misconception(
        "headroom_may_be_anything",
        "What headroom is, is up to the caller.",
        "Below 1 it asks for a scale at which these very gradients may overflow. That is a mistake, and a function "
        "that says so at once spares a training run.",
        ROOM,
    ),
    Misconception(
        "nan_is_below_one",
        "`if headroom < 1: raise` refuses all that is wrong.",
        "Every comparison with nan but != is False, so nan passes. Ask for what is right and negate it: "
        "not 1 <= headroom.",
        ROOM,
    ),
    # the range
    Misconception(
        "65536_is_the_largest_scale",
        "A scale has to fit fp16, or 65536 is the largest there is.",
        "The loss is computed in float32, and so the scale need not fit fp16. Where gradients are tiny, 2**20 is fine.",
        FAILS,
    ),
    Misconception(
        "a_scale_is_at_least_one",
        "A scale below 1 makes no sense.",
        "Where gradients are larger than 65504 it is the only one that fits. It is rare, and a sign that something "
        "else is odd, but it is the answer.",
        FAILS,
    ),
    Misconception(
        "the_range_has_no_end",
        "The smaller the gradients, the larger the scale.",
        "Up to 2**24: beyond, a step with tiny gradients would choose a scale that no later step survives.",
        FAILS,
    ),
    Misconception(
        "there_is_always_a_smaller_scale",
        "The larger the gradients, the smaller the scale.",
        "Down to 2**-24. Where even that is too large, it is not the scale that is wrong: raise ValueError.",
        FAILS,
    ),
    Misconception(
        "the_end_always_fits",
        "If nothing fits, I return the smallest scale.",
        "The caller would take it for safe. A function that cannot keep its promise raises.",
        FAILS,
    ),
    # nothing to look at
    Misconception(
        "zero_can_be_divided_by",
        "I divide by the largest gradient.",
        "It may be 0, where all gradients are: a Python float raises, and a tensor gives inf. Then nothing can "
        "overflow, and 2**24 fits.",
        FAILS,
    ),
    Misconception(
        "nothing_needs_no_scale",
        "Without gradients the scale is 1.",
        "The rule has an answer: every scale of the range fits, and the largest is 2**24.",
        FAILS,
    ),
    # inf and nan
    Misconception(
        "non_finite_is_left_out",
        "I leave out inf and nan and measure the rest.",
        "Where inf stands there was a gradient too large for its dtype, the largest of all. Left out, the scale is "
        "chosen by the wrong one.",
        JUDGE,
    ),
    Misconception(
        "nan_shows_itself",
        "A nan would show in the maximum.",
        "Python's max(3.0, nan) is 3.0 and max(nan, 3.0) is nan: which one wins is a matter of order. Ask isfinite.",
        JUDGE,
    ),
    Misconception(
        "only_checks_nan",
        "A broken gradient shows up as nan.",
        "isnan(inf) is False. An overflow that nothing has touched since is a plain inf; isfinite refuses both.",
        JUDGE,
    ),
    Misconception(
        "overflow_means_smallest",
        "An overflow means that the scale must be small.",
        "The inf may come from a scale that was too large or from the gradient itself. How large it was is lost either "
        "way. There is no answer, so raise.",
        JUDGE,
    ),
    Misconception(
        "assert_is_an_error_too",
        "assert refuses bad arguments.",
        "It raises AssertionError, which callers do not expect, and python -O leaves it out. Raise ValueError for a "
        "bad value.",
        JUDGE,
    ),
    # form
    Misconception(
        "powers_are_ints",
        "2 ** 14 is the scale.",
        "It is an int, and 2 ** -5 is a float. 2.0 ** k is a float for every k.",
        FAILS,
    ),
    Misconception(
        "a_tensor_is_a_number",
        "A 0-d tensor is a number.",
        "It stays on its device and in its dtype, and float16 has no 131072. .item() makes a Python float of it.",
        FAILS,
    ),
    Misconception(
        "abs_in_place_is_free",
        "abs_() saves memory.",
        "And writes over the caller's gradients: all signs are gone, and the optimizer walks the wrong way.",
        INPUTS,
    ),
)
