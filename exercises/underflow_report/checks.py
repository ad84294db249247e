"""What is graded about ``underflow_report``, and the beliefs behind its known wrong answers.

Each check reads some of the entries only. Where a border is asked for, the scale is 1, and every other check keeps away
from the borders, so that a border put in the wrong place costs one check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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
    full,
    kind_of,
    real,
    rounded,
    tensor,
)

PAGE = "book/02_where_gradients_vanish.html#"
CUT_OFF, SUBNORMAL, COUNTS = PAGE + "cut-off", PAGE + "subnormals", PAGE + "count-and-mass"
SCALED, TIES = "book/03_scale_the_loss.html#not-the-gradients", "book/01_sixteen_bits.html#ties"
IN_FP32, YOUR_RUN = PAGE + "grad-is-fp32", PAGE + "recognize-underflow"

INF, NAN = math.inf, math.nan
COUNTED = ("total", "zeroed", "subnormal", "normal", "overflowed")
KEYS = (*COUNTED, "fraction_zeroed")
CLASSES = COUNTED[1:]

# ------------------------------------------------------------------------- comparing
# These see claims of the student's process: any plain value may come, and none may make them raise.

Arguments = Mapping[str, Any]


def report_of(got: Outcome) -> Mapping[str, Any] | str:
    """Return the dict, or a sentence on what came instead."""
    value = got.returned
    if value is None:
        return "it returned None; the last line is `return {...}`, with the six keys"
    if type(value) is not dict:
        return f"it returned {kind_of(value)}, not a dict with the six keys"
    return value


def same(*keys: str) -> Callable[[Arguments, Outcome, Outcome], str | None]:
    """Return a comparison of these entries, whatever number stands for them; the other entries are not looked at."""

    def compare(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
        report = report_of(got)
        if isinstance(report, str):
            return report
        for key in keys:
            if key not in report:
                there = ", ".join(repr(name) for name in report) or "none"
                return f"the dict has no key {key!r}; the keys that it has: {there}"
            mine, due = real(report[key]), want.returned[key]
            if mine is None:
                return f"the entry {key!r} is {kind_of(report[key])}, not a number"
            if not close(mine, due, rtol=1e-6 if key == "fraction_zeroed" else 0.0):
                return f"the entry {key!r} is {mine:.7g}, not {due:.7g}{fate(arguments)}"
        return None

    return compare


def fate(arguments: Arguments) -> str:
    """Return a clause with what float16 makes of the elements, where there are few; "" where there are many."""
    scale = rounded(float(arguments["scale"]), "float32")
    grads = [grad for grad in arguments["grads"] if grad is not None]
    elements = [value for grad in grads for value in grad.values]
    if not 0 < len(elements) <= 5:
        return ""
    texts = []
    for value in elements:
        if value == 0 or not math.isfinite(value):
            texts.append(f"{value:g} does not count")
        else:
            texts.append(f"{value:g} becomes {rounded(rounded(value * scale, 'float32'), 'float16'):g}")
    return f": with scale {scale:g}, {', '.join(texts)}"


def same_form(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """A dict with the six keys and no others, five ints and a float; their values are not looked at."""
    report = report_of(got)
    if isinstance(report, str):
        return report
    if found := same(*KEYS)(arguments, got, Outcome(returned={key: real(report.get(key)) or 0.0 for key in KEYS})):
        return found
    if extra := [key for key in report if key not in KEYS]:
        return f"the dict has a key too many: {extra[0]!r}"
    for key in COUNTED:
        if type(report[key]) is not int:
            return f"the entry {key!r} is {kind_of(report[key])}, not an int"
    if type(report["fraction_zeroed"]) is not float:
        return f"the entry 'fraction_zeroed' is {kind_of(report['fraction_zeroed'])}, not a float"
    return None


def untouched(arguments: Arguments, got: Outcome, want: Outcome) -> str | Mismatch | None:
    """The arguments are as they were before the call."""
    report = report_of(got)
    if isinstance(report, str):
        return report
    found = differ(got.after.get("grads"), want.after["grads"], where="after the call, grads")
    return Mismatch(found, show="after") if found else None


def inputs_alone(case: Case, observed: Any, expected: Any) -> Mismatch | None:
    """Judge each call by ``untouched``, and that the same call made again returns the same."""
    if mismatch := each_call(untouched)(case, observed, expected):
        return mismatch
    for index in range(1, len(case.calls)):
        if differ(observed.outcomes[index].returned, observed.outcomes[0].returned):
            found = "the same call, made again, returned something else: something is remembered between calls"
            return Mismatch(found, call=index)
    return None


# ---------------------------------------------------------------------- random inputs

RANGES = {"zeroed": (-12, -8.5), "subnormal": (-7, -4.5), "normal": (-2, 4.5), "overflowed": (5, 30)}
"""Powers of ten between which an element is of that class at scale 1, and far from its borders."""


def one_of(random: Random, kind: str) -> float:
    return random.choice((-1, 1)) * 10.0 ** random.uniform(*RANGES[kind])


def mixture(random: Random, kinds: tuple[str, ...] = CLASSES, odd: tuple[float, ...] = ()) -> list[float]:
    """Return two to six elements of these classes, and among them one of ``odd``, which do not count."""
    values = [one_of(random, random.choice(kinds)) for _ in range(random.randint(2, 6))]
    if odd:
        values.insert(random.randrange(len(values) + 1), random.choice(odd))
    return values


def positive(values: list[float]) -> list[float]:
    return [abs(value) for value in values]


def at_scale_one(kinds: tuple[str, ...] = CLASSES, odd: tuple[float, ...] = ()) -> Callable[[Random], list[Case]]:
    """Return a source of three cases of one tensor each."""
    return lambda random: [case(f"random {i}", grads=[f32(*mixture(random, kinds, odd))], scale=1.0) for i in (1, 2, 3)]


def random_scales(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3, 4):
        scale = 2.0 ** random.randint(-6, 24)
        values = [value / scale for value in positive(mixture(random, ("zeroed", "subnormal", "normal")))]
        cases.append(case(f"random {i}", grads=[f32(*values)], scale=scale))
    return cases


def random_lists(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3):
        rows = [positive(mixture(random, ("zeroed", "normal", "overflowed"))) for _ in range(random.randint(2, 4))]
        grads: list[Tensor | None] = [f32(*row) for row in rows]
        grads.insert(random.randrange(len(grads) + 1), None)
        cases.append(case(f"random {i}", grads=grads, scale=1.0))
    return cases


def random_fractions(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3):
        grads = [f32(*mixture(random, ("zeroed", "normal"), odd=(0.0,))) for _ in range(random.randint(1, 3))]
        cases.append(case(f"random {i}", grads=grads, scale=1.0))
    return cases


# ---------------------------------------------------------------------------- checks

CHECKS = (
    Check(
        id="form",
        title="Returns a dict with the six keys: five ints and a float",
        points=1.0,
        rule="A report is read by other code, which prints it, compares it or writes it as JSON: six keys, five Python "
        "ints, one Python float.",
        see=YOUR_RUN,
        judge=each_call(same_form),
        random=at_scale_one(),
        cases=(
            case("one element", grads=[f32(1.0)], scale=1.0),
            case("a zeroed element", grads=[f32(1e-8)], scale=1.0),
            case("two tensors", grads=[f32(1e-8, 1.0), f32(2.0)], scale=1.0),
        ),
    ),
    Check(
        id="counts_finite_non_zero",
        title="Counts in total what is finite and not zero",
        points=1.0,
        rule="An element counts if g itself is finite and not zero. A zero has nothing to lose, an inf or nan is "
        "another disease, and what the scale makes of g does not matter here.",
        see=COUNTS,
        judge=each_call(same("total")),
        random=at_scale_one(odd=(0.0, -0.0, INF, -INF, NAN)),
        cases=(
            case("one element", grads=[f32(1.0)], scale=1.0),
            case("a zero", grads=[f32(0.0, 2.0)], scale=1.0),
            case("a negative zero", grads=[f32(-0.0, 2.0)], scale=1.0),
            case("an inf", grads=[f32(INF, 2.0)], scale=1.0),
            case("a negative inf", grads=[f32(-INF, 2.0)], scale=1.0),
            case("a nan", grads=[f32(NAN, 2.0)], scale=1.0),
            case("nothing that counts", grads=[f32(0.0, INF, NAN)], scale=1.0),
            case("one that fp16 loses", grads=[f32(1e-8, 2.0)], scale=1.0),
            case("one that is lost in float32 already", grads=[f32(2.0**-140, 2.0)], scale=2.0**-20),
            case("one whose product overflows fp16", grads=[f32(1e5, 2.0)], scale=1.0),
            case("one whose product overflows float32", grads=[f32(3e38, 2.0)], scale=1024.0),
            case("many", grads=[full(4099, 1.0)], scale=1.0),
        ),
    ),
    Check(
        id="cut_off",
        title="Puts the cut-off at 2**-25, where a tie goes to zero",
        points=2.0,
        rule="An element is zeroed if q is zero. Rounding goes to the nearest number: fp16 loses what is at most half "
        "of its smallest number 2**-24, that is 2**-25, and no more.",
        see=CUT_OFF,
        judge=each_call(same("zeroed")),
        random=at_scale_one(("zeroed", "subnormal")),
        cases=(
            case("1e-8", grads=[f32(1e-8)], scale=1.0),
            case("3e-8, which rounds up", grads=[f32(3e-8)], scale=1.0),
            case("5e-8, which rounds up", grads=[f32(5e-8)], scale=1.0),
            case("2**-24, the smallest number of fp16", grads=[f32(2.0**-24)], scale=1.0),
            case("2**-25, the tie", grads=[f32(2.0**-25)], scale=1.0),
            case("the next number above the tie", grads=[f32(2.0**-25 * (1 + 2.0**-23))], scale=1.0),
            case("-1e-8", grads=[f32(-1e-8)], scale=1.0),
            case("-3e-8", grads=[f32(-3e-8)], scale=1.0),
            case("a subnormal number", grads=[f32(1e-6)], scale=1.0),
            case("a small normal number", grads=[f32(3e-4)], scale=1.0),
            case("a zero, which has nothing to lose", grads=[f32(0.0)], scale=1.0),
            case("some of each", grads=[f32(1e-9, 4e-8, -2e-8, 1.0)], scale=1.0),
        ),
    ),
    Check(
        id="scales_before_rounding",
        title="Multiplies in float32 first, and rounds to fp16 last",
        points=2.0,
        rule="What fp16 has to store is g * scale. The product is taken in float32, also where g has another dtype, "
        "and is rounded to fp16 once, at the end; what comes out of that has one of the four classes.",
        see=SCALED,
        judge=each_call(same(*CLASSES)),
        random=random_scales,
        cases=(
            case("a scale that saves it", grads=[f32(1e-8)], scale=65536.0),
            case("a scale that makes it subnormal", grads=[f32(1e-8)], scale=1024.0),
            case("a scale that is not enough", grads=[f32(1e-12)], scale=1024.0),
            case("a scale that is too large", grads=[f32(2.0)], scale=65536.0),
            case("a scale below one", grads=[f32(2.0**-20)], scale=2.0**-10),
            case("a scale of three", grads=[f32(1.5e-8)], scale=3.0),
            case("an int as the scale", grads=[f32(1e-8)], scale=65536),
            case("a product beyond float32", grads=[f32(3e38)], scale=1024.0),
            case("a float16 gradient", grads=[tensor([2.0**-24], "float16")], scale=65536.0),
            case("a bfloat16 gradient", grads=[tensor([171 * 2.0**-34], "bfloat16")], scale=3.0),
            case("a bfloat16 gradient that fp16 would lose", grads=[tensor([1e-10], "bfloat16")], scale=65536.0),
        ),
    ),
    Check(
        id="subnormal_or_normal",
        title="Tells subnormal from normal at 2**-14",
        points=1.0,
        rule="What is decided is q: rounded to fp16 it is subnormal below 2**-14 = 6.1e-5, and normal from there on.",
        see=SUBNORMAL,
        judge=each_call(same("subnormal", "normal")),
        random=at_scale_one(("subnormal", "normal")),
        cases=(
            case("1e-6", grads=[f32(1e-6)], scale=1.0),
            case("1.0", grads=[f32(1.0)], scale=1.0),
            case("-1e-6", grads=[f32(-1e-6)], scale=1.0),
            case("5e-4", grads=[f32(5e-4)], scale=1.0),
            case("2**-14, the smallest normal number", grads=[f32(2.0**-14)], scale=1.0),
            case("the largest subnormal number", grads=[f32(2.0**-14 - 2.0**-24)], scale=1.0),
            case("a number that rounds up to 2**-14", grads=[f32(2.0**-14 - 2.0**-26)], scale=1.0),
            case("a number that rounds down below 2**-14", grads=[f32(2.0**-14 - 1.25 * 2.0**-25)], scale=1.0),
            case("two of each", grads=[f32(1e-6, 1.0, -1e-5, -3.0)], scale=1.0),
        ),
    ),
    Check(
        id="overflow_border",
        title="Counts as overflowed what fp16 turns to inf, from 65520 on",
        points=1.0,
        rule="An element has overflowed if q is inf. The largest number of fp16 is 65504, and what lies less than half "
        "a gap above it rounds down to it: inf begins at 65520.",
        see=TIES,
        judge=each_call(same("overflowed")),
        random=at_scale_one(("normal", "overflowed")),
        cases=(
            case("a million", grads=[f32(1e6)], scale=1.0),
            case("minus a million", grads=[f32(-1e6)], scale=1.0),
            case("one", grads=[f32(1.0)], scale=1.0),
            case("65504, the largest number", grads=[f32(65504.0)], scale=1.0),
            case("65519, which rounds down", grads=[f32(65519.0)], scale=1.0),
            case("65520, the tie, which goes to inf", grads=[f32(65520.0)], scale=1.0),
            case("65530", grads=[f32(-65530.0)], scale=1.0),
            case("one among others", grads=[f32(1.0, -1e5, 3.0)], scale=1.0),
        ),
    ),
    Check(
        id="every_tensor",
        title="Counts all elements of all tensors, and skips None",
        points=1.0,
        rule="One report covers all gradients: the counts of every tensor are added up, whatever its shape; None and "
        "an empty tensor add nothing.",
        see=IN_FP32,
        judge=each_call(same("total", "zeroed", "overflowed")),
        random=random_lists,
        cases=(
            case("one tensor", grads=[f32(1e-9, 1.0)], scale=1.0),
            case("two tensors", grads=[f32(1e-9, 1.0), f32(1e-9, 1e6, 2.0)], scale=1.0),
            case("no tensors", grads=[], scale=1.0),
            case("an empty tensor", grads=[tensor([]), f32(1e-9)], scale=1.0),
            case("a 0-d tensor", grads=[tensor(1e-9)], scale=1.0),
            case("a matrix", grads=[tensor([[1e-9, 1.0], [1e6, 1e-9]])], scale=1.0),
            case("a non-contiguous matrix", grads=[tensor([[1e-9, 1.0], [1e6, 1e-9]], strided=True)], scale=1.0),
            case("None before a tensor", grads=[None, f32(1e-9, 1.0)], scale=1.0),
            case("nothing but None", grads=[None, None], scale=1.0),
            case("None between tensors", grads=[f32(1e-9), None, f32(1e6)], scale=1.0),
            case("two dtypes", grads=[f32(1e-9), tensor([1.0], "float16")], scale=1.0),
            case("seven tensors of different sizes", grads=[full(n, 1e-9) for n in (3, 1, 4, 2, 6, 5, 7)], scale=1.0),
        ),
    ),
    Check(
        id="fraction",
        title="Gives the zeroed ones as a fraction of the total",
        points=0.5,
        rule="fraction_zeroed is zeroed / total over all tensors together, and 0.0 where nothing counts: with nothing "
        "to lose, nothing was lost.",
        see=COUNTS,
        judge=each_call(same("fraction_zeroed")),
        random=random_fractions,
        cases=(
            case("one of two", grads=[f32(1e-9, 1.0)], scale=1.0),
            case("one of three", grads=[f32(1e-9, 1.0, 2.0)], scale=1.0),
            case("all", grads=[f32(1e-9, 1e-10)], scale=1.0),
            case("none", grads=[f32(1.0, 2.0)], scale=1.0),
            case("no gradients", grads=[], scale=1.0),
            case("only zeros", grads=[f32(0.0, 0.0)], scale=1.0),
            case("zeros beside others", grads=[f32(0.0, 0.0, 1e-9, 1.0)], scale=1.0),
            case("tensors of different sizes", grads=[f32(1e-9), f32(1.0, 2.0, 3.0)], scale=1.0),
        ),
    ),
    Check(
        id="leaves_inputs_alone",
        title="Leaves the gradients as they were, and remembers nothing",
        points=0.5,
        rule="A report only looks: the optimizer steps with these gradients afterwards, so they are the same after the "
        "call, and the same call made again returns the same.",
        see=YOUR_RUN,
        judge=inputs_alone,
        random=lambda random: [case(f"random {i}", grads=[f32(*mixture(random))], scale=4.0) for i in (1, 2)],
        cases=(
            case("one element", grads=[f32(2.0)], scale=4.0),
            case("both signs", grads=[f32(-2.0, 3.0)], scale=1.0),
            case("elements that do not count", grads=[f32(0.0, INF, NAN, 1.0)], scale=4.0),
            case("two dtypes", grads=[tensor([2.0], "float16"), f32(1.0), None], scale=4.0),
            calls("the same call twice", *[{"grads": [f32(1e-9, 8.0)], "scale": 4.0} for _ in range(2)]),
        ),
    ),
)

# ---------------------------------------------------------------------------- beliefs

MISCONCEPTIONS = (
    # where fp16 ends
    Misconception(
        "smallest_is_the_cut_off",
        "The smallest number of fp16 is 6e-8, so everything below is lost.",
        "Rounding goes to the nearest number. From 3e-8 on, 2**-24 is nearer than zero: half of that range survives, "
        "at up to twice its size.",
        CUT_OFF,
    ),
    Misconception(
        "tie_survives",
        "What is lost is below 2**-25.",
        "2**-25 lies exactly between 0 and 2**-24, and a tie goes to the neighbor whose last bit is 0, which is zero.",
        CUT_OFF,
    ),
    Misconception(
        "subnormals_are_lost",
        "Below the smallest normal number fp16 has nothing.",
        "From 2**-14 down to 2**-24 it has subnormal numbers. They are coarse, and they are not zero.",
        SUBNORMAL,
    ),
    Misconception(
        "epsilon_is_the_smallest",
        "finfo.eps is the smallest number.",
        "eps is the gap next to 1.0, 2**-10 in fp16. Far smaller numbers are stored, with gaps of their own.",
        SUBNORMAL,
    ),
    Misconception(
        "class_of_the_unrounded",
        "I compare the product with 2**-14 before it is rounded.",
        "Rounding can lift a number over the border: a product just below 2**-14 is stored as 2**-14, which is normal. "
        "Ask q.",
        SUBNORMAL,
    ),
    Misconception(
        "above_the_largest_is_inf",
        "What exceeds 65504 has overflowed.",
        "65519 rounds down to 65504. Only from 65520 on, half a gap further, does rounding give inf.",
        TIES,
    ),
    Misconception(
        "sixteen_bits_end_at_65536",
        "With 16 bits fp16 ends at 2**16.",
        "The next number after 65504 would be 65536, and rounding to it gives inf already from 65520 on.",
        TIES,
    ),
    Misconception(
        "sign_is_forgotten",
        "Small means less than the threshold.",
        "-5.0 is less than 2**-14 too. Size is abs(q): half of all gradients are negative.",
        SUBNORMAL,
    ),
    # scaling
    Misconception(
        "scaling_rescues_afterwards",
        "I round to fp16 and then multiply: the scale lifts the small ones.",
        "Zero times 65536 is zero. The scale must be there before fp16 is, which is why it multiplies the loss and not "
        "the gradients.",
        SCALED,
    ),
    Misconception(
        "scale_is_a_half",
        "Everything is fp16, the scale too.",
        "65536 is no fp16 number: as float16 the scale is inf, and so is everything multiplied by it. Multiply in "
        "float32.",
        SCALED,
    ),
    Misconception(
        "own_dtype_multiplies",
        "A gradient is multiplied in its own dtype.",
        "A bfloat16 product keeps 8 bits, and a value just above the cut-off is rounded onto it. Convert to float32 "
        "first, then multiply.",
        SCALED,
    ),
    Misconception(
        "scaling_divides",
        "The scale has to be divided out.",
        "That is unscaling, which comes after backward. What fp16 has to store is the scaled gradient, g * scale.",
        SCALED,
    ),
    Misconception(
        "scale_does_not_matter",
        "A lost gradient is lost, whatever the scale.",
        "1e-8 is lost at scale 1 and a normal number at 65536. That difference is what a loss scale is for.",
        SCALED,
    ),
    # what counts
    Misconception(
        "zeros_have_underflowed",
        "A zero gradient has underflowed.",
        "A zero may simply be true: a dead ReLU, an unused embedding row. Only what was not zero before can have been "
        "zeroed by fp16.",
        COUNTS,
    ),
    Misconception(
        "zeros_count_in_the_total",
        "The total is the number of elements.",
        "Zeros would dilute the fraction: a sparse gradient that loses everything it has would look healthy.",
        COUNTS,
    ),
    Misconception(
        "inf_is_an_overflow_too",
        "An inf in the gradient has overflowed, so I count it.",
        "The report asks what fp16 does to these numbers. An element that is inf before was not made so by the scale, "
        "and none can mend it.",
        COUNTS,
    ),
    Misconception(
        "nan_is_a_number",
        "g != 0 leaves what has a size.",
        "nan != 0 is True, and nan is in none of the four classes: it ends up with what is left. Ask isfinite too.",
        COUNTS,
    ),
    Misconception(
        "scaled_value_decides",
        "I scale first and then keep what is finite and not zero.",
        "That drops exactly what was asked about: what the scale sends to inf, and what is too small for it.",
        COUNTS,
    ),
    Misconception(
        "counts_fit_fp16",
        "A count has no digits after the point, so any dtype will do.",
        "fp16 has every whole number up to 2048 only: 4099 becomes 4100. Add up booleans or ints.",
        COUNTS,
    ),
    # lists
    Misconception(
        "one_tensor_speaks_for_all",
        "I report the tensor that I have at hand.",
        "Layers differ by many powers of two: where one loses nothing the next may lose everything. Add up all.",
        IN_FP32,
    ),
    Misconception(
        "every_parameter_has_a_gradient",
        "Every parameter has a gradient.",
        "A frozen parameter, or one that the loss did not reach, has None in its .grad.",
        IN_FP32,
    ),
    Misconception(
        "there_is_always_something",
        "I can divide by the total.",
        "With an empty list, or with zeros only, the total is 0. Nothing was lost then: the fraction is 0.0.",
        COUNTS,
    ),
    Misconception(
        "fractions_are_averaged",
        "The fraction is the mean of the tensors' fractions.",
        "A bias of 10 elements would weigh as much as a matrix of a million. Add the counts up first, divide once.",
        COUNTS,
    ),
    Misconception(
        "fraction_is_a_percentage",
        "One of two is 50.",
        "A fraction lies between 0 and 1: one of two is 0.5. Format it with :.1% where you print it.",
        COUNTS,
    ),
    Misconception(
        "fraction_of_the_mass",
        "What is lost is the share of the sum of |g|.",
        "That is the lost mass, worth knowing too, and another number: many small elements may weigh hardly anything. "
        "Asked for here is the share of the count.",
        COUNTS,
    ),
    # form
    Misconception(
        "a_tensor_of_one_is_an_int",
        "mask.sum() is a number.",
        "It is a 0-d tensor: it stays on its device, prints as tensor(3), and json refuses it. int(...) makes a number "
        "of it.",
        YOUR_RUN,
    ),
    Misconception(
        "float_makes_a_copy",
        "g.float() is a copy, so I may work in place.",
        "A float32 tensor's .float() is the tensor itself: mul_ and abs_ then change the caller's gradient. Use * and "
        "abs().",
        YOUR_RUN,
    ),
    Misconception(
        "report_keeps_count",
        "The report goes on counting from call to call.",
        "A default argument lives as long as the function: the second report would contain the first.",
        YOUR_RUN,
    ),
)
