"""What is graded about ``dynamic_loss_scale_fp32``, and the beliefs behind its known wrong answers.

The schedule itself is the matter of ``dynamic_loss_scale``, and one check here looks at it. The others look at what
keeping the scale in fp32 does to it. Everything is compared bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from autograder.checks import Case, Check, Misconception, Outcome, Tensor, case, each_call, kind_of
from autograder.models import Scalar

PAGE = "book/05_dynamic_scaling.html#"
RULE, RECORD, RUN = PAGE + "the-rule", PAGE + "record-before-update", PAGE + "a-run-of-good-steps"
IN_FP32, SINKS, ONE_PASS = PAGE + "in-fp32", PAGE + "a-scale-that-sinks", PAGE + "one-pass"
NOT_THE_SCALER = PAGE + "not-the-scaler"

F, T = False, True
KEYS = ("scales", "skipped", "final_scale")
LARGEST = (2.0 - 2.0**-23) * 2.0**127
"""The largest fp32 number."""
SMALLEST = 2.0**-149
"""The smallest subnormal fp32 number."""

Arguments = Mapping[str, Any]

# ------------------------------------------------------------------------- comparing
# These see claims of the student's process: any plain value may come, and none may make them raise.


def real(value: Any) -> float | int | None:
    """Return a float, an int or a NumPy real as a Python number; None for all else, and for a bool."""
    value = value.value if type(value) is Scalar else value
    return value if type(value) in (int, float) else None


def items_of(value: Any) -> Sequence[Any] | None:
    """Return the elements of a list, a tuple, or a 1-d array; None for all else."""
    if type(value) is Tensor:
        return value.values if len(value.shape) == 1 else None
    return value if type(value) in (list, tuple) else None


def overflowed(flag: Any) -> bool:
    return bool(flag.value if type(flag) is Scalar else flag)


def event(arguments: Arguments, trace: Sequence[float], step: int) -> str:
    """Return a clause on what a step did to the scale by the rule; ``trace`` holds the right scales, the last too."""
    before, after = trace[step], trace[step + 1]
    if overflowed(arguments["overflows"][step]):
        factor = arguments.get("backoff_factor", 0.5)
        return f"step {step} overflowed, and {before!r} * {factor!r} is {after!r} in fp32"
    if before != after:
        factor = arguments.get("growth_factor", 2.0)
        return f"step {step} completed the interval, and {before!r} * {factor!r} is {after!r} in fp32"
    if before >= 2.0**100:
        return f"step {step} was good, and a growth that fp32 cannot hold is dropped"
    return f"step {step} was good, and {'zero stays zero' if before == 0 else 'the scale stays'}"


def same_record(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Every scale is the right fp32 number, bit for bit, and so are the last one and the skipped steps."""
    record, right = got.returned, want.returned
    if type(record) is not dict or set(record) != set(KEYS):
        return f"it returned {kind_of(record)}, not a dict with the keys scales, skipped and final_scale, and no more"
    trace = [*right["scales"], right["final_scale"]]
    mine, skipped = items_of(record["scales"]), items_of(record["skipped"])
    if mine is None or skipped is None:
        key = "scales" if mine is None else "skipped"
        return f"the value of {key} is {kind_of(record[key])}, not a list of numbers"
    if len(mine) != len(right["scales"]):
        return f"the list scales has {len(mine)} entries for {len(right['scales'])} steps"
    mine = [*mine, record["final_scale"]]
    alike = {int, float}.issuperset(map(type, mine)) and mine == trace  # a run may have 200,000 steps
    for index, (value, theirs) in enumerate(() if alike else zip(mine, trace, strict=True)):
        found = real(value)
        if found is None or found != theirs:
            where = f"the entry scales[{index}]" if index < len(right["scales"]) else "the value of final_scale"
            shown = kind_of(value) if found is None else repr(float_of(found))
            why = event(arguments, trace, index - 1) if index else "that is init_scale, as fp32 holds it"
            return f"{where} is {shown}, not {theirs!r}: {why}"
    if [real(step) for step in skipped] != right["skipped"]:
        return "the list skipped does not name the steps that overflowed, counted from 0"
    return None


