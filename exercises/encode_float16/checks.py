"""What is graded about ``encode_float16``, and the beliefs behind its known wrong answers.

The checks of rounding use positive numbers, and each its own kind: quarters of a gap, halves, a little beside a half.
Negative numbers are compared with the student's own positive ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

from autograder.checks import Check, Misconception, Mismatch, Outcome, calls, case, each_call, each_item, kind_of
from autograder.models import Case, Observation

PAGE = "book/01_sixteen_bits.html#"
PATTERN, COUNTING, GAPS = PAGE + "one-pattern", PAGE + "counting-up", PAGE + "gaps"
TIES, TWICE, BELOW = PAGE + "ties", PAGE + "rounded-twice", PAGE + "below-the-normal-numbers"
SPECIAL, FORMATS, FIELDS = PAGE + "special-patterns", PAGE + "where-the-bits-go", PAGE + "if-the-fields"
ARGUMENT, ENCODING = PAGE + "if-the-argument", PAGE + "if-encoding"
INF, NAN = math.inf, math.nan
SMALLEST = 2.0**-24

Arguments = Mapping[str, Any]

# ------------------------------------------------------------------------------- halves


def number(pattern: int) -> float:
    """Return the number of a pattern from 0x0000 to 0x7c00; 65536, the next one, stands for infinity."""
    field, fraction = divmod(pattern, 1024)
    return math.ldexp(fraction + 1024 * (field > 0), max(field, 1) - 25)


def between(pattern: int, part: float) -> float:
    """Return the float that lies that part of the way from a pattern's number to the next one's; exact for 1/2**n."""
    return number(pattern) + (number(pattern + 1) - number(pattern)) * part


def eighths(pattern: int) -> list[float]:
    """Return the floats that are an eighth of the gap on either side of the half-way point after a pattern."""
    return [between(pattern, 0.375), between(pattern, 0.625)]


def beside(pattern: int, power: int) -> list[float]:
    """Return the floats that are 2**power times themselves below and above the half-way point after a pattern."""
    middle = between(pattern, 0.5)
    return [middle * (1 - 2.0**power), middle * (1 + 2.0**power)]


# ------------------------------------------------------------------------- comparing
# These see claims of the student's process: any plain value may come, and none may make them raise.


def named(pattern: int) -> str:
    value = "infinity" if pattern == 0x7C00 else f"{number(pattern):.17g}"
    return f"0x{pattern:04x} ({value})"


def reason(size: float, want: int) -> str:
    """Return a clause on why a positive number belongs to a pattern."""
    if size >= 65520.0:
        return f"from 65520 on it is infinity, {named(0x7C00)}"
    exact = Fraction(size)
    if exact == Fraction(number(want)):
        return f"that is {named(want)}, exactly"
    low = want if Fraction(number(want)) < exact else want - 1
    part = (exact - Fraction(number(low))) / (Fraction(number(low + 1)) - Fraction(number(low)))
    place = f"{size!r} lies between {named(low)} and {named(low + 1)}"
    if part == Fraction(1, 2):
        return f"{place}, exactly in the middle, and 0x{want:04x} is the even pattern"
    close = abs(part - Fraction(1, 2)) < Fraction(1, 1000)
    by_how_much = ", a little beside the middle," if close else ""
    return f"{place}{by_how_much} and nearer to the {'first' if want == low else 'second'}"


def wrong_pattern(arguments: Arguments, mine: Any, theirs: int) -> str | None:
    """Return a sentence unless it is the right pattern of a positive number."""
    if type(mine) is not int:
        return f"it returned {kind_of(mine)}, not an int: the pattern is {theirs}, which is 0x{theirs:04x}"
    if mine == theirs:
        return None
    got = f"0x{mine:04x}" if 0 <= mine <= 0xFFFF else f"{mine}, which is no pattern of 16 bits"
    return f"{reason(arguments['x'], theirs)}; it returned {got}"


def same_pattern(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    return wrong_pattern(arguments, got.returned, want.returned)


def mirrored(case: Case, observed: Observation, expected: Observation) -> Mismatch | None:
    """The second call's number is the negative of the first one's: the same pattern, with the sign bit set."""
    if mismatch := each_call(positive_first)(case, observed, expected):
        return mismatch
    positive, negative = (outcome.returned for outcome in observed.outcomes)
    if type(negative) is int and negative == positive | 0x8000:
        return None
    got = f"0x{negative:04x}" if type(negative) is int and 0 <= negative <= 0xFFFF else repr(negative)[:40]
    due = f"0x{positive | 0x8000:04x}"
    return replace(Mismatch(f"{case.calls[0]['x']!r} gave 0x{positive:04x}, so this is {due}, and not {got}"), call=1)


def positive_first(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """The pattern of a number without a minus is an int without the sign bit."""
    if math.copysign(1.0, arguments["x"]) < 0:
        return None
    if type(got.returned) is not int:
        return wrong_pattern(arguments, got.returned, want.returned)
    if 0 <= got.returned <= 0x7FFF:
        return None
    return f"{arguments['x']!r} has no minus, so its pattern is below 0x8000, and not {got.returned}"


def any_nan(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Any of the 2046 patterns of a nan."""
    mine = got.returned
    if type(mine) is not int:
        return f"it returned {kind_of(mine)}, not an int"
    if 0 <= mine <= 0xFFFF and mine & 0x7FFF > 0x7C00:
        return None
    what = f"the pattern of {'minus ' * (mine >> 15)}infinity" if mine in (0x7C00, 0xFC00) else "no pattern of a nan"
    return f"it returned {mine}, {what}: the exponent field has to be 31, and the fraction field anything but 0"


