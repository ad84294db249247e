"""What is graded about ``stochastic_round_bf16``, and the beliefs behind its known wrong answers.

Each check looks at one property: carries on positive normal numbers, then what is special about signs, ends and odd
values. Inputs are written by their bits, because the lower half of them is what the exercise is about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
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
    pattern,
    patterns,
    tensor,
)

PAGE = "book/06_what_scaling_cannot_save.html#"
ROUNDING, FAILS = PAGE + "stochastic-rounding", PAGE + "if-stochastic"
DTYPES = JUDGE = MEAN = SIGNS = FAILS
INPUTS = "book/04_one_scaler_step.html#inputs"

ONE, LARGEST, INF, NAN = 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000
SIGN = 0x80000000

# ------------------------------------------------------------------------- comparing
# These see claims of the student's process: any plain value may come, and none may make them raise.

Arguments = Mapping[str, Any]


def result_of(got: Outcome, want: Outcome) -> Tensor | str:
    """Return a tensor with as many elements as are due, or a sentence on what came instead."""
    value = got.returned
    if value is None:
        return "it returned None; the last line is `return <the rounded tensor>`"
    if type(value) is not Tensor or value.library != "torch":
        return f"it returned {kind_of(value)}, not a tensor"
    if len(value.values) != len(want.returned.values):
        return f"{len(value.values)} elements came back, not {len(want.returned.values)}"
    return value


def same_form(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """A bfloat16 tensor of the right shape; its values are not looked at."""
    if type(got.returned) is not Tensor or got.returned.library != "torch":
        return f"it returned {kind_of(got.returned)}, not a tensor"
    for field in ("dtype", "shape"):
        mine, due = getattr(got.returned, field), getattr(want.returned, field)
        if mine != due:
            return f"the result has {field} {mine}, not {due}"
    return None


def exactly(signs: bool) -> Callable[[Arguments, Outcome, Outcome], str | None]:
    """Return a comparison of the values, whatever their dtype; nan is nan, and with ``signs`` -0.0 is not 0.0."""

    def compare(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
        result = result_of(got, want)
        if isinstance(result, str):
            return result
        for index, (mine, due) in enumerate(zip(result.values, want.returned.values, strict=True)):
            if not close(mine, due) or (signs and math.copysign(1, mine) != math.copysign(1, due) and due == 0):
                return f"element {index} is {named(mine)}, not {named(due)}{sum_of(arguments, index)}"
        return None

    return compare


def named(value: float | int) -> str:
    """Return a number with its bfloat16 bits, where it has any."""
    try:
        return f"{value!r} ({pattern(float(value), 'bfloat16'):#06x})"
    except (ValueError, OverflowError):
        return repr(value)


def sum_of(arguments: Arguments, index: int) -> str:
    """Return a clause with the addition, for a number that is finite."""
    bits, random = arguments["x"].values[index], arguments["r"].values[index]
    if bits & INF == INF:
        return f": {bits:#010x} is {'an inf' if bits & ~SIGN == INF else 'a nan'}, and stays one"
    return f": {bits:#010x} + {random:#06x} = {bits + random:#010x}, whose upper half is {bits + random >> 16:#06x}"


def same_mean(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """The mean over evenly spread random numbers is x exactly, whichever of them round up."""
    result = result_of(got, want)
    if isinstance(result, str):
        return result
    numbers = [value for value in result.values if math.isfinite(value)]
    due = Fraction(number_of(arguments["x"].values[0]))
    if len(numbers) == len(result.values) and sum(map(Fraction, numbers)) == due * len(numbers):
        return None
    up = sum(abs(value) > abs(due) for value in numbers)
    share = (arguments["x"].values[0] & 0xFFFF) * len(numbers) // 65536
    mean = math.fsum(numbers) / max(len(numbers), 1)
    return (
        f"over {len(result.values)} evenly spread random numbers the mean is {mean:.10g}, not x = {float(due):.10g}: "
        f"{up} of them rounded up, and {share} have to"
    )


def number_of(bits: int) -> float:
    """Return the float32 of a normal number's bits."""
    size = math.ldexp((bits & 0x7FFFFF) + 0x800000, (bits >> 23 & 0xFF) - 150)
    return -size if bits & SIGN else size


def untouched(arguments: Arguments, got: Outcome, want: Outcome) -> str | Mismatch | None:
    """The arguments are as they were; what came back does not change when they are overwritten later."""
    result = result_of(got, want)
    if isinstance(result, str):
        return result
    for name in ("x", "r"):
        if found := differ(got.after.get(name), want.after[name], where=f"after the call, {name}"):
            return Mismatch(found, show="after")
    if differ(got.later, got.returned):
        found = (
            "what it returned shares memory with an argument: it changed when the caller wrote into those afterwards"
        )
        return Mismatch(found, show="later")
    return None