def float_of(value: float | int) -> float | int:
    """Return a number as a float, where one can hold it."""
    try:
        return float(value)
    except OverflowError:
        return value


# ---------------------------------------------------------------------- random inputs


# First scales are fp32 numbers, but where the first scale is what is looked at.


def single(random: Random, exponent: int) -> float:
    """Return an fp32 number from 2**exponent up to twice that."""
    return random.randrange(2**23, 2**24) * 2.0 ** (exponent - 23)


def random_schedule(random: Random) -> list[Case]:
    cases = []
    for i in (1, 2, 3):
        interval = random.randint(3, 5)
        start = 2.0 ** random.randint(5, 8)
        bad = random.sample(range(30), 5)
        overflows = [step in bad for step in range(30)]
        cases.append(case(f"random {i}", overflows=overflows, init_scale=start, growth_interval=interval))
    return cases


def random_starts(random: Random) -> list[Case]:
    return [case(f"random {i}", overflows=[], init_scale=random.uniform(0.1, 99999.0)) for i in (1, 2, 3)]


def random_backoffs(random: Random) -> list[Case]:
    return [
        case(
            f"random {i}",
            overflows=[T] * 30,
            init_scale=single(random, 15),
            backoff_factor=random.uniform(0.3, 0.9),
        )
        for i in (1, 2, 3)
    ]


def random_growths(random: Random) -> list[Case]:
    return [
        case(
            f"random {i}",
            overflows=[F] * 30,
            init_scale=single(random, 3),
            growth_factor=random.uniform(1.01, 3.0),
            growth_interval=1,
        )
        for i in (1, 2, 3)
    ]


def random_tops(random: Random) -> list[Case]:
    return [
        case(
            f"random {i}",
            overflows=[*[F] * 60, T, F, F],
            init_scale=single(random, 120),
            growth_factor=random.uniform(1.2, 4.0),
            growth_interval=1,
        )
        for i in (1, 2, 3)
    ]


def random_bottoms(random: Random) -> list[Case]:
    return [
        case(
            f"random {i}",
            overflows=[T] * 8,
            init_scale=single(random, -126),
            backoff_factor=random.randint(20, 60) / 64,
        )
        for i in (1, 2, 3)
    ]


# ---------------------------------------------------------------------------- checks


def back(name: str, count: int, start: float, factor: float = 0.5) -> Case:
    return case(name, overflows=[T] * count, init_scale=start, backoff_factor=factor)


def grow(name: str, count: int, start: float, factor: float = 2.0, then: Sequence[bool] = ()) -> Case:
    overflows = [*[F] * count, *then]
    return case(name, overflows=overflows, init_scale=start, growth_factor=factor, growth_interval=1)


