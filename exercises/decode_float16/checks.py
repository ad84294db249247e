"""What is graded about ``decode_float16``, and the beliefs behind its known wrong answers.

Each check looks at one kind of pattern, so that a mistake in one kind leaves the points of the others: negative
numbers are compared with the student's own positive ones. The last check on values, ``every_pattern``, tries all
65,536 and asks for a float of exactly the right value; the others also take an int for a whole number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.checks import Check, Misconception, Mismatch, Outcome, calls, case, each_call, each_item, kind_of
from autograder.models import Case, Observation

PAGE = "book/01_sixteen_bits.html#"
PATTERN, FIELDS, SUBNORMAL = PAGE + "one-pattern", PAGE + "if-the-fields", PAGE + "if-subnormal"
SPECIAL, ARGUMENT, FAILS = PAGE + "if-special", PAGE + "if-the-argument", PAGE + "if-decoding-fails"
FORMATS = PAGE + "where-the-bits-go"

Arguments = Mapping[str, Any]

# ------------------------------------------------------------------------- comparing
# These see claims of the student's process: any plain value may come, and none may make them raise.


def is_number(value: Any) -> bool:
    """Return whether it is an int or a float, and no bool."""
    return type(value) in (int, float)


def same(mine: float, theirs: float) -> bool:
    """Return whether two numbers are equal, nan and nan too; zeros are, whatever their signs."""
    return mine == theirs or (math.isnan(theirs) and type(mine) is float and math.isnan(mine))


def fields(bits: int) -> str:
    """Return a pattern as a clause: its hexadecimal digits and its three fields."""
    exponent, fraction = bits >> 10 & 31, bits & 1023
    text = f"{bits:016b}"
    return f"0x{bits:04x} is {text[0]} {text[1:6]} {text[6:]}: exponent field {exponent}, fraction field {fraction}"


def meaning(bits: int, want: float) -> str:
    """Return a clause on how a pattern comes to its value."""
    exponent, fraction = bits >> 10 & 31, bits & 1023
    minus = "-" if bits >> 15 else ""
    if exponent == 31:
        return f"which stands for {want!r}"
    if bits & 0x7FFF == 0:
        return f"which stands for {want!r}: a zero has a sign, too"
    if exponent == 0:
        return f"which stands for {minus}{fraction}/1024 * 2**-14 = {want!r}"
    return f"which stands for {minus}(1 + {fraction}/1024) * 2**{exponent - 15} = {want!r}"


def same_value(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """The value is right; the sign of a zero, and float or int, are judged elsewhere."""
    return wrong_value(arguments, got.returned, want.returned)


def wrong_value(arguments: Arguments, mine: Any, theirs: float) -> str | None:
    """Return a sentence unless it is the right number."""
    bits = arguments["bits"]
    if not is_number(mine):
        return f"it returned {kind_of(mine)}, not a float; {fields(bits)}, {meaning(bits, theirs)}"
    return None if same(mine, theirs) else f"{fields(bits)}, {meaning(bits, theirs)}, not {mine!r}"


def same_zero(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """A zero with the right sign; an int has none."""
    found = same_value(arguments, got, want)
    if found or math.copysign(1.0, got.returned) == math.copysign(1.0, want.returned):
        return found
    bits = arguments["bits"]
    of = "" if type(got.returned) is float else ": the int 0 has no sign, and -0 is 0"
    return f"{fields(bits)}, {meaning(bits, want.returned)}; it returned {got.returned!r}{of}"


def mirrored(case: Case, observed: Observation, expected: Observation) -> Mismatch | None:
    """The pattern with the sign bit set gives the negative of what the pattern without it gave, whatever that was."""
    if mismatch := each_call(number_at_all)(case, observed, expected):
        return mismatch
    positive, negative = (outcome.returned for outcome in observed.outcomes)
    bits = case.calls[0]["bits"]
    if not positive > 0:
        return Mismatch(f"{fields(bits)}: with a sign bit of 0 it is above zero, and not {positive!r}")
    if negative == -positive:
        return None
    text = f"0x{bits | 0x8000:04x} is 0x{bits:04x} with the sign bit set, so it is -({positive!r}), not {negative!r}"
    return replace(Mismatch(text), call=1)


def number_at_all(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """It is a number, and no nan."""
    if is_number(got.returned) and got.returned == got.returned:
        return None
    return wrong_value(arguments, got.returned, want.returned) or "it is nan"


def exactly(arguments: Arguments, mine: Any, theirs: Any) -> str | None:
    """A float of the right value, its sign included."""
    if found := wrong_value(arguments, mine, theirs):
        return found
    if type(mine) is not float:
        return f"it returned {mine!r}, {kind_of(mine)}; every result is a float, as {theirs!r} is"
    if not math.isnan(theirs) and math.copysign(1.0, mine) != math.copysign(1.0, theirs):
        return f"{fields(arguments['bits'])}, {meaning(arguments['bits'], theirs)}; it returned {mine!r}"
    return None


def never(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Where the reference raises there is nothing to compare."""
    return None