def inputs_alone(case: Case, observed: Any, expected: Any) -> Mismatch | None:
    """Judge each call by ``untouched``, and that the same call made again returns the same."""
    if mismatch := each_call(untouched)(case, observed, expected):
        return mismatch
    for index in range(1, len(case.calls)):
        if differ(observed.outcomes[index].returned, observed.outcomes[0].returned):
            found = "the same call, made again, returned something else: r is all that is random about it"
            return Mismatch(found, call=index)
    return None


# ----------------------------------------------------------------------------- inputs


def rounding(name: str, bits: Any, random: Any, *, strided: bool = False) -> Case:
    """Return a case of x by its bits, and r."""
    return case(name, x=patterns(bits, strided=strided), r=tensor(random, "int32", strided=strided))


def evenly(name: str, bits: int, offset: int = 128) -> Case:
    """Return a case of one number with 256 random numbers, one in each 256th of their range."""
    return rounding(name, [bits] * 256, [256 * index + offset for index in range(256)])


def normal(random: Random, lower: int) -> int:
    """Return the bits of a positive number between 2**-7 and 2**7 with that lower half."""
    return random.randint(120, 133) << 23 | random.getrandbits(7) << 16 | lower


def random_exact(random: Random) -> Sequence[Case]:
    bits = [normal(random, 0) for _ in range(4)]
    return [rounding(f"random {i}", bits, [random.getrandbits(16) for _ in bits]) for i in (1, 2)]


def random_sums(random: Random, low: int, high: int) -> Sequence[Case]:
    """Return cases whose lower halves add up to something between the two."""
    cases = []
    for i in (1, 2, 3):
        bits, draws = [], []
        for _ in range(random.randint(1, 5)):
            total = random.randint(low, high)
            lower = random.randint(max(total - 0xFFFF, 1), min(total, 0xFFFF))
            bits.append(normal(random, lower))
            draws.append(total - lower)
        cases.append(rounding(f"random {i}", bits, draws))
    return cases


def random_negative(random: Random) -> Sequence[Case]:
    cases = []
    for i in (1, 2, 3):
        bits = [SIGN | normal(random, random.getrandbits(16)) for _ in range(4)]
        cases.append(rounding(f"random {i}", bits, [random.getrandbits(16) for _ in bits]))
    return cases


def random_means(random: Random) -> Sequence[Case]:
    return [evenly(f"random {i}", normal(random, 256 * random.randint(16, 240))) for i in (1, 2)]


def random_odd(random: Random) -> Sequence[Case]:
    cases = []
    for i in (1, 2):
        bits = [INF | random.choice((0, SIGN)) | random.choice((0, random.getrandbits(23))) for _ in range(4)]
        cases.append(rounding(f"random {i}", bits, [random.getrandbits(16) for _ in bits]))
    return cases


# ---------------------------------------------------------------------------- checks