def never(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Where the reference raises there is nothing to compare."""
    return None


# ---------------------------------------------------------------------- random inputs


def patterns(random: Random, count: int) -> list[int]:
    """Return so many patterns of normal numbers, every exponent as likely as any other."""
    return [random.randrange(0x0400, 0x7BFF) for _ in range(count)]


def random_quarters(random: Random) -> list[Case]:
    return [case("random", x=[between(p, random.choice((0.25, 0.375, 0.625, 0.75))) for p in patterns(random, 200)])]


def random_ties(random: Random) -> list[Case]:
    return [case("random", x=[between(p, 0.5) for p in patterns(random, 200)])]


def random_beside(random: Random) -> list[Case]:
    return [case("random", x=flat(beside(p, -random.randint(30, 52)) for p in patterns(random, 200)))]


def random_large(random: Random) -> list[Case]:
    beyond = [65520.0 * 2.0 ** random.uniform(0.0, 1000.0) for _ in range(50)]
    return [case("random", x=[*beyond, *(random.uniform(65488.0, 65520.0) for _ in range(50))])]


def flat(rows: Iterable[Sequence[float]]) -> list[float]:
    return [item for row in rows for item in row]


# ---------------------------------------------------------------------------- checks


def one(name: str, x: Any) -> Case:
    return case(name, x=x)


def both(name: str, x: float) -> Case:
    return calls(name, {"x": x}, {"x": -x})


CHECKS = (
    Check(
        id="exact",
        title="Encodes numbers that are halves as their own pattern",
        points=1.5,
        rule="A number that a half can hold is encoded as that half: sign, exponent plus 15 and ten bits of the "
        "fraction, the leading one left out; below 2**-14 an exponent field of 0, and multiples of 2**-24.",
        see=ENCODING,
        judge=each_call(same_pattern),
        cases=(
            one("one", 1.0),
            one("two", 2.0),
            one("one and a half", 1.5),
            one("the next half after one", 1.0009765625),
            one("a hundred", 100.0),
            one("zero", 0.0),
            one("the smallest normal half", 2.0**-14),
            one("the largest half", 65504.0),
            one("the largest subnormal half", 1023 * SMALLEST),
            one("the smallest half", SMALLEST),
        ),
    ),
    Check(
        id="every_half",
        title="Encodes a third of all positive halves, from 0x0000 to 0x7bff",
        points=0.5,
        rule="Encoding is the way back from a half's number to its pattern. Every third pattern of a positive number "
        "is tried.",
        see=ENCODING,
        scenario="each",
        judge=each_item(wrong_pattern),
        cases=(case("every third half", x=[number(pattern) for pattern in range(0, 0x7C00, 3)]),),
    ),
    Check(
        id="nearest",
        title="Rounds to the nearest half",
        points=1.0,
        rule="Between two halves, the nearer one is taken, be it above or below.",
        see=TIES,
        scenario="each",
        judge=each_item(wrong_pattern),
        random=random_quarters,
        cases=(
            case("a quarter and three quarters of a gap after one", x=[between(0x3C00, 0.25), between(0x3C00, 0.75)]),
            case("a tenth, a third, and pi", x=[0.1, 1 / 3, math.pi]),
            case("a quarter of a gap after others", x=[between(p, 0.25) for p in range(0x0400, 0x7BFF, 97)]),
            case("three and five eighths of a gap", x=flat(eighths(p) for p in range(0x0400, 0x7BFF, 97))),
            case("three quarters of a gap", x=[between(p, 0.75) for p in range(0x0400, 0x7BFF, 97)]),
        ),
    ),
    Check(
        id="ties",
        title="Takes of two halves that are equally near the one with the even pattern",
        points=1.0,
        rule="Exactly halfway, the half whose pattern is even is taken: down as often as up, so that sums do not "
        "drift. Rounded up from the last fraction it is the next power of two.",
        see=TIES,
        scenario="each",
        judge=each_item(wrong_pattern),
        random=random_ties,
        cases=(
            case("halfway after one: down", x=[between(0x3C00, 0.5)]),
            case("halfway after the next: up", x=[between(0x3C01, 0.5)]),
            case("halfway before two: up, into the next power of two", x=[between(0x3FFF, 0.5)]),
            case("2049 and 2051", x=[2049.0, 2051.0]),
            case("halfway before powers of two", x=[between((e << 10) - 1, 0.5) for e in range(2, 31)]),
            case("halfway after others", x=[between(p, 0.5) for p in range(0x0400, 0x7BFF, 97)]),
        ),
    ),
    Check(
        id="once",
        title="Rounds the float once, not through fp32 or anything else in between",
        points=2.0,
        rule="Halfway is exactly halfway. A float has 53 bits, and the last of them may decide: what is a little above "
        "the middle goes up. (To fp32 first, and it would be on the middle: the second rounding could not know.)",
        see=TWICE,
        scenario="each",
        judge=each_item(wrong_pattern),
        random=random_beside,
        cases=(
            case("2**-40 above the middle after one", x=[1 + 2.0**-11 + 2.0**-40]),
            case("2**-40 below the middle after the next", x=[1 + 3 * 2.0**-11 - 2.0**-40]),
            case("the floats beside the middle", x=beside(0x3C00, -52)),
            case("2049, a little more and less", x=[math.nextafter(2049.0, INF), math.nextafter(2051.0, 0.0)]),
            case("beside others", x=flat(beside(p, -40) for p in range(0x0400, 0x7BFF, 97))),
            case("as close as floats get", x=flat(beside(p, -52) for p in range(0x0401, 0x7BFF, 97))),
        ),
    ),
    Check(
        id="subnormals",
        title="Rounds to a multiple of 2**-24 below 2**-14, and to zero up to 2**-25",
        points=1.0,
        rule="Below 2**-14 the gap stays 2**-24, however small the number. The smallest half is 2**-24, and what is "
        "nearer to it than to zero becomes it: everything above 2**-25. 2**-25 itself is the tie, and goes to zero.",
        see=BELOW,
        judge=each_call(same_pattern),
        cases=(
            one("half of the smallest half: the tie, to zero", SMALLEST / 2),
            one("the next float after it", math.nextafter(SMALLEST / 2, 1.0)),
            one("the next float before it", math.nextafter(SMALLEST / 2, 0.0)),
            one("3e-8, less than the smallest half", 3e-8),
            one("5e-8, less than the smallest half", 5e-8),
            one("1e-8", 1e-8),
            one("one and a half of the smallest: a tie, up", 1.5 * SMALLEST),
            one("two and a half of the smallest: a tie, down", 2.5 * SMALLEST),
            one("the tie before the smallest normal half", 1023.5 * SMALLEST),
            one("a little below that tie", math.nextafter(1023.5 * SMALLEST, 0.0)),
            one("between subnormal halves", 100.7 * SMALLEST),
            one("just below a tie of subnormal halves", (100.5 - 2.0**-40) * SMALLEST),
            one("just above a tie of subnormal halves", (100.5 + 2.0**-40) * SMALLEST),
            one("the smallest normal float", 2.0**-1022),
            one("a subnormal float", 2.0**-1060),
            one("the smallest float", 5e-324),
        ),
    ),
    Check(
        id="overflow",
        title="Gives infinity from 65520 on, and 65504 below",
        points=1.0,
        rule="65504 is the largest half, and its gap is 32: below 65520 a number is nearer to it than to 65536. "
        "65520 is the tie, and rounds to what is even: infinity, as does all that is above.",
        see=TIES,
        scenario="each",
        judge=each_item(wrong_pattern),
        random=random_large,
        cases=(
            case("65490, nearer to 65504 than to 65472", x=[65490.0]),
            case("65505", x=[65505.0]),
            case("the last float before 65520", x=[math.nextafter(65520.0, 0.0)]),
            case("65520", x=[65520.0]),
            case("65535 and 65536", x=[65535.0, 65536.0]),
            case("100000", x=[1e5]),
            case("the largest float", x=[1.7976931348623157e308]),
            case("infinity", x=[INF]),
        ),
    ),
    Check(
        id="signs",
        title="Keeps the sign in the highest bit, also of zero and of what becomes zero",
        points=1.0,
        rule="A minus sets the highest bit and changes nothing else: that of -0.0 too, and of a number so small that "
        "it becomes zero. (Whether your positive pattern is right is for other checks.)",
        see=ENCODING,
        judge=mirrored,
        cases=(
            both("one", 1.0),
            both("a hundred", 100.0),
            both("the smallest half", SMALLEST),
            both("what becomes zero", 1e-8),
            both("the smallest float", 5e-324),
            both("zero", 0.0),
            both("infinity", INF),
            both("what becomes infinity", 1e5),
        ),
    ),
    Check(
        id="nan",
        title="Encodes nan as a nan",
        points=0.5,
        rule="A nan stays a nan: an exponent field of 31 and any fraction field but 0, which would be infinity.",
        see=ENCODING,
        judge=each_call(any_nan),
        cases=(one("nan", NAN),),
    ),
    Check(
        id="refuses_other_types",
        title="Raises TypeError for what is no float",
        points=0.5,
        rule="x is a float. Anything else raises TypeError, an int and a bool too: an int may have more digits than a "
        "float, and turning it into one would round for the first time.",
        see=ARGUMENT,
        judge=each_call(never),
        cases=(
            one("an int", 1),
            one("zero as an int", 0),
            one("True", True),
            one("a text", "1.0"),
            one("None", None),
            one("a list of texts", ["1.0"]),
        ),
    ),
)

# ---------------------------------------------------------------------------- beliefs


def belief(name: str, belief: str, truth: str, see: str) -> Misconception:
    return Misconception(name, belief, truth, see)


MISCONCEPTIONS = (
    # rounding once
    belief(
        "fp32_lies_between",
        "fp32 has more than enough digits, so going through it does no harm.",
        "It moves a number that is a little beside the middle onto the middle, and then the tie goes to the even "
        "pattern, perhaps to the wrong side. PyTorch's own .half() of a float64 tensor does just that.",
        TWICE,
    ),
    belief(
        "more_digits_first",
        "First to 24 bits, then to 11: the second rounding decides.",
        "The first one has already thrown away what it would decide by. Rounding twice is not rounding once, whatever "
        "the number of digits in between.",
        TWICE,
    ),
    belief(
        "a_few_more_digits_do_no_harm",
        "Seven decimal digits are more than a half has.",
        "More than it has, and fewer than the middle between two halves needs. A number near the middle is moved "
        "across it, or off it.",
        TWICE,
    ),
    belief(
        "two_guard_bits_tell_enough",
        "Two more bits tell on which side of the middle a number is.",
        "They tell it for a quarter and for three quarters. The middle itself, and what is a little above it, have the "
        "same two bits; one more bit has to say whether anything at all follows (hardware calls it sticky).",
        TWICE,
    ),
    # nearest
    belief(
        "the_rest_is_cut_off",
        "What does not fit is cut off.",
        "It is rounded to the nearest. Cutting off makes everything smaller in magnitude, on average by half a gap, "
        "and sums show it.",
        TIES,
    ),
    belief("round_is_up", "Rounding is rounding up.", "It is to the nearest half, which is as often below.", TIES),
    belief(
        "round_makes_it_fit",
        "round(x, 3) leaves three digits, and those fit.",
        "Three digits after the point are too many for large numbers and too few for small ones: a half has eleven "
        "binary digits, wherever the point is.",
        GAPS,
    ),
    belief(
        "ties_to_even_means_even",
        "Ties to even: the result is even.",
        "Only where two halves are equally near. Everywhere else the nearer one is taken, odd or even.",
        TIES,
    ),
    belief(
        "the_fraction_stays_in_its_field",
        "Rounding happens in the fraction field.",
        "Rounded up from 1023 it is 1024, a whole: the fraction becomes 0 and the exponent grows by one. Added instead "
        "of put together with |, the carry gets there by itself.",
        COUNTING,
    ),
    belief(
        "or_is_as_good_as_plus",
        "The fields lie side by side, so | puts them together as + does.",
        "As long as each stays in its field. A fraction rounded up to 1024 is the exponent's lowest bit: + carries it, "
        "and | does nothing where that bit is 1 already, so half of the time the number comes out half as large.",
        COUNTING,
    ),
    # ties
    belief(
        "halves_go_up",
        "Halves are rounded up.",
        "In school. Here the tie goes to the even pattern, as in round(0.5) == 0 and round(1.5) == 2, so that there is "
        "no drift.",
        TIES,
    ),
    belief("halves_go_down", "Halves are rounded down.", "To the even pattern: down as often as up.", TIES),
    belief(
        "ties_to_odd",
        "A tie goes to the odd one.",
        "To the even one. (Rounding to odd exists: it makes a first of two roundings harmless.)",
        TIES,
    ),
    # the format
    belief(
        "bias_is_half_of_32",
        "Five bits hold 32 values, so the bias is 16.",
        "It is 15: the field 15 stands for 2**0.",
        FIELDS,
    ),
    belief(
        "the_leading_one_is_stored",
        "The digits are stored from the first one on.",
        "The first digit of a normal number is always a one, so it is not stored, which makes room for one more.",
        PATTERN,
    ),
    belief(
        "frexp_begins_with_one",
        "frexp gives a number from 1 to 2, and its exponent.",
        "From 1/2 to 1: math.frexp(1.0) is (0.5, 1). The exponent of the format is one less.",
        ENCODING,
    ),
    belief(
        "zero_has_the_lowest_exponent",
        "frexp of zero has a very low exponent, so zero comes out by itself.",
        "math.frexp(0.0) is (0.0, 0): the exponent of numbers around 1/2. Zero needs the exponent of the subnormal "
        "numbers; max(size, 2**-14) before frexp gives it, for all of them.",
        ENCODING,
    ),
    belief(
        "all_halves_are_alike",
        "Sixteen-bit floats are laid out as 1 + 8 + 7 bits.",
        "That is bfloat16. fp16 has 1 + 5 + 10: less range, more precision.",
        FORMATS,
    ),
    belief(
        "a_pattern_is_a_text",
        "A pattern is best shown in hexadecimal.",
        "To a person. Code that works with it needs the int; hex(...) shows one.",
        PATTERN,
    ),
    # subnormal
    belief(
        "eleven_digits_then_subnormal",
        "Round to eleven digits first, then see whether it is subnormal.",
        "A subnormal number has fewer than eleven, and is then rounded for the second time. Find the gap first: below "
        "2**-14 it is 2**-24.",
        BELOW,
    ),
    belief(
        "subnormals_are_zero",
        "Below 2**-14 everything is zero.",
        "Some hardware does so. The format has 1023 subnormal numbers, down to 2**-24, and small gradients live there.",
        BELOW,
    ),
    belief(
        "below_the_smallest_is_zero",
        "What is smaller than 6e-8, the smallest half, becomes zero.",
        "Only up to half of it. 3e-8 is nearer to 2**-24 than to 0, and becomes 2**-24: the cut-off is 2**-25.",
        BELOW,
    ),
    belief(
        "half_of_the_smallest_is_the_smallest",
        "From half of the smallest on, it is the smallest.",
        "Exactly half of it, 2**-25, is a tie, and the even pattern is 0x0000. The next float above it is 0x0001.",
        BELOW,
    ),
    belief(
        "what_is_not_zero_stays_so",
        "A number that is not zero may not become zero.",
        "It does when zero is the nearest half. That is the underflow that loss scaling is there to prevent.",
        BELOW,
    ),
    belief(
        "there_is_always_a_leading_one",
        "Every number has a leading one, the smallest too.",
        "With an exponent field of 0 there is none, and the exponent is -14, as for a field of 1.",
        BELOW,
    ),
    belief(
        "the_field_may_go_below_zero",
        "The exponent may be as low as the number needs.",
        "The field ends at 0. Below 2**-14 the exponent stays at -14, and the digits get fewer.",
        BELOW,
    ),
    # overflow
    belief(
        "beyond_the_largest_is_inf",
        "What is larger than 65504 is infinity.",
        "65519 is nearer to 65504 than to 65536, the next number that there would be. Infinity begins at 65520.",
        TIES,
    ),
    belief(
        "inf_begins_at_two_to_16",
        "Infinity begins at 65536.",
        "That is where the next number would be. What is nearer to it than to 65504 is infinity already: from 65520.",
        TIES,
    ),
    belief(
        "the_last_tie_goes_down",
        "65520 is exactly in the middle, so it stays 65504.",
        "65504 is 0x7bff, which is odd. The even one is 0x7c00, infinity.",
        TIES,
    ),
    belief(
        "too_large_is_the_largest",
        "What is too large becomes the largest.",
        "That is saturation, as in PyTorch's cast to the fp8 format E4M3. In fp16 it becomes infinity, as in E5M2, and "
        "that is how an overflow is found.",
        TIES,
    ),
    belief(
        "the_exponent_takes_care_of_itself",
        "A larger exponent is just a larger number in the field.",
        "The field ends at 30, and 31 is infinity and nan. Beyond that bits run into the sign, or fall off.",
        SPECIAL,
    ),
    belief(
        "an_overflow_is_an_error",
        "Too large a number is an OverflowError.",
        "struct.pack raises one. The format has an answer, infinity, and a gradient scaler looks for it.",
        TIES,
    ),
    belief(
        "inputs_are_finite",
        "Nobody encodes infinity.",
        "Every overflow in fp32 makes one. math.frexp(inf) has no exponent, and round(inf) raises an OverflowError.",
        ENCODING,
    ),
    belief(
        "infinity_is_all_ones",
        "Infinity has all bits set.",
        "Those of the exponent field. The fraction field is 0; with any bit of it set it is nan.",
        SPECIAL,
    ),
    # signs
    belief(
        "minus_zero_is_below_zero",
        "x < 0 tells whether there is a minus.",
        "-0.0 < 0 is false, and it has a minus. math.copysign(1.0, x) shows it.",
        ENCODING,
    ),
    belief(
        "the_sign_is_in_the_rest",
        "The sign shows in the rest of the bits.",
        "It is a bit of its own, the highest. Without it -1.0 is 1.0.",
        PATTERN,
    ),
    belief(
        "what_vanishes_has_no_sign",
        "What becomes zero has no sign any more.",
        "It becomes -0.0 when it was below zero: the sign is kept whatever becomes of the rest.",
        ENCODING,
    ),
    belief(
        "negatives_are_complements",
        "Negative numbers are stored in two's complement.",
        "Ints are. A float has a sign bit beside its size, so -x differs from x in that one bit.",
        FIELDS,
    ),
    belief(
        "sixteen_bits_are_an_int16",
        "Sixteen bits with the highest set are a negative int.",
        "As a torch.int16 they are. The pattern asked for is an int from 0 to 65535.",
        PATTERN,
    ),
    # nan
    belief(
        "nan_is_beyond_all_numbers",
        "What is not below 65520 is infinity.",
        "nan is not below anything, nor above. Ask for it first, or a broken gradient looks like a large one.",
        ENCODING,
    ),
    belief(
        "comparisons_catch_nan",
        "If nan fits no case, something will catch it.",
        "Every comparison with it but != is false, so it gets to the arithmetic, and round(nan) raises a ValueError.",
        ENCODING,
    ),
    belief("no_number_is_zero", "No number is zero.", "nan is a value of its own, and a zero would hide it.", SPECIAL),
    # other arguments
    belief(
        "an_int_is_a_float",
        "An int is as good as a float.",
        "2**53 + 1 is no float, and turning it into one rounds it before the rounding that this is about. What the "
        "function is for is floats.",
        ARGUMENT,
    ),
    belief(
        "float_makes_a_float_of_it",
        "float(x) takes care of the type.",
        "It makes a number of a text and of True, so that a caller's mistake goes on as if it were a number.",
        ARGUMENT,
    ),
    belief(
        "a_bad_argument_is_a_value_error",
        "Whatever is wrong with an argument is a ValueError.",
        "TypeError is for the wrong kind of thing, ValueError for a wrong value of the right kind.",
        ARGUMENT,
    ),
    # what is not accepted
    belief(
        "a_library_may_do_it",
        "struct, NumPy or torch can do this, so I call them.",
        "It is what this exercise builds. Test yours with struct and NumPy; torch rounds a float64 through fp32.",
        ENCODING,
    ),
)