# ---------------------------------------------------------------------------- checks


def one(name: str, bits: Any) -> Case:
    return case(name, bits=bits)


def both(name: str, bits: int) -> Case:
    return calls(name, {"bits": bits}, {"bits": bits | 0x8000})


CHECKS = (
    Check(
        id="normals",
        title="Decodes the normal numbers: one and a fraction, times a power of two",
        points=2.0,
        rule="With an exponent field e from 1 to 30 the number is (1 + f / 1024) * 2 ** (e - 15): the one in front of "
        "the fraction is not stored, and 15 is the bias.",
        see=FIELDS,
        judge=each_call(same_value),
        cases=(
            one("one", 0x3C00),
            one("two", 0x4000),
            one("one and a half", 0x3E00),
            one("the next number after one", 0x3C01),
            one("the last number before one", 0x3BFF),
            one("a hundred", 0x5640),
            one("a tenth, as near as it gets", 0x2E66),
            one("every bit of the fraction differs from its neighbor", 0x3D55),
            one("the largest", 0x7BFF),
            one("the smallest normal number", 0x0400),
            one("the next after the smallest normal number", 0x0401),
            one("the first with a gap of one", 0x6400),
        ),
    ),
    Check(
        id="negatives",
        title="Reads the sign from the highest bit, and nothing else from it",
        points=1.0,
        rule="The highest bit is the sign: with it set, the rest stands for the same number, below zero. (Whether your "
        "positive number is right is for other checks.)",
        see=FIELDS,
        judge=mirrored,
        cases=(
            both("minus one", 0x3C00),
            both("the next number after minus one", 0x3C01),
            both("minus a hundred", 0x5640),
            both("the lowest", 0x7BFF),
            both("the smallest normal number, negative", 0x0400),
        ),
    ),
    Check(
        id="subnormals",
        title="Decodes the subnormal numbers: no leading one, and 2**-14",
        points=2.0,
        rule="With an exponent field of 0 there is no leading one, and the exponent is that of the smallest normal "
        "numbers: f / 1024 * 2 ** -14, which is f * 2 ** -24.",
        see=SUBNORMAL,
        judge=each_call(same_value),
        cases=(
            one("the smallest", 0x0001),
            one("the next after the smallest", 0x0002),
            one("half of the smallest normal number", 0x0200),
            one("the largest subnormal number", 0x03FF),
            one("every second bit", 0x0155),
            one("0.00001, as near as it gets", 0x00A8),
            one("the smallest, negative", 0x8001),
            one("the largest subnormal number, negative", 0x83FF),
        ),
    ),
    Check(
        id="zeros",
        title="Tells 0.0 from -0.0",
        points=1.0,
        rule="All fifteen bits below the sign 0 is zero, and there are two: 0x0000 is 0.0 and 0x8000 is -0.0. They are "
        "equal, and 1 / x would tell them apart.",
        see=SPECIAL,
        judge=each_call(same_zero),
        cases=(one("zero", 0x0000), one("minus zero", 0x8000)),
    ),
    Check(
        id="infinities",
        title="Decodes the two infinities",
        points=1.0,
        rule="An exponent field of 31 is no exponent: with a fraction field of 0 it is infinity, with the sign of the "
        "highest bit. That is what an overflow leaves.",
        see=SPECIAL,
        judge=each_call(same_value),
        cases=(one("infinity", 0x7C00), one("minus infinity", 0xFC00)),
    ),
    Check(
        id="nans",
        title="Decodes every other pattern with an exponent field of 31 as nan",
        points=1.0,
        rule="An exponent field of 31 with any fraction field but 0 is nan, whichever bits of it are set and whatever "
        "the sign: 2046 patterns, all of them nan.",
        see=SPECIAL,
        judge=each_call(same_value),
        cases=(
            one("a nan that arithmetic makes", 0x7E00),
            one("the lowest bit alone", 0x7C01),
            one("all bits set but the sign", 0x7FFF),
            one("the largest fraction without its top bit", 0x7DFF),
            one("with a sign", 0xFE00),
            one("the lowest bit alone, with a sign", 0xFC01),
            one("all bits set", 0xFFFF),
        ),
    ),
    Check(
        id="every_pattern",
        title="Gives a float for each of the 65,536 patterns, exactly the right one",
        points=1.0,
        rule="Every one of the 65,536 patterns is tried. The result is a float, for whole numbers too, and exact to "
        "the last bit, the sign of zero included.",
        see=FAILS,
        scenario="each",
        judge=each_item(exactly),
        cases=tuple(
            case(f"from 0x{start:04x} to 0x{start + 0xFFF:04x}", bits=list(range(start, start + 0x1000)))
            for start in range(0, 0x10000, 0x1000)
        ),
    ),
    Check(
        id="refuses_other_types",
        title="Raises TypeError for what is no int, and for a bool",
        points=0.5,
        rule="A pattern is an int. Anything else raises TypeError; so does a bool, although Python counts it among the "
        "ints: True is an answer to a question, not a pattern.",
        see=ARGUMENT,
        judge=each_call(never),
        cases=(
            one("a float", 15360.0),
            one("True", True),
            one("False", False),
            one("a text", "15360"),
            one("None", None),
            one("a list of digits", list("0011110000000000")),
        ),
    ),
    Check(
        id="refuses_other_numbers",
        title="Raises ValueError for ints that no 16 bits hold",
        points=0.5,
        rule="Sixteen bits hold the ints from 0 to 65535. Any other int raises ValueError: cutting it down to 16 bits "
        "would decode something that nobody wrote.",
        see=ARGUMENT,
        judge=each_call(never),
        cases=(
            one("one too many", 65536),
            one("minus one", -1),
            one("sixteen bits and one more", 0x13C00),
            one("the lowest of a signed 16-bit int", -32768),
            one("the negative of a pattern", -15360),
            one("a large one", 2**40),
        ),
    ),
)