CHECKS = (
    Check(
        id="form",
        title="Returns a bfloat16 tensor of the shape of x",
        points=1.0,
        rule="A new bfloat16 tensor comes back, with one element for each of x, in its shape.",
        see=DTYPES,
        judge=each_call(same_form),
        cases=(
            rounding("one element", [ONE], [0]),
            rounding("a 0-d tensor", ONE, 0),
            rounding("an empty tensor", [], []),
            rounding("a matrix", [[ONE, 0x3F808000], [0x40000000, 0x40000001]], [[0, 1], [2, 3]]),
            rounding("a non-contiguous matrix", [[ONE, 0x3F808000], [0x40000000, ONE]], [[0, 1], [2, 3]], strided=True),
        ),
    ),
    Check(
        id="exact_numbers_stay",
        title="Leaves alone what bfloat16 has",
        points=1.0,
        rule="Where the lower half of x is zero there is nothing to round: whatever r is, at most 65535, nothing "
        "carries.",
        see=ROUNDING,
        judge=each_call(exactly(signs=False)),
        random=random_exact,
        cases=(
            rounding("one, and no random number", [ONE], [0]),
            rounding("one, and the largest random number", [ONE], [0xFFFF]),
            rounding("one, and a half", [ONE], [0x8000]),
            rounding("an odd neighbor", [0x3F810000], [0xFFFF]),
            rounding("several", [0x3F810000, 0x42C80000, 0x3A830000], [0xFFFF, 0x7FFF, 1]),
        ),
    ),
    Check(
        id="drops_without_a_carry",
        title="Rounds down where the lower half plus r stays below 65536",
        points=1.5,
        rule="Where the lower half of x and r add up to at most 65535, nothing carries: the upper half stays, the "
        "lower one is dropped.",
        see=ROUNDING,
        judge=each_call(exactly(signs=False)),
        random=lambda random: random_sums(random, 1, 0xFFFF),
        cases=(
            rounding("the smallest lower half and no random number", [ONE + 1], [0]),
            rounding("the smallest lower half", [ONE + 1], [0xFFFE]),
            rounding("a half, and just too little", [ONE + 0x8000], [0x7FFF]),
            rounding("three quarters and no random number", [ONE + 0xC000], [0]),
            rounding("nearly the next number", [ONE + 0xFFFF], [0]),
            rounding("an odd upper half", [0x3F818000], [0x7FFF]),
            rounding("several", [0x447A0400, 0x40491234, 0x3DCCCCCD], [0xF000, 0x1000, 0x3000]),
        ),
    ),
    Check(
        id="carries",
        title="Rounds up where the lower half plus r reaches 65536",
        points=1.5,
        rule="Where the lower half of x and r add up to 65536 or more, a carry goes into the upper half, from the "
        "fraction into the exponent if need be.",
        see=ROUNDING,
        judge=each_call(exactly(signs=False)),
        random=lambda random: random_sums(random, 0x10000, 0x1FFFE),
        cases=(
            rounding("the smallest lower half", [ONE + 1], [0xFFFF]),
            rounding("a half, and just enough", [ONE + 0x8000], [0x8000]),
            rounding("a quarter", [ONE + 0x4000], [0xC000]),
            rounding("nearly the next number", [ONE + 0xFFFF], [1]),
            rounding("all bits of the random number count", [ONE + 0x0041], [0xFFBF]),
            rounding("an even upper half", [0x3F828000], [0x8000]),
            rounding("into the exponent", [0x3FFF8000], [0xFFFF]),
            rounding("with much left over", [ONE + 0xF000], [0xF000]),
            rounding("several", [0x40491234, 0x3DCCCCCD, 0x447A0400], [0xF000, 0x8000, 0xFE00]),
        ),
    ),
    Check(
        id="rounds_magnitudes",
        title="Rounds a negative number like its magnitude, and keeps every sign",
        points=1.0,
        rule="The sign is a bit of its own, above what is added: a carry takes a negative number away from zero, and "
        "-0.0 stays -0.0.",
        see=SIGNS,
        judge=each_call(exactly(signs=True)),
        random=random_negative,
        cases=(
            rounding("minus one", [SIGN | ONE], [0xFFFF]),
            rounding("no carry", [SIGN | ONE + 0x4000], [0xBFFF]),
            rounding("a carry", [SIGN | ONE + 0x4000], [0xC000]),
            rounding("a carry into the exponent", [SIGN | 0x3FFFFFFF], [1]),
            rounding("no carry, from an odd number", [SIGN | 0x3F814000], [0xBFFF]),
            rounding("one after the other", [SIGN | ONE + 0x4000, SIGN | ONE + 0x4000], [0, 0xFFFF]),
            rounding("zero", [0], [0xFFFF]),
            rounding("minus zero", [SIGN], [0xFFFF]),
            rounding("minus zero and no random number", [SIGN], [0]),
            rounding("a tiny negative number that becomes minus zero", [SIGN | 1], [0]),
        ),
    ),
    Check(
        id="right_on_average",
        title="Is exactly right on average",
        points=1.5,
        rule="As many random numbers carry as the lower half of x says, so the mean of all results is x. That is what "
        "stochastic rounding is for: small updates arrive on average.",
        see=MEAN,
        judge=each_call(same_mean),
        random=random_means,
        cases=(
            evenly("a quarter of the way", ONE + 0x4000),
            evenly("an eighth of the way", ONE + 0x2000),
            evenly("seven eighths of the way", ONE + 0xE000),
            evenly("a quarter of the way, from an odd number", 0x3F814000),
            evenly("nearly 2", 0x3FFFE000),
            evenly("with other random numbers", ONE + 0x4000, 255),
        ),
    ),
    Check(
        id="rounds_subnormals",
        title="Rounds subnormal numbers as it does all others",
        points=0.5,
        rule="Below 2**-126 bfloat16 has subnormal numbers, with the same bits in the same places: the same sum is "
        "right.",
        see=ROUNDING,
        judge=each_call(exactly(signs=False)),
        cases=(
            rounding("a subnormal that bfloat16 has", [0x00010000], [0xFFFF]),
            rounding("a carry from nothing", [1], [0xFFFF]),
            rounding("no carry", [0x00018000], [0x7FFF]),
            rounding("a carry", [0x00018000], [0x8000]),
            rounding("a carry against the nearest", [0x00012000], [0xE000]),
            rounding("a carry into the normal numbers", [0x007FFFFF], [1]),
        ),
    ),
    Check(
        id="carries_up_to_inf",
        title="Carries past the largest number into inf",
        points=0.5,
        rule="The bits after those of the largest finite number are those of inf: a carry goes there like anywhere "
        "else.",
        see=ROUNDING,
        judge=each_call(exactly(signs=False)),
        cases=(
            rounding("the largest float32 and no random number", [LARGEST], [0]),
            rounding("the largest float32 and a carry", [LARGEST], [1]),
            rounding("its negative", [SIGN | LARGEST], [0xFFFF]),
            rounding("the largest bfloat16", [0x7F7F0000], [0xFFFF]),
            rounding("halfway to inf", [0x7F7F8000], [0x8000]),
        ),
    ),
    Check(
        id="keeps_inf_and_nan",
        title="Keeps inf and every nan",
        points=1.0,
        rule="What is no number is not rounded: inf stays inf, -inf stays -inf, and a nan stays a nan, also one whose "
        "bits would be dropped or would carry over the sign.",
        see=JUDGE,
        judge=each_call(exactly(signs=False)),
        random=random_odd,
        cases=(
            rounding("inf", [INF], [0]),
            rounding("inf and the largest random number", [INF], [0xFFFF]),
            rounding("-inf", [SIGN | INF], [0xFFFF]),
            rounding("the usual nan", [NAN], [0xFFFF]),
            rounding("a nan with all bits set, which a GPU makes", [0x7FFFFFFF], [1]),
            rounding("a nan with its only bit in the lower half", [0x7F800001], [0]),
            rounding("a negative nan with all bits set", [0xFFFFFFFF], [0xFFFF]),
            rounding("nan beside numbers", [ONE, 0x7FFFFFFF, SIGN | ONE], [0xFFFF, 0xFFFF, 0xFFFF]),
        ),
    ),
    Check(
        id="leaves_inputs_alone",
        title="Leaves x and r as they were, and draws nothing itself",
        points=0.5,
        rule="x and r are the same after the call, the result shares no memory with them, and the same call made again "
        "returns the same.",
        see=INPUTS,
        scenario="overwritten",
        judge=inputs_alone,
        cases=(
            rounding("a number without a carry", [ONE + 0x4000], [0x1000]),
            rounding("a number with a carry", [ONE + 0x8000], [0x8000]),
            rounding("inf and nan", [INF, NAN, ONE], [1, 1, 1]),
            calls("the same call three times", *[rounding("", [ONE + 0x8000], [0x8001]).calls[0] for _ in range(3)]),
        ),
    ),
)

