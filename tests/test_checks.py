"""Inputs, comparisons and verdicts: what agrees, what differs, and the very words in which a student is told."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import FLOATS, INTS, VALUES

from autograder.checks import (
    calls,
    case,
    close,
    differ,
    each_call,
    each_item,
    f32,
    f64,
    full,
    judge_check,
    kind_of,
    outlives,
    patterns,
    real,
    show_calls,
    tensor,
    with_misconception,
)
from autograder.models import (
    Case,
    Check,
    CheckResult,
    Misconception,
    Mismatch,
    Observation,
    Opaque,
    Outcome,
    Raised,
    Scalar,
    Tensor,
)
from autograder.observations import digest
from autograder.values import rounded

INF, NAN = math.inf, math.nan

# ----------------------------------------------------------------------------- inputs


@pytest.mark.parametrize(
    ("made", "shape", "values"),
    [
        (tensor(2.0), (), (2.0,)), (tensor([]), (0,), ()), (tensor([[], []]), (2, 0), ()), (tensor([[]]), (1, 0), ()),
        (tensor([1, 2]), (2,), (1.0, 2.0)), (tensor(((1, 2, 3), (4, 5, 6))), (2, 3), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),
        (tensor([[[1], [2]]], "int64"), (1, 2, 1), (1, 2)), (tensor([True], "bool"), (1,), (True,)),
        (f32(), (0,), ()), (f64(0.1), (1,), (0.1,)), (f32(0.1), (1,), (rounded(0.1, "float32"),)),
        (tensor(1e5, "float16"), (), (INF,)), (tensor([0.1], "bfloat16"), (1,), (0.10009765625,)),
        (full(3, 1.0, at_1=NAN), (3,), (1.0, NAN, 1.0)), (full(3, 1.0, "float64", at_last=2.0), (3,), (1.0, 1.0, 2.0)),
    ],
)  # fmt: skip
def test_tensors_from_nested_lists(made: Tensor, shape: tuple[int, ...], values: tuple[Any, ...]):
    assert (made.shape, repr(made.values)) == (shape, repr(values))


def test_options_of_a_tensor():
    assert f32(1.0, strided=True, share="w") == Tensor("float32", (1,), (1.0,), "torch", True, "w")
    assert f64(1.0, library="numpy") == Tensor("float64", (1,), (1.0,), "numpy")


def test_patterns_are_bits():
    assert patterns([[1], [2**16 - 1]], "float16", strided=True) == Tensor(
        "float16", (2, 1), (1, 65535), strided=True, bits=True
    )


@pytest.mark.parametrize(
    ("bits", "dtype", "text"),
    [
        ([2**16], "bfloat16", "no pattern of 16 bits"), ([-1], "float32", "no pattern of 32 bits"),
        ([1.0], "float32", "no pattern"), ([True], "float64", "no pattern"), ([1], "int32", "are not given by bits"),
    ],
)  # fmt: skip
def test_what_is_no_pattern_is_refused(bits: Any, dtype: str, text: str):
    with pytest.raises(ValueError, match=text):
        patterns(bits, dtype)


@pytest.mark.parametrize(
    "ragged",
    [
        [[1, 2], [3]],
        [[1], [2, 3], []],
        [[1, 2], 3],
        [1, [2]],
        [[], [1]],
        [[[1], [2]], [[3], 4]],
        [[[1, 2]], [[3], [4]]],
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_ragged_rows_are_refused(ragged: Any, dtype: str):
    with pytest.raises(ValueError, match=r"rows of different lengths|elements that are not numbers"):
        tensor(ragged, dtype)


def test_an_unknown_dtype_and_an_element_that_is_no_number_are_refused():
    with pytest.raises(ValueError, match="there is no dtype 'float23'; there are bfloat16, bool,"):
        tensor([1.0], "float23")
    with pytest.raises(ValueError, match="elements that are not numbers: None"):
        tensor(None)  # type: ignore[arg-type]


def test_cases_and_calls():
    assert case("an argument may be called name", name=1, self=2) == Case(
        "an argument may be called name", ({"name": 1, "self": 2},)
    )
    assert calls("two", {"x": 1}, {"x": 2}).calls == ({"x": 1}, {"x": 2})


# ------------------------------------------------------------------------- comparison

SAME: list[tuple[Any, Any]] = [
    (None, None), (True, True), (3, 3), ("a", "a"), (NAN, NAN), (0.0, -0.0), (INF, INF), ([], []), ((), ()), ({}, {}),
    ([1.0, NAN], [1.0, NAN]), ({"b": 1, "a": 2}, {"a": 2, "b": 1}), ((1, [True, {"k": "v"}]), (1, [True, {"k": "v"}])),
    (f32(NAN, INF, 0.0), f32(NAN, INF, -0.0)), (tensor([[], []]), tensor([[], []])),
    (Scalar("float32", NAN), Scalar("float32", NAN)), (Scalar("bool", True), Scalar("bool", True)),
    (Opaque("T", "x"), Opaque("T", "x")), ([f32(1.0)] * 3, [f32(1.0)] * 3), ([1.0] * 1000, [1.0] * 1000),
]  # fmt: skip


@pytest.mark.parametrize(("got", "want"), SAME)
def test_what_agrees(got: Any, want: Any):
    assert differ(got, want) is None


@pytest.mark.parametrize(
    ("got", "want", "text"),
    [
        # kinds
        (None, 1.0, "it is None (None), not 1.0 (a float)"),
        (1.0, None, "it is 1.0 (a float), not None (None)"),
        (1, 1.0, "it is 1 (an int), not 1.0 (a float)"),
        (True, 1, "it is True (a bool), not 1 (an int)"),
        (1, True, "it is 1 (an int), not True (a bool)"),
        ([True, True], [True, 1], "it[1] is True (a bool), not 1 (an int)"),
        ([1.0] * 50 + [1], [1.0] * 51, "it[50] is 1 (an int), not 1.0 (a float)"),
        ((1,), [1], "it is a tuple, not a list"),
        ([1], (1,), "it is a list, not a tuple"),
        (None, [1], "it is None, not a list"),
        ([], {}, "it is a list, not a dict"),
        (Opaque("generator", ""), [1], "it is a generator, not a list"),
        (Opaque("OrderedDict", ""), {}, "it is an OrderedDict, not a dict"),
        ([1.0], f32(1.0), "it is a list, not a tensor"),
        (Opaque("tensor of complex64", ""), f32(1.0), "it is a tensor of complex64, not a tensor"),
        (f64(1.0, library="numpy"), f64(1.0), "it is a NumPy array, not a tensor"),
        (f64(1.0), f64(1.0, library="numpy"), "it is a tensor, not a NumPy array"),
        (Scalar("float64", 1.0), 1.0, "it is numpy.float64(1.0) (a numpy.float64), not 1.0 (a float)"),
        (Scalar("float64", 1.0), Scalar("float32", 1.0), "it is numpy.float64(1.0), not numpy.float32(1.0)"),
        (Opaque("A", "x"), Opaque("B", "x"), "it is <A: x>, not <B: x>"),
        # values
        (1.0, 2.0, "it is 1.0, not 2.0"),
        (1, 2, "it is 1, not 2"),
        (True, False, "it is True, not False"),
        ("a", "b", "it is 'a', not 'b'"),
        (NAN, 1.0, "it is nan, not 1.0"),
        (1.0, NAN, "it is 1.0, not nan"),
        (INF, -INF, "it is inf, not -inf"),
        (1e308, INF, "it is 1e+308, not inf"),
        (INF, 1e308, "it is inf, not 1e+308"),
        (Scalar("float32", 1.0), Scalar("float32", 2.0), "it is numpy.float32(1.0), not numpy.float32(2.0)"),
        # places
        ([1, 2], [1, 2, 3], "it has 2 items, not 3"),
        ([1], [], "it has 1 item, not 0"),
        ([1, [2, (3,)]], [1, [2, (4,)]], "it[1][1][0] is 3, not 4"),
        ({"a": [1]}, {"a": [2]}, "it['a'][0] is 1, not 2"),
        ({"b": 1, "a": 1}, {"a": 1}, "it has the keys ['a', 'b'], not ['a']"),
        # tensors
        (f64(1.0), f32(1.0), "it has dtype float64, not float32"),
        (tensor([[1.0]]), f32(1.0), "it has shape (1, 1), not (1,)"),
        (tensor([1.0]), tensor(1.0), "it has shape (1,), not ()"),
        (tensor(1.0), tensor(2.0), "it is 1.0, not 2.0"),
        (f32(1.0, 0.1), f32(1.0, 0.2), "it[1] is 0.1, not 0.2"),
        (f32(0.1), f32(0.1 + 1e-8), "it[0] is 0.1, not 0.10000001"),
        (tensor([[1.0, 2.0], [3.0, 5.0]]), tensor([[1.0, 2.0], [3.0, 4.0]]), "it[1, 1] is 5.0, not 4.0"),
        (tensor([True], "bool"), tensor([False], "bool"), "it[0] is True, not False"),
        (tensor([2**62], "int64"), tensor([2**62 + 1], "int64"), f"it[0] is {2**62}, not {2**62 + 1}"),
        (f32(NAN), f32(1.0), "it[0] is nan, not 1.0"),
        ([f32(1.0), f32(2.0)], [f32(1.0), f32(3.0)], "it[1][0] is 2.0, not 3.0"),
    ],
)  # fmt: skip
def test_the_first_difference_in_words(got: Any, want: Any, text: str):
    assert differ(got, want) == text
    assert differ(got, want, where="the scale") == text.replace("it", "the scale", 1)


EDGES = [
    (1.5, 1.0, 0.5, 0.0, True), (math.nextafter(1.5, 2), 1.0, 0.5, 0.0, False), (0.5, 1.0, 0.5, 0.0, True),
    (1.5, 2.0, 0.25, 0.0, True), (2.0, 1.5, 0.25, 0.0, False),  # relative to what is wanted
    (0.25, 0.0, 0.0, 0.25, True), (0.25, 0.0, 1.0, 0.0, False), (-0.25, 0.0, 0.0, 0.25, True),
    (1.75, 1.0, 0.5, 0.25, True), (math.nextafter(1.75, 2), 1.0, 0.5, 0.25, False), (1.0, -1.0, 1.0, 0.0, False),
    (INF, 1e308, 1.0, 0.0, False), (1e308, INF, 1.0, 0.0, False), (NAN, 0.0, 1.0, 1.0, False),
    (0.0, NAN, 1.0, 1.0, False), (-1e308, 1e308, 1.0, 0.0, False), (2**53 + 1, 2**53, 0.0, 0.0, False),
    (10**400, 5, 1.0, 0.0, False), (10**400, 10**400, 0.0, 0.0, True), (10**400, 1.0, 1.0, 0.0, False),
    (1.0, 10**400, 0.0, 0.0, False), (-(10**400), NAN, 0.0, 0.0, False), (10**400 + 1, 10**400, 0.5, 0.0, False),
]  # fmt: skip


@pytest.mark.parametrize(("got", "want", "rtol", "atol", "same"), EDGES, ids=range(len(EDGES)))
def test_tolerance_at_its_edges(got: float, want: float, rtol: float, atol: float, same: bool):
    assert close(got, want, rtol, atol) is same


def test_tolerance_reaches_every_number():
    for got, want in [
        (1.0 + 1e-9, 1.0), ([1.0 + 1e-9], [1.0]), ({"a": (1.0 + 1e-9,)}, {"a": (1.0,)}), (f64(1.0 + 1e-9), f64(1.0)),
        (Scalar("float64", 1.0 + 1e-9), Scalar("float64", 1.0)),
    ]:  # fmt: skip
        assert differ(got, want, rtol=1e-6) is None
        assert differ(got, want) is not None


@given(VALUES)
def test_every_value_agrees_with_itself(value: Any):
    assert differ(value, value) is None


@given(VALUES, VALUES, FLOATS.filter(lambda x: x >= 0), FLOATS.filter(lambda x: x >= 0))
@settings(max_examples=120)
def test_nothing_that_comes_back_makes_a_comparison_raise(got: Any, want: Any, rtol: float, atol: float):
    found = differ(got, want, rtol=rtol, atol=atol)
    assert found is None or (type(found) is str and found.startswith("it"))
    if repr(got) == repr(want):
        assert differ(got, want) is None


HUGE = INTS | st.integers() | st.sampled_from([10**400, -(10**400)])


@given(HUGE | FLOATS, HUGE | FLOATS, st.floats(0, 1), st.floats(0, 1))
def test_nor_do_huge_integers(got: Any, want: Any, rtol: float, atol: float):
    assert close(got, want, rtol, atol) in (True, False)
    assert close(got, got)
    differ(got, want)


def test_a_strangers_names_are_cut():
    assert len(str(differ(Opaque("T" * 10_000, ""), [1]))) < 200
    assert len(str(differ({"k" * 1000 + str(n): 1 for n in range(1000)}, {"a": 1}))) < 2000
    assert len(str(differ(Opaque("T" * 9000, ""), 1))) < 5000


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "None"), (1, "an int"), (1.0, "a float"), (True, "a bool"), ("", "a str"), ([], "a list"),
        (f32(), "a tensor"), (f32(library="numpy"), "a NumPy array"), (Scalar("float16", 1.0), "a numpy.float16"),
        (Opaque("Decimal", "1"), "a Decimal"), (Opaque("ellipsis", ""), "an ellipsis"),
        (Opaque("", ""), "a nameless object"),
    ],
)  # fmt: skip
def test_kinds(value: Any, kind: str):
    assert kind_of(value) == kind


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0), (-2.5, -2.5), (10**400, INF), (-(10**400), -INF), (Scalar("float32", 0.5), 0.5),
        (Scalar("int64", 7), 7.0), (tensor(4.0), 4.0), (tensor(3, "int64"), 3.0), (tensor(1.0, library="numpy"), 1.0),
        (True, None), (Scalar("bool", True), None), (tensor(True, "bool"), None), (f32(1.0), None), (f32(), None),
        (None, None), ("1", None), ([1.0], None), ({}, None), (Opaque("complex", "1j"), None),
        (Tensor("float32", (), ()), None),
    ],
)  # fmt: skip
def test_what_stands_for_one_number(value: Any, number: float | None):
    assert real(value) == number
    assert type(real(value)) in (float, type(None))


def test_nan_stands_for_itself():
    assert math.isnan(real(tensor(NAN)))


# ----------------------------------------------------------------------------- judges


def same(arguments: Any, got: Outcome, want: Outcome) -> str | None:
    return differ(got.returned, want.returned)


def make(judge: Any = None, **more: Any) -> Check:
    return Check(
        "halves", "Halves x", 2.0, (case("one", x=1.0),), judge or each_call(same), "Half of x is x / 2.",
        "book/a.html#b", **more,
    )  # fmt: skip


def seen(*outcomes: Any, **more: Any) -> Observation:
    made = (item if isinstance(item, Outcome) else Outcome(item) for item in outcomes)
    return Observation(tuple(made), **more)


def verdict(observed: Observation, expected: Observation, tried: Case | None = None, judge: Any = None) -> CheckResult:
    result, _ = judge_check(make(judge), "halve", [(tried or case("one", x=1.0), observed, expected)])
    return result


def error(name: str, message: str = "", **place: Any) -> Outcome:
    return Outcome(raised=Raised(name, message, **place))


def test_a_check_that_passes():
    result, marks = judge_check(make(), "halve", [(case("one", x=1.0), seen(0.5), seen(0.5))] * 3)
    assert result == CheckResult("halves", "Halves x", 2.0, 2.0, "passed", see="book/a.html#b")
    assert marks == (".", ".", ".")


def test_the_first_failing_case_is_shown_and_all_are_marked():
    tried = [
        (case("zero", x=0.0), seen(0.0), seen(0.0)),
        (case("one", x=1.0), seen(1.0), seen(0.5)),
        (case("two", x=2.0), seen(1.0), seen(1.0)),
        (case("three", x=3.0), seen(3.0), seen(1.5)),
    ]
    result, marks = judge_check(make(), "halve", iter(tried))
    assert (result.case, result.call, result.returned, result.expected) == ("one", "halve(x=1.0)", "1.0", "0.5")
    assert (result.earned, result.points, result.status) == (0.0, 2.0, "failed")
    assert marks == (".", digest(seen(1.0)), ".", digest(seen(3.0)))


def test_the_first_failing_call_is_shown_with_those_before_it():
    both = calls("twice", {"x": 1.0}, {"x": f32(2.0)}, {"x": 3.0})
    result = verdict(seen(0.5, 2.0, 3.0), seen(0.5, 1.0, 1.5), both)
    assert result.call == "halve(x=1.0)\nhalve(x=tensor([2.0]))"
    assert result.returned == "2.0"
    assert show_calls("halve", both, 2).count("\n") == 2


def of_each(observed: Observation, expected: Observation, tried: Case) -> CheckResult:
    """Return the verdict of a check that makes many calls a case and wants them equal."""
    judge = each_item(lambda arguments, got, want: None if got == want else f"half of {arguments['x']} is {want}")
    check = Check("halves", "Halves", 2.0, (tried,), judge, "Half of x is x / 2.", "", scenario="each")
    return judge_check(check, "halve", [(tried, observed, expected)])[0]


def test_of_many_calls_the_first_that_differs_is_shown_by_itself():
    many = case("many", x=[1.0, 2.0, 3.0])
    assert of_each(seen([0.5, 1.0, 1.5]), seen([0.5, 1.0, 1.5]), many).status == "passed"
    result = of_each(seen([0.5, 3.0, 4.0]), seen([0.5, 1.0, 1.5]), many)
    assert result.message == (
        "Half of x is x / 2.\nCalled    halve(x=2.0)\nIt returned 3.0\nExpected  1.0\nHalf of 2.0 is 1.0."
    )


def test_of_many_calls_an_exception_shows_how_they_were_made():
    result = of_each(seen(error("ValueError", "no")), seen([0.5, 1.0]), case("many", x=[1.0, 2.0]))
    assert (result.status, result.call) == ("error", "[halve(x=x) for x in [1.0, 2.0]]")
    result = of_each(seen(error("ValueError", "no")), seen([0.5, 1.0]), case("many", x=[1.0, 2.0], y=[3, 4]))
    assert result.call == "[halve(x=x, y=y) for x, y in zip([1.0, 2.0], [3, 4])]"


@pytest.mark.parametrize("returned", [[0.5], [0.5, 1.0, 1.5], (0.5, 1.0), None, 0.5, {"0": 0.5}])
def test_of_many_calls_no_result_may_be_missing(returned: Any):
    result = of_each(seen(returned), seen([0.5, 1.0]), case("many", x=[1.0, 2.0]))
    assert (result.status, result.earned) == ("crashed", 0.0)


def test_another_number_of_answers_is_no_answer():
    for observed in (seen(), seen(0.5, 0.5)):
        result = verdict(observed, seen(0.5))
        assert result.status == "crashed"
        assert result.message.startswith("The run answered with another number of calls than were made.")


def test_where_the_reference_raises_the_answer_must_raise_the_same():
    due = seen(error("ValueError", "x is negative"))
    assert verdict(seen(error("ValueError", "other words", line=3)), due).status == "passed"
    returned = verdict(seen(0.5), due)
    assert (returned.status, returned.returned, returned.expected) == ("failed", "0.5", "raised ValueError")
    assert returned.message == (
        "Half of x is x / 2.\nCalled    halve(x=1.0)\nIt returned 0.5\nExpected  raised ValueError\n"
        "It returned where it must raise ValueError."
    )
    other = verdict(seen(error("TypeError", "no")), due)
    assert other.status == "error"
    assert other.message.endswith("It raised TypeError: no; it must raise ValueError.")


def test_a_comparison_sees_only_calls_that_returned():
    def compare(arguments: Any, got: Outcome, want: Outcome) -> str | None:
        assert got.raised is None
        assert want.raised is None
        return f"x was {arguments['x']}" if arguments["x"] == 3.0 else None

    three = calls("", {"x": 1.0}, {"x": 2.0}, {"x": 3.0})
    outcomes = seen(error("ValueError"), 1.0, 1.5)
    assert verdict(outcomes, outcomes, three, each_call(compare)).difference == "X was 3.0."


def test_a_judge_may_show_another_part():
    observed = seen(Outcome(1.0, after={"x": [2.0], "y": 1}, later=3.0))
    expected = seen(Outcome(1.0, after={"x": [1.0], "y": 1}, later=1.0))
    result = verdict(observed, expected, judge=each_call(lambda a, g, w: "x was changed", show="after"))
    assert (result.show, result.returned, result.expected) == ("after", "x=[2.0], y=1", "x=[1.0], y=1")
    assert "It left its arguments as x=[2.0], y=1\nExpected  x=[1.0], y=1\nX was changed." in result.message
    later = verdict(observed, expected, judge=each_call(lambda a, g, w: Mismatch("it moved", show="later")))
    assert "It returned, read again later, 3.0\nExpected  1.0\nIt moved." in later.message


def test_a_result_that_a_later_call_changed_is_shown_with_all_calls():
    two = calls("", {"x": 2.0}, {"x": 4.0})
    observed = seen(Outcome([1.0], kept=[2.0]), Outcome([2.0], kept=[2.0]))
    expected = seen(Outcome([1.0], kept=[1.0]), Outcome([2.0], kept=[2.0]))
    result = verdict(observed, expected, two, lambda case, got, want: outlives(got))
    assert (result.show, result.returned, result.expected) == ("kept", "[2.0]", "[1.0]")
    assert result.call == "halve(x=2.0)\nhalve(x=4.0)"
    assert result.message.endswith(
        "It returned, read again after all calls, [2.0]\nExpected  [1.0]\n"
        "A later call changed what the first had returned: the function keeps it, and fills it anew."
    )


@pytest.mark.parametrize(
    "outcomes",
    [
        (Outcome([1.0], kept=[1.0]), Outcome(None)),
        (Outcome(f32(NAN), kept=f32(NAN)),),
        (error("ValueError"), Outcome(1.0, kept=1.0)),
    ],
)
def test_a_result_that_stayed_outlives_the_calls_after_it(outcomes: tuple[Any, ...]):
    assert outlives(seen(*outcomes)) is None


@pytest.mark.parametrize("kept", [[2.0], (1.0,), [True], [], None, {"a": 1.0}])
@pytest.mark.parametrize(("index", "which"), [(0, "first"), (2, "third"), (3, "4th")])
def test_any_change_of_what_was_returned_is_one(kept: Any, index: int, which: str):
    outcomes = [Outcome([1.0], kept=[1.0]) for _ in range(5)]
    outcomes[index] = Outcome([1.0], kept=kept)
    found = outlives(seen(*outcomes))
    assert found is not None
    assert (found.call, found.show) == (index, "kept")
    assert f"what the {which} had returned" in found.difference


# --------------------------------------------------------------------------- messages


def test_the_message_of_a_failed_check():
    result = verdict(seen(f32(2.0)), seen(f32(0.5)), case("one", x=f32(1.0), factor=2))
    assert result.message == (
        "Half of x is x / 2.\n"
        "Called    halve(x=tensor([1.0]), factor=2)\n"
        "It returned tensor([2.0])\n"
        "Expected  tensor([0.5])\n"
        "it[0] is 2.0, not 0.5."
    )
    assert result.rule == "Half of x is x / 2."


@pytest.mark.parametrize(
    ("outcome", "status", "text"),
    [
        (error("TypeError", "bad operand", cell=2, line=7, source="return x + None"), "error",
         "Half of x is x / 2.\nCalled    halve(x=1.0)\n"
         "It raised TypeError: bad operand (line 7 of cell 2: return x + None)."),
        (error("IndexError", "", line=7, source="a[9]"), "error",
         "Half of x is x / 2.\nCalled    halve(x=1.0)\nIt raised IndexError (line 7: a[9])."),
        (error("KeyError", "'a'", line=7), "error",
         "Half of x is x / 2.\nCalled    halve(x=1.0)\nIt raised KeyError: 'a' (line 7)."),
        (error("NotImplementedError", "halve", line=3, source="raise"), "error",
         "Half of x is x / 2.\nCalled    halve(x=1.0)\nNot started yet: it raises NotImplementedError."),
        (error("MemoryError", "", line=2, source="[0] * 10**12"), "memory",
         "It ran out of memory (line 2: [0] * 10**12).\nCalled    halve(x=1.0)"),
        (error("RuntimeError", "DefaultCPUAllocator: can't allocate memory: you tried"), "memory",
         "It ran out of memory.\nCalled    halve(x=1.0)"),
        (error("ForbiddenOperation", "this exercise does not accept x.half as an answer"), "forbidden",
         "This exercise does not accept x.half as an answer.\nCalled    halve(x=1.0)"),
    ],
)  # fmt: skip
def test_the_message_of_an_exception(outcome: Outcome, status: str, text: str):
    result = verdict(seen(outcome), seen(0.5))
    assert (result.status, result.message) == (status, text)
    assert result.returned == f"raised {outcome.raised.type_name}"  # type: ignore[union-attr]
    assert result.rule == ("Half of x is x / 2." if status == "error" else "")


@pytest.mark.parametrize(
    ("ended", "detail", "text"),
    [
        ("timeout", "no answer within 2.5 s: a loop", "No answer within 2.5 s: a loop.\nCalled    CALLS"),
        ("memory", "it ran out of memory", "It ran out of memory.\nCalled    CALLS"),
        ("crashed", "the process was ended by SIGSEGV", "The process was ended by SIGSEGV.\nCalled    CALLS"),
        ("forbidden", "torch.amp is not accepted", "torch.amp is not accepted.\nCalled    CALLS"),
        ("not_run", "not run, because time was up", "Not run, because time was up."),
        ("timeout", "", "Timeout.\nCalled    CALLS"),
    ],
)  # fmt: skip
def test_the_message_of_a_run_that_ended(ended: Any, detail: str, text: str):
    result = verdict(Observation(ended=ended, detail=detail), seen(0.5, 1.0), calls("", {"x": 1.0}, {"x": 2.0}))
    assert (result.status, result.message) == (ended, text.replace("CALLS", "halve(x=1.0)"))
    assert (result.returned, result.rule, result.earned) == ("", "", 0.0)


def test_the_message_about_a_whole_submission_shows_no_call():
    result = verdict(Observation(ended="error", detail="there is no `halve`", whole=True), seen(0.5))
    assert (result.status, result.message, result.call, result.rule) == ("error", "There is no `halve`.", "", "")


def test_several_calls_are_lined_up():
    result = verdict(seen(0.5, 2.0), seen(0.5, 1.0), calls("", {"x": 1.0}, {"x": 2.0}))
    assert "\nCalled    halve(x=1.0)\n          halve(x=2.0)\nIt returned 2.0\n" in result.message


def test_a_belief_is_added_to_the_message():
    belief = Misconception("m", "Half is twice.", "It is not.", "book/c.html#d")
    result = with_misconception(verdict(seen(2.0), seen(0.5)), belief)
    assert result.message.endswith(".\nA belief behind this: “Half is twice.” It is not.")
    assert (result.misconception, result.see, result.belief, result.truth) == (
        "m",
        "book/c.html#d",
        "Half is twice.",
        "It is not.",
    )


# -------------------------------------------------------------------------- hostility

OUTCOMES = st.builds(
    Outcome, returned=VALUES, after=st.dictionaries(st.text(max_size=3), VALUES, max_size=2), later=VALUES
)
RAISES = st.builds(
    Raised, st.text(max_size=9), st.text(max_size=9), st.none() | st.integers(), st.none() | st.integers()
)
OBSERVATIONS = st.builds(
    Observation,
    st.lists(OUTCOMES | RAISES.map(lambda raised: Outcome(raised=raised)), min_size=1, max_size=2).map(tuple),
)


@given(OBSERVATIONS, OBSERVATIONS, st.sampled_from(["returned", "after", "later", "kept"]))
@settings(max_examples=60)
def test_nothing_that_a_process_claims_makes_a_verdict_raise(observed: Observation, expected: Observation, show: str):
    def compare(arguments: Any, got: Outcome, want: Outcome) -> str | None:
        return differ(getattr(got, show), getattr(want, show), rtol=1e-6)

    tried = [(calls("two", {"x": 1.0}, {"x": 2.0}), observed, expected)]
    if len(expected.outcomes) == 2:
        result, marks = judge_check(make(each_call(compare, show=show)), "halve", tried)
        assert (result.status == "passed") is (marks == (".",)) is (result.earned == 2.0) is (not result.message)
        if repr(observed) == repr(expected):
            assert result.status == "passed"


def test_random_cases_are_a_function_of_the_generator():
    check = make(random=lambda random: [case("drawn", x=random.random())])
    assert check.random is not None
    assert check.random(Random("seed")) == check.random(Random("seed"))
    assert check.random(Random("seed")) != check.random(Random("other"))