CHECKS = (
    Check(
        id="follows_the_rule",
        title="Follows the schedule of dynamic_loss_scale where nothing has to be rounded",
        points=1.0,
        rule="Record the scale, then update it: an overflow multiplies it by backoff_factor and zeroes the run of good "
        "steps, the growth_interval-th good step in a row multiplies it by growth_factor and zeroes the run.",
        see=RULE,
        judge=each_call(same_record),
        random=random_schedule,
        cases=(
            case("no steps", overflows=[]),
            case("one good step", overflows=[F], init_scale=8.0),
            case("one overflow", overflows=[T], init_scale=8.0),
            case("the statement's first example", overflows=[F, T, F, F, F], init_scale=8.0, growth_interval=2),
            case("time for two growths", overflows=[F] * 7, init_scale=8.0, growth_interval=3),
            case("an overflow between good steps", overflows=[F, F, T, F, F, F], init_scale=8.0, growth_interval=4),
            case("flags that are 0 and 1", overflows=[0, 1, 0], init_scale=8),
        ),
    ),
    Check(
        id="starts_in_fp32",
        title="Rounds the first scale to fp32",
        points=1.0,
        rule="init_scale goes into fp32 before the first step uses it: 0.1 becomes 0.10000000149011612, and what is "
        "half of the smallest fp32 number or less becomes zero.",
        see=IN_FP32,
        judge=each_call(same_record),
        random=random_starts,
        cases=(
            case("a tenth, and no step", overflows=[], init_scale=0.1),
            case("a tenth, and a step", overflows=[F], init_scale=0.1),
            case("an int with 25 digits", overflows=[F], init_scale=2**24 + 1),
            case("an int that is three above a tie", overflows=[F], init_scale=2**24 + 3),
            case("1e-46", overflows=[F], init_scale=1e-46),
            case("the largest fp32 number", overflows=[F], init_scale=LARGEST),
        ),
    ),
    Check(
        id="backs_off_in_fp32",
        title="Rounds to fp32 after every backoff",
        points=2.0,
        rule="After every overflow the product of scale and backoff_factor is rounded to the nearest fp32 number, and "
        "the next one begins with what was rounded: 8 * 0.7 is 5.599999904632568.",
        see=IN_FP32,
        judge=each_call(same_record),
        random=random_backoffs,
        cases=(
            back("8 times 0.7", 1, 8.0, 0.7),
            back("8 times 0.7, twice", 2, 8.0, 0.7),
            back("65536 times 0.9", 1, 65536.0, 0.9),
            back("a hundred times 0.9", 100, 65536.0, 0.9),
            back("fifty times 1/3", 50, 65536.0, 1 / 3),
        ),
    ),
    Check(
        id="grows_in_fp32",
        title="Rounds to fp32 after every growth",
        points=1.0,
        rule="After every growth the product of scale and growth_factor is rounded to the nearest fp32 number, and the "
        "next one begins with what was rounded.",
        see=IN_FP32,
        judge=each_call(same_record),
        random=random_growths,
        cases=(
            grow("8 times 1.1", 1, 8.0, 1.1),
            grow("8 times 1.1, twice", 2, 8.0, 1.1),
            grow("thirty times 1.5: exact, until there are more than 24 digits", 30, 65536.0, 1.5),
            grow("a hundred times 1.1", 100, 1.0, 1.1),
        ),
    ),
    Check(
        id="product_in_double",
        title="Takes the product in double precision, with the factors as they are given",
        points=1.0,
        rule="Only the scale is an fp32 number. The factors are doubles, and so is the product, which is then rounded "
        "to fp32 once: a factor that fp32 does not hold, even 1e39, is used as it is.",
        see=IN_FP32,
        judge=each_call(same_record),
        cases=(
            back("9 times 0.7", 1, 9.0, 0.7),
            back("3 times 0.3", 1, 3.0, 0.3),
            grow("3 times 1.1", 1, 3.0, 1.1),
            grow("1e-05 times 1e39", 1, 1e-5, 1e39),
            back("1e30 times 1e-50", 1, 1e30, 1e-50),
        ),
    ),
    Check(
        id="saturates",
        title="Drops a growth that fp32 cannot hold",
        points=1.0,
        rule="Where the grown scale rounds to infinity it is not taken: the scale stays as it is, whatever that is, "
        "and comes down with the next overflow. From 65536, doubling, it stays at 2**127.",
        see=IN_FP32,
        judge=each_call(same_record),
        random=random_tops,
        cases=(
            grow("a growth at 2**126", 1, 2.0**126),
            grow("a growth at 2**127", 1, 2.0**127),
            grow("two hundred growths from 65536", 200, 65536.0),
            grow("a growth at 2**127, then an overflow and good steps", 2, 2.0**127, then=[T, F, F]),
            grow("thrice from 2**126", 3, 2.0**126, 3.0),
            grow("half as much again, from 2**127", 2, 2.0**127, 1.5),
            grow("8 times 1e300", 2, 8.0, 1e300),
            grow("times 1.3, until it does not fit", 60, 2.0**120, 1.3),
            grow("a product that rounds to the largest fp32 number", 1, LARGEST / 2, 2 + 2.0**-27),
            grow("a product that is the tie to infinity", 1, LARGEST / 2, 2 + 2.0**-23 * (1 / (2 - 2.0**-23))),
        ),
    ),
    Check(
        id="subnormal_scales",
        title="Goes below 2**-126 in steps of 2**-149",
        points=1.0,
        rule="Below 2**-126 fp32 is subnormal: it goes on in even steps of 2**-149, with fewer digits the smaller the "
        "scale, ties to even.",
        see=SINKS,
        judge=each_call(same_record),
        random=random_bottoms,
        cases=(
            back("half of 2**-126", 1, 2.0**-126),
            back("five times half of 2**-126", 5, 2.0**-126),
            back("0.7 of 1.5 * 2**-127", 1, 1.5 * 2.0**-127, 0.7),
            back("half of three of the smallest: a tie, up to two", 1, 3 * SMALLEST),
            back("half of five of the smallest: a tie, down to two", 1, 5 * SMALLEST),
            back("0.7 of a hundred and one of the smallest", 3, 101 * SMALLEST, 0.7),
            back("0.9 of the smallest", 3, SMALLEST, 0.9),
        ),
    ),
    Check(
        id="dies_at_zero",
        title="Ends at zero after enough overflows, and stays there",
        points=1.0,
        rule="Half of the smallest fp32 number is the tie to zero, and there is no guard at this end: from 65536, "
        "halving, the scale is 0 after 166 overflows in a row. Zero times any factor is zero.",
        see=SINKS,
        judge=each_call(same_record),
        cases=(
            back("half of the smallest fp32 number", 1, SMALLEST),
            back("149 halvings of one", 149, 1.0),
            back("150 halvings of one", 150, 1.0),
            back("166 halvings of 65536", 166, 65536.0),
            back("overflows at zero", 3, SMALLEST),
            case("zero, then good steps", overflows=[T, F, F, F], init_scale=SMALLEST, growth_interval=1),
        ),
    ),
    Check(
        id="refuses_beyond_fp32",
        title="Raises ValueError for a first scale that fp32 cannot hold",
        points=0.5,
        rule="A first scale above the largest fp32 number, 2**128 - 2**104, is refused with a ValueError, although a "
        "little more would still round down to it; so are infinity and nan.",
        see=IN_FP32,
        judge=each_call(same_record),
        cases=(
            case("1e39", overflows=[F], init_scale=1e39),
            case("1e39, and no step", overflows=[], init_scale=1e39),
            case("infinity", overflows=[F], init_scale=float("inf")),
            case("nan", overflows=[F], init_scale=float("nan")),
            case("2**128", overflows=[F], init_scale=2.0**128),
            case("the tie to infinity", overflows=[F], init_scale=LARGEST + 2.0**103),
            case("a little more than the largest fp32 number", overflows=[F], init_scale=LARGEST + 2.0**102),
        ),
    ),
    Check(
        id="one_pass",
        title="Does 222,001 steps at the default interval, looking at each of them once",
        points=0.5,
        rule="111 growths of 2000 good steps each take the default scale to 2**127. The work for one step must not "
        "grow with the number of steps before it.",
        see=ONE_PASS,
        judge=each_call(same_record),
        cases=(
            case("2,001 good steps", overflows=[F] * 2_001),
            case("222,001 good steps", overflows=[F] * 222_001),
        ),
    ),
)