# ---------------------------------------------------------------------------- beliefs

MISCONCEPTIONS = (
    # what rounding is
    Misconception(
        "nearest_is_right_on_average",
        "Rounding to nearest is right on average.",
        "Over many different numbers it is. For one number it gives the same answer every time: 1 + 2**-9 is 1 in "
        "bfloat16, however often you ask.",
        MEAN,
    ),
    Misconception(
        "cutting_off_is_rounding",
        "The upper half is the rounded number.",
        "Cut off, every number becomes smaller in magnitude, by half a gap on average. The random number is there to "
        "make up for it.",
        MEAN,
    ),
    Misconception(
        "cast_cuts_off",
        "A cast to bfloat16 takes the upper half.",
        ".to(torch.bfloat16) rounds to nearest. After your own rounding that is a second one, which pushes results up. "
        "Clear the lower half first.",
        MEAN,
    ),
    Misconception(
        "rounding_adds_a_half",
        "Rounding adds half a gap before it cuts off.",
        "That is rounding to nearest. The random number takes the place of the half: between 0 and 65535, half a gap "
        "on average.",
        MEAN,
    ),
    Misconception(
        "random_starts_at_one",
        "Random numbers count from 1.",
        "With r from 1 to 65536 a number that bfloat16 has would be rounded up once in 65536 times. With r from 0 to "
        "65535 it never is.",
        ROUNDING,
    ),
    Misconception(
        "carry_needs_more_than_all",
        "It rounds up where the sum exceeds 65536.",
        "65536 is the carry itself. Left out, one random number too few rounds up, and the mean is a little low.",
        ROUNDING,
    ),
    Misconception(
        "any_fair_draw_will_do",
        "Up with the right probability, that is enough.",
        "It is fair, and another function: for the same r it gives another result. What is asked for is a sum and its "
        "carry, so that two machines agree bit for bit.",
        ROUNDING,
    ),
    Misconception(
        "one_draw_for_all",
        "One random number a call is enough.",
        "Then all elements are rounded up together or down together, and the error of a sum grows with their number "
        "in place of averaging out.",
        ROUNDING,
    ),
    Misconception(
        "random_numbers_are_drawn_inside",
        "A stochastic function draws its own random numbers.",
        "Then nobody can repeat a run, or compare two machines. They are an argument here, and the function is exact.",
        INPUTS,
    ),
    Misconception(
        "some_bits_are_enough",
        "The upper eight bits of the random number are enough.",
        "Fewer random bits are cheaper, and biased: a lower half below 256 could never round up. All 16 count.",
        ROUNDING,
    ),
    Misconception(
        "random_bits_go_on_top",
        "The random number belongs into the upper half.",
        "There it is noise as large as the number. It is added to the half that is dropped, and only the carry gets "
        "through.",
        MEAN,
    ),
    # bits
    Misconception(
        "to_reads_the_bits",
        "x.to(torch.int32) gives the bits.",
        "It converts the number: 1.5 becomes 1. x.view(torch.int32) reads the same 32 bits as a whole number.",
        DTYPES,
    ),
    Misconception(
        "half_is_fifteen_bits",
        "The layout is that of fp16, or so.",
        "bfloat16 keeps sign, 8 exponent bits and 7 fraction bits: 16 bits go, 16 stay. The mask is 0xFFFF0000, "
        "-65536 as an int32.",
        DTYPES,
    ),
    # signs
    Misconception(
        "up_is_toward_plus_infinity",
        "Rounding up goes toward plus infinity.",
        "The bits after the sign are a magnitude, and a carry makes it larger. For a negative number that is away from "
        "zero, down.",
        SIGNS,
    ),
    Misconception(
        "size_is_all",
        "Rounding is about size, so I work with abs(x).",
        "The bits hold the sign, and adding to the lower ones does not touch it. Nothing has to be taken off and put "
        "back.",
        SIGNS,
    ),
    Misconception(
        "zero_has_no_sign",
        "-0.0 is 0.0.",
        "They are equal, and have different bits: 1 / -0.0 is -inf. Bit for bit means this one, too.",
        ROUNDING,
    ),
    # odd values
    Misconception(
        "nan_survives_arithmetic",
        "nan stays nan, whatever I do to it.",
        "In floating-point arithmetic it does. This is arithmetic with whole numbers: 0x7fffffff + 1 is 0x80000000, "
        "and the nan has become -0.0.",
        JUDGE,
    ),
    Misconception(
        "nan_can_be_cleaned",
        "A nan cannot be rounded, so I return 0.",
        "A zero looks like a number, and the overflow behind it is never found.",
        JUDGE,
    ),
    Misconception(
        "largest_is_the_end",
        "Nothing may round to inf.",
        "Numbers beyond the largest finite one have to go somewhere, and clamping hides it. The carry gives inf by "
        "itself.",
        JUDGE,
    ),
    Misconception(
        "subnormals_are_zero",
        "Subnormal numbers need care of their own, or are zero.",
        "Their bits stand in the same places. The same sum is right for them, and there is nothing to do.",
        ROUNDING,
    ),
    # form
    Misconception(
        "values_are_enough",
        "The values are bfloat16 numbers, so the dtype does not matter.",
        "A float32 tensor takes twice the memory, which is what rounding was for.",
        DTYPES,
    ),
    Misconception(
        "bits_are_the_number",
        "The upper half is the result.",
        "As an int16 it is a whole number, 16256 in place of 1.0. view(torch.bfloat16) reads it as what it is.",
        DTYPES,
    ),
    Misconception(
        "any_sixteen_bits_will_do",
        "float16 has 16 bits as well.",
        "It has other bits: three more for the fraction, three fewer for the exponent. 1e5 is inf in it, and a number "
        "in bfloat16.",
        DTYPES,
    ),
    Misconception(
        "shape_does_not_matter",
        "I round a list of numbers.",
        "The tensor belongs to a parameter and has its shape.",
        DTYPES,
    ),
    Misconception(
        "view_is_a_copy",
        "view makes a new tensor.",
        "It makes a new way to read the same memory. What add_ writes there is in x as well; + makes a new tensor.",
        INPUTS,
    ),
)