# ---------------------------------------------------------------------------- beliefs


def belief(name: str, belief: str, truth: str, see: str) -> Misconception:
    return Misconception(name, belief, truth, see)


MISCONCEPTIONS = (
    # the normal numbers
    belief(
        "bias_is_half_of_32",
        "Five bits hold 32 values, so the bias is 16.",
        "It is 15: the field 15 stands for 2**0. Two of the 32 values, 0 and 31, are no ordinary exponents, and the "
        "other thirty reach from 2**-14 to 2**15.",
        FIELDS,
    ),
    belief(
        "bias_is_127",
        "The bias is 127.",
        "That is fp32's, with its 8 bits of exponent, and bfloat16's. With 5 bits it is 15: one less than half of 32.",
        FIELDS,
    ),
    belief(
        "exponent_field_is_the_exponent",
        "The exponent field is the exponent.",
        "Then no normal number would be below 2. The field has no sign; 15 is taken off it, so that it reaches both "
        "ways.",
        FIELDS,
    ),
    belief(
        "exponent_field_is_signed",
        "The exponent is a signed number, in two's complement.",
        "It is stored with a bias: the exponent plus 15, never negative. So larger numbers have larger patterns, and "
        "halves can be sorted as if they were ints.",
        FIELDS,
    ),
    belief(
        "fraction_is_the_significand",
        "The ten bits are all the digits that there are.",
        "A normal number begins with a one, so that one is not stored: eleven digits in ten bits. Without it 0x3c00 "
        "would be 0.",
        PATTERN,
    ),
    belief(
        "ten_ones_are_a_whole",
        "Ten bits reach to 1023, so the fraction is f / 1023.",
        "Each bit is half of the one before it, from 1/2 down to 1/1024, so the fraction is f / 1024 and stays below "
        "1. With 1023 the largest fraction would be a whole, and two patterns the same number.",
        FIELDS,
    ),
    belief(
        "fraction_is_decimal_digits",
        "The fraction field gives the digits after the point.",
        "It gives binary digits. A field of 512 is the bit of one half, not 0.512.",
        FIELDS,
    ),
    belief(
        "exponent_is_of_ten",
        "An exponent is a power of ten, as in 1e-8.",
        "In 1e-8 it is. In binary formats it is a power of two: 2**(e - 15).",
        FIELDS,
    ),
    belief(
        "all_halves_are_alike",
        "Sixteen-bit floats are laid out as 1 + 8 + 7 bits.",
        "That is bfloat16: fp32's exponent, with little left for the fraction. fp16 has 1 + 5 + 10: less range, more "
        "precision.",
        FORMATS,
    ),
    belief(
        "the_five_are_four",
        "The mask of the exponent is 0xF.",
        "0xF is four bits. Five are 0x1F; without the fifth a field of 16 reads as 0, and 2.0 as zero.",
        FIELDS,
    ),
    belief(
        "low_byte_first",
        "The bytes have to be swapped first.",
        "They are swapped in memory and files of most machines. An int has no byte order: its highest bit is bit 15.",
        FIELDS,
    ),
    belief(
        "bits_are_a_number",
        "The bits are the number.",
        "They are if you read them as a 16-bit int. A float's bits are three fields, put together by a formula.",
        FIELDS,
    ),
    belief(
        "four_places_are_enough",
        "Rounding to a few places makes it tidy.",
        "Halves go down to 2**-24 = 0.00000006, and every one of them is a float, exactly. Rounding to four places "
        "changes about two thirds of them.",
        FIELDS,
    ),
    # the sign
    belief(
        "sign_is_in_the_exponent",
        "The sign is already in the exponent.",
        "The exponent's sign makes a number small or large. Whether it is below zero says the highest bit alone.",
        FIELDS,
    ),
    belief(
        "negatives_are_complements",
        "Negative numbers are stored in two's complement.",
        "Ints are. A float has a sign bit beside its size, so -x differs from x in that one bit.",
        FIELDS,
    ),
    belief(
        "negatives_are_inverted",
        "A negative number has all its bits inverted.",
        "Only the sign bit differs. -1.0 is 0xbc00, and 1.0 is 0x3c00.",
        FIELDS,
    ),
    belief(
        "a_one_means_plus",
        "A sign bit of 1 means plus.",
        "It means minus: zero bits all over are the number 0.0, and small patterns are positive numbers.",
        FIELDS,
    ),
    # the subnormal numbers
    belief(
        "there_is_always_a_leading_one",
        "Every number has the leading one.",
        "With an exponent field of 0 there is none. That is what lets numbers go on below 2**-14 down to 2**-24, in "
        "even steps, instead of ending with a hole around zero.",
        SUBNORMAL,
    ),
    belief(
        "field_zero_means_minus_15",
        "An exponent field of 0 means 2**(0 - 15).",
        "It means 2**-14, as a field of 1 does; only the leading one is missing. So the largest subnormal, 1023 * "
        "2**-24, is one step below the smallest normal, 1024 * 2**-24.",
        SUBNORMAL,
    ),
    belief(
        "subnormals_are_zero",
        "Numbers below 2**-14 are zero.",
        "Some hardware flushes them to zero. The format holds 1023 of them on either side, and small gradients live "
        "there.",
        SUBNORMAL,
    ),
    belief(
        "subnormals_have_no_sign",
        "The sign matters for normal numbers only.",
        "The sign bit means the same everywhere: 0x8001 is -2**-24.",
        SUBNORMAL,
    ),
    belief(
        "smallest_is_two_to_minus_14",
        "The smallest number is 2**-14.",
        "That is the smallest normal one. Below it come 1023 subnormal ones, the smallest of them 2**-24.",
        SUBNORMAL,
    ),
    belief(
        "subnormals_are_not_numbers",
        "An exponent field of 0 with a fraction is not a number.",
        "That is an exponent field of 31. With 0 it is a number like any other, with fewer digits.",
        SUBNORMAL,
    ),
    # zeros
    belief(
        "there_is_one_zero",
        "Zero is zero.",
        "There are two, equal to each other: the sign tells from which side something vanished. 1 / -0.0 would be "
        "minus infinity.",
        SPECIAL,
    ),
    belief(
        "minus_times_zero_is_minus_zero",
        "-1 * 0 keeps the sign.",
        "-1.0 * 0.0 does. In ints -1 * 0 is 0, and a float made from that is 0.0.",
        SPECIAL,
    ),
    belief(
        "zero_follows_the_formula",
        "Zero needs no case of its own: it follows the formula of the normal numbers.",
        "That formula has a one in front and never gives 0: it makes 2**-15 of 0x0000. The formula of the subnormal "
        "numbers gives zero.",
        SPECIAL,
    ),
    # infinities and nans
    belief(
        "all_ones_is_one_binade_more",
        "An exponent field of 31 is 2**16.",
        "It would be, and the largest number 131008. fp16 gives these patterns to infinity and nan, so its largest "
        "number is 65504. (fp8 E4M3 keeps almost all of them for numbers.)",
        SPECIAL,
    ),
    belief(
        "all_ones_is_inf",
        "An exponent field of 31 is infinity.",
        "With a fraction field of 0. With any other it is nan, and a nan is no overflow: inf - inf, 0 * inf and the "
        "like make it.",
        SPECIAL,
    ),
    belief(
        "all_ones_is_nan",
        "An exponent field of 31 is nan.",
        "With a fraction field of 0 it is infinity, which has a sign and can be compared.",
        SPECIAL,
    ),
    belief(
        "infinity_has_no_sign",
        "Infinity is beyond sign.",
        "There are two: 0x7c00 and 0xfc00. A check for an overflow that knows one of them misses the other.",
        SPECIAL,
    ),
    belief(
        "largest_is_65504_so_inf_is_too",
        "Nothing is larger than 65504.",
        "No finite half is. The pattern after it is infinity, and that is how an overflow can be found at all.",
        SPECIAL,
    ),
    belief(
        "there_is_one_nan",
        "There is one nan.",
        "There are 2046 patterns for it in fp16. Arithmetic mostly makes 0x7e00 or 0xfe00, and a file may hold any.",
        SPECIAL,
    ),
    belief(
        "top_fraction_bit_makes_the_nan",
        "The top bit of the fraction tells nan from infinity.",
        "It tells quiet nans from signaling ones. Any bit of the fraction makes it a nan.",
        SPECIAL,
    ),
    belief(
        "no_number_is_none",
        "Not a number is None.",
        "nan is a float, math.nan, and arithmetic goes on with it. None has no arithmetic.",
        SPECIAL,
    ),
    belief(
        "nan_is_an_error",
        "A nan is an error, so it has to be raised.",
        "It is a value that the format can hold, and decoding it succeeds. Whether it is an error is for those to "
        "judge who know where it came from.",
        SPECIAL,
    ),
    # the whole table
    belief(
        "whole_numbers_are_ints",
        "A whole number is better shown as an int.",
        "1 and 1.0 are equal, but a function that returns sometimes one and sometimes the other surprises the code "
        "that reads it. How a number is shown is a matter for whoever prints it.",
        FAILS,
    ),
    belief(
        "range_includes_its_end",
        "range(1023) counts to 1023.",
        "It ends at 1022: 1023 numbers, from 0. A table that is built with it lacks the last of every power of two.",
        FAILS,
    ),
    # other arguments
    belief(
        "a_bool_is_an_int",
        "True and False are no ints, so they do not get through.",
        "bool is a subclass of int: True passes isinstance(x, int), and counts as 1 where nothing is asked. Ask for a "
        "bool as well, or compare type(x) with int.",
        ARGUMENT,
    ),
    belief(
        "int_makes_an_int_of_it",
        "int(bits) takes care of the type.",
        "It turns 15360.7 into 15360 and a text into a number, so a mistake of the caller's goes on as if it were a "
        "pattern.",
        ARGUMENT,
    ),
    belief(
        "a_bad_argument_is_a_value_error",
        "Whatever is wrong with an argument is a ValueError.",
        "Python tells the two apart: TypeError where it is the wrong kind of thing, ValueError where the kind is right "
        "and the value is not.",
        ARGUMENT,
    ),
    belief(
        "a_bad_argument_is_a_type_error",
        "Whatever is wrong with an argument is a TypeError.",
        "70000 is of the right type: it is an int. Its value is out of range, which is a ValueError.",
        ARGUMENT,
    ),
    belief(
        "assert_checks_arguments",
        "assert is how arguments are checked.",
        "An assertion states what cannot happen, raises AssertionError, and is left out when Python runs with -O. For "
        "a caller's mistake raise TypeError or ValueError.",
        ARGUMENT,
    ),
    belief(
        "higher_bits_do_not_matter",
        "bits & 0xFFFF makes 16 bits of anything.",
        "It does, and hides that there were more: 0x13c00 would be 1.0, although nobody wrote that.",
        ARGUMENT,
    ),
    belief(
        "callers_know_what_they_pass",
        "Nobody passes anything but a pattern.",
        "Those who do get a number that looks right: 65536 decodes as -0.0 and -1 as nan. An error says where the "
        "mistake is.",
        ARGUMENT,
    ),
    belief(
        "minus_one_is_all_ones",
        "A negative int is its two's complement.",
        "It is in a signed 16-bit int, such as torch.int16. Python's ints have no width, so the contract is 0 to "
        "65535; who has an int16 adds 65536 to the negative ones.",
        ARGUMENT,
    ),
    belief(
        "sixteen_bits_reach_65536",
        "Sixteen bits reach to 2**16.",
        "They hold 2**16 values, and the first is 0: the last is 65535.",
        ARGUMENT,
    ),
    # what is not accepted
    belief(
        "a_library_may_do_it",
        "struct, NumPy or torch can do this, so I call them.",
        "They do it by this very formula, which is what the exercise is about. Use them to test yours with.",
        PATTERN,
    ),
)