# ---------------------------------------------------------------------------- beliefs

MISCONCEPTIONS = (
    # rounding
    Misconception(
        "scale_is_a_double",
        "The scale is a Python float, so there is nothing to round.",
        "PyTorch keeps it in a tensor of fp32, so that kernels can use it without asking the host. It has 24 digits, "
        "ends at 3.4e38, and becomes zero at 2**-150.",
        IN_FP32,
    ),
    Misconception(
        "rounding_may_wait",
        "It is enough to round what is returned.",
        "The next product begins with the rounded scale, so errors add up differently, and what has become zero or "
        "infinity in between stays so.",
        IN_FP32,
    ),
    Misconception(
        "only_growth_rounds",
        "Multiplying by a factor below 1 loses nothing.",
        "It does unless the product fits 24 binary digits: 8 * 0.7 does not.",
        IN_FP32,
    ),
    Misconception(
        "only_backoff_rounds",
        "Growing loses nothing, because the number gets larger.",
        "What counts is the number of digits. 3 * 1.1 has more than 24, and is rounded.",
        IN_FP32,
    ),
    Misconception(
        "first_scale_is_what_was_given",
        "The first scale is init_scale, as it was given.",
        "It is put into an fp32 tensor when the scaler is first used: 0.1 becomes 0.10000000149011612.",
        IN_FP32,
    ),
    Misconception(
        "fp32_cuts_off",
        "Converting to fp32 cuts off the digits that do not fit.",
        "It rounds to the nearest, ties to even, like every operation in floating point unless told otherwise.",
        IN_FP32,
    ),
    Misconception(
        "fp32_has_seven_digits",
        "fp32 has seven decimal digits, so I round to seven.",
        "It has 24 binary ones. Seven decimal digits name another number, near it.",
        IN_FP32,
    ),
    Misconception(
        "halves_go_up",
        "A tie is rounded up.",
        "To even. Half of five times the smallest number is two of them and not three, and half of one is zero.",
        SINKS,
    ),
    Misconception(
        "factors_are_fp32",
        "In an fp32 computation everything is fp32.",
        "The factors are doubles in the operator's signature, and so is the product; the result is rounded once. With "
        "factors in fp32 1e39 would be infinity, and 9 * 0.7 another number.",
        IN_FP32,
    ),
    Misconception(
        "scale_is_a_half",
        "In fp16 training the scale is an fp16 number.",
        "It is fp32. 8 * 0.7 in fp16 would be 5.6016.",
        IN_FP32,
    ),
    # the upper end
    Misconception(
        "growth_knows_no_end",
        "If nothing overflows the scale grows, to infinity in the end.",
        "It did in old releases. Infinity times anything is infinity or nan, and half of infinity is infinity: it "
        "would never come back. So a growth that gives infinity is dropped.",
        IN_FP32,
    ),
    Misconception(
        "too_large_becomes_the_largest",
        "The scale saturates at the largest fp32 number.",
        "A growth that does not fit is dropped whole: the scale stays where it was, 2**127 when it doubles.",
        IN_FP32,
    ),
    Misconception(
        "the_cap_is_two_to_127",
        "The cap is 2**127.",
        "That is where doubling from a power of two stops. The rule is that the product has to be finite: 1.5 * 2**127 "
        "is, and growing eightfold from 8 stops at 2**126.",
        IN_FP32,
    ),
    Misconception(
        "the_product_itself_must_fit",
        "What is above the largest fp32 number does not fit.",
        "It is judged after rounding: what is less than half a gap above the largest rounds down to it, and is taken.",
        IN_FP32,
    ),
    Misconception(
        "beyond_fp32_is_an_error",
        "Too large for fp32 is an OverflowError.",
        "That is how struct.pack says infinity. The scaler goes on with the scale that it has.",
        IN_FP32,
    ),
    Misconception(
        "struct_always_says_so",
        "struct raises an OverflowError where a number does not fit fp32.",
        'It does with "<f". With "f", the format of this machine, pack gives infinity without a word, and no except is '
        "ever reached. Ask math.isfinite, or write the <.",
        IN_FP32,
    ),
    Misconception(
        "too_large_is_an_overflow",
        "A scale that does not fit backs off.",
        "Backing off is for gradients that overflowed. A growth that does not fit just does not happen.",
        IN_FP32,
    ),
    # the lower end
    Misconception(
        "subnormals_are_zero",
        "Below 2**-126 the scale is zero.",
        "Only where the hardware is told to flush subnormal numbers. Else it takes 23 more halvings.",
        SINKS,
    ),
    Misconception(
        "smallest_is_two_to_minus_126",
        "2**-126 is the smallest scale.",
        "It is the smallest normal fp32 number. Nothing stops the scale there.",
        SINKS,
    ),
    Misconception(
        "fp32_is_24_bits",
        "fp32 always has 24 digits.",
        "Below 2**-126 it has fewer: the gap stays 2**-149, and the smallest number has one digit.",
        SINKS,
    ),
    Misconception(
        "a_scale_never_gets_to_zero",
        "A backoff never makes zero of a positive scale.",
        "It does when zero is the nearest number, ties included. Growth has a guard, backoff has none.",
        SINKS,
    ),
    Misconception(
        "zero_is_mended",
        "At zero the scaler starts again.",
        "Nothing looks at it. A scale of zero makes every gradient 0 * inf = nan when it is unscaled, and the model "
        "with it; that somebody notices is up to you.",
        SINKS,
    ),
    Misconception(
        "zero_recovers",
        "Good steps bring the scale back from zero.",
        "0 * 2 is 0. Once dead, it stays dead.",
        SINKS,
    ),
    Misconception(
        "zero_is_an_error",
        "A scale of zero raises an exception.",
        "It should be an alarm, and some libraries have a smallest scale that raises. PyTorch goes on.",
        SINKS,
    ),
    # the first scale
    Misconception(
        "what_rounds_to_zero_is_refused",
        "A first scale that becomes zero is refused.",
        "PyTorch makes 1e-46 a scale of 0.0 without a word. Only what becomes infinity is refused.",
        IN_FP32,
    ),
    Misconception(
        "any_float_can_be_the_first",
        "A first scale of 1e39 is as good as any.",
        "In fp32 it is infinity, from which nothing comes back. PyTorch raises a RuntimeError when it makes the "
        "tensor; here it is a ValueError.",
        IN_FP32,
    ),
    Misconception(
        "struct_s_error_will_do",
        "struct raises an OverflowError by itself, which will do.",
        "The contract says ValueError, and struct lets infinity and nan pass.",
        IN_FP32,
    ),
    Misconception(
        "what_rounds_down_fits",
        "What rounds down to the largest fp32 number fits.",
        "It would, after rounding, and so it does when the scale grows. A first scale is looked at before: PyTorch "
        "refuses whatever is above the largest.",
        IN_FP32,
    ),
    # the schedule
    Misconception(
        "every_good_step_grows",
        "The scale grows at every good step.",
        "At the growth_interval-th in a row.",
        RULE,
    ),
    Misconception(
        "growth_keeps_the_run",
        "Once the run is long enough, the scale grows at every step.",
        "A growth zeroes the run: the larger scale has to prove itself anew.",
        RUN,
    ),
    Misconception(
        "good_steps_add_up",
        "The scale grows after growth_interval good steps altogether.",
        "In a row: an overflow zeroes the run.",
        RUN,
    ),
    Misconception(
        "scale_is_what_the_step_leaves",
        "scales[i] is the scale after step i.",
        "It is the scale that step i used. Record first, then update.",
        RECORD,
    ),
    Misconception(
        "fast_when_short",
        "It takes no time for a hundred steps, so it is fast.",
        "scales + [scale] copies the whole list at each step. append adds at the end.",
        ONE_PASS,
    ),
    # what is not accepted
    Misconception(
        "pytorch_may_do_it",
        "PyTorch's operator already does this, so I call it.",
        "It is what this exercise rebuilds. Test yours with it, step by step.",
        NOT_THE_SCALER,
    ),
)
