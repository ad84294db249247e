"""Plain values as JSON and as text: nothing is lost, nothing else is accepted, and what is shown can be read."""

from __future__ import annotations

import base64
import copy
import json
import math
import random
import struct
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import FLOATS, JSON, SOURCE, VALUES, elements, tensors

from autograder.checks import f32, tensor
from autograder.models import Opaque, Scalar, Tensor
from autograder.values import (
    DTYPES,
    LARGE_INT,
    BadValue,
    Budget,
    brief,
    decode,
    encode,
    number,
    position,
    rounded,
    show,
)

INF, NAN = math.inf, math.nan


def through_json(value: Any) -> Any:
    """Encode, write, read and decode; nesting as deep as the test draws it."""
    return decode(json.loads(json.dumps(encode(value), allow_nan=False)), depth=64)


# ------------------------------------------------------------------------ round trip


@given(VALUES)
@settings(max_examples=150)
def test_any_plain_value_comes_back_as_it_was(value: Any):
    # repr tells True from 1 and 1.0, -0.0 from 0.0, a list from a tuple, and writes every nan alike.
    assert repr(through_json(value)) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        [0.0] * 20 + [-0.0] * 20, [NAN] * 30, [INF, -INF] * 15, [True] * 17 + [False], [True, 1, 1.0] * 10,
        (1, 2) * 20, [2**63 - 1, -(2**63)] * 9, [0.1 * n for n in range(50)], [[], (), {}], {"": None, "a": ({},)},
        "\ud800 half a pair", f32(), tensor(3.0), tensor([[], []]), Scalar("float16", NAN), Opaque("generator", ""),
        [Scalar("float32", 0.5 * n) for n in range(20)], [Scalar("float32", 1.0), Scalar("float64", 1.0)] * 9,
    ],
)  # fmt: skip
def test_what_judges_must_tell_apart_is_kept(value: Any):
    assert repr(through_json(value)) == repr(value)


def test_long_lists_are_packed():
    steady, varied = json.dumps(encode([65536.0] * 200_000)), json.dumps(encode([math.sqrt(n) for n in range(3000)]))
    assert len(steady) < 60
    assert len(varied) < 3000 * 8 * 4 / 3 + 60


def test_arguments_keep_what_only_inputs_have():
    value = Tensor("float32", (2,), (1.0, 2.0), "numpy", True, "weights")
    assert through_json(value) == value
    value = Tensor("float32", (2,), (0x7FFFFFFF, 0), bits=True)
    assert through_json(value) == value


def test_bits_are_shown_as_bits():
    value = Tensor("float32", (2, 1), (0x7FFFFFFF, 1), bits=True)
    assert show(value) == "tensor([[0x7fffffff], [0x00000001]]).view(float32)"
    assert show(Tensor("bfloat16", (), (0x3F80,), bits=True)) == "tensor(0x3f80).view(bfloat16)"
    assert show(Tensor("float64", (13,), (1,) * 13, "numpy", bits=True)) == (
        "numpy.array([" + "0x0000000000000001, " * 3 + "… 13 elements]).view(float64)"
    )


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**5000], ids=["above", "below", "without a text"])
def test_integers_beyond_64_bits_become_opaque(value: int):
    assert through_json(value) == LARGE_INT
    assert through_json([value] * 20) == [LARGE_INT] * 20  # 10**5000 has no text: Python refuses to write it
    assert show(through_json([value])) == "[<int: an integer beyond 64 bits>]"


@pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes", 1j, {1: "a", "1": "b"}, numpy.float32(1.0)])
def test_what_is_no_plain_data_becomes_opaque(value: Any):
    assert through_json(value) == Opaque(type(value).__name__, "")


# ----------------------------------------------------------------------- strictness


@given(JSON)
@settings(max_examples=400)
def test_arbitrary_json_is_refused_or_is_a_value(data: Any):
    try:
        value = decode(data)
    except BadValue:
        return
    assert repr(through_json(value)) == repr(value)


@given(VALUES, JSON, st.data())
@settings(max_examples=150)
def test_a_form_with_one_part_replaced_is_refused_or_is_a_value(value: Any, other: Any, data: st.DataObject):
    form = {"it": copy.deepcopy(encode(value))}
    places = list(_places(form))
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = other
    try:
        changed = decode(form["it"])
    except BadValue:
        return
    assert repr(through_json(changed)) == repr(changed)


def _places(node: Any):
    keys = node.keys() if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from _places(node[key])


def nested(depth: int, data: Any = 0) -> Any:
    for _ in range(depth):
        data = [data]
    return data


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"runs": [[1.0, 10**12]]}, "too many elements"),
        ([{"runs": [[1.0, 10**6]]}] * 3, "too many elements"),
        ({"tensor": "float32", "shape": [10**12], "data": {"runs": [[0.0, 10**12]]}}, "too many elements"),
        ({"scalars": "float32", "data": {"runs": [[0.0, 10**12]]}}, "too many elements"),
        ({"b64": base64.b64encode(bytes(2_000_001)).decode(), "as": "?"}, "too many elements"),
        ({"cycle": [1.0, 2.0], "count": 10**12}, "too many elements"),
        ([{"cycle": [1.0, 2.0], "count": 10**6}] * 3, "too many elements"),
        ({"tensor": "float32", "shape": [10**12], "data": {"cycle": [0.0], "count": 10**12}}, "too many elements"),
        ({"first": 0, "steps": {"runs": [[1, 10**12]]}}, "too many elements"),
        ({"first": 0, "steps": {"cycle": [1], "count": 10**12}}, "too many elements"),
        ("x" * 1_000_001, "too much text"),
        ([{"opaque": ["T", "x" * 400_000]}] * 3, "too much text"),
        ({"dict": {"x" * 1_000_001: 0}}, "too much text"),
        ({"tensor": "bool", "shape": [0], "data": [], "share": "x" * 1_000_001}, "too much text"),
        (nested(17), "nested too deeply"),
        (nested(10_000), "nested too deeply"),
        (2**63, "beyond 64 bits"),
        (-(2**63) - 1, "beyond 64 bits"),
        (NAN, "bare inf or nan"),
        (INF, "bare inf or nan"),
        ([1.0, -INF], "bare inf or nan"),
        ({}, "unknown keys"),
        ({"what": 1}, "unknown keys"),
        ({"tuple": [], "list": []}, "unknown keys"),
        ({"b64": ""}, "unknown keys"),
        ({"f": "1.0"}, "malformed float"),
        ({"f": 1.0}, "malformed float"),
        ({"f": "-nan"}, "malformed float"),
        ({"tuple": 3}, "neither a list nor packed"),
        ({"tuple": {"dict": {}}}, "malformed packed"),
        ({"runs": [[1.0, 0]]}, "malformed run"),
        ({"runs": [[1.0, True]]}, "malformed run"),
        ({"runs": [[1.0]]}, "malformed run"),
        ({"runs": [["a", 2]]}, "not a number"),
        ({"runs": [[[], 2]]}, "not a number"),
        ({"runs": [[[0], 2]]}, "nested too deeply"),
        ({"runs": 3}, "malformed packed"),
        ({"cycle": [], "count": 0}, "malformed cycle"),
        ({"cycle": [1.0, 2.0], "count": 1}, "malformed cycle"),
        ({"cycle": [1.0], "count": -1}, "malformed cycle"),
        ({"cycle": [1.0] * 513, "count": 1000}, "malformed cycle"),
        ({"cycle": [1.0], "count": True}, "malformed packed"),
        ({"cycle": {"runs": [[1.0, 2]]}, "count": 9}, "malformed packed"),
        ({"cycle": ["a"], "count": 9}, "not a number"),
        ({"cycle": [[]], "count": 9}, "not a number"),
        ({"first": 0.0, "steps": {"runs": [[1, 9]]}}, "malformed packed"),
        ({"first": True, "steps": {"runs": [[1, 9]]}}, "malformed packed"),
        ({"first": 0, "steps": [1, 2]}, "malformed packed"),
        ({"first": 0, "steps": {"b64": "", "as": "q"}}, "malformed steps"),
        ({"first": 0, "steps": {"first": 0, "steps": {"runs": [[1, 9]]}}}, "malformed steps"),
        ({"first": 0, "steps": {"runs": []}}, "not ints"),
        ({"first": 0, "steps": {"runs": [[True, 9]]}}, "not ints"),
        ({"first": 0, "steps": {"cycle": [1, 0.5], "count": 9}}, "not ints"),
        ({"first": 0, "steps": {"runs": [[2**62, 9]]}}, "leave 64 bits"),
        ({"first": -(2**63), "steps": {"runs": [[-1, 1], [9, 9]]}}, "leave 64 bits"),
        ({"first": 2**63, "steps": {"runs": [[-1, 9]]}}, "leave 64 bits"),
        ({"b64": "AAA", "as": "?"}, "malformed base64"),
        ({"b64": "å", "as": "?"}, "malformed base64"),
        ({"b64": 5, "as": "?"}, "malformed base64"),
        ({"b64": ["AAAA"], "as": "?"}, "malformed base64"),
        ({"b64": "AAAA", "as": "d"}, "wrong length"),
        ({"b64": "AAAA", "as": "P"}, "malformed packed"),
        ({"b64": "AAAA", "as": ["d"]}, "malformed packed"),
        ({"dict": []}, "unknown keys"),
        ({"scalar": "float32", "value": "a"}, "malformed NumPy scalar"),
        ({"scalar": "x" * 33, "value": 1}, "malformed NumPy scalar"),
        ({"scalar": 3, "value": 1}, "malformed NumPy scalar"),
        ({"scalars": "float32", "data": ["a"]}, "malformed NumPy scalars"),
        ({"scalars": "float32", "data": {"scalars": "float32", "data": [1]}}, "malformed NumPy scalars"),
        ({"opaque": ["a"]}, "malformed opaque"),
        ({"opaque": ["a", 1]}, "malformed opaque"),
        ({"tensor": "complex64", "shape": [], "data": [0]}, "unknown dtype"),
        ({"tensor": ["bool"], "shape": [], "data": [0]}, "unknown dtype"),
        ({"tensor": "bool", "shape": 1, "data": [True]}, "malformed shape"),
        ({"tensor": "bool", "shape": [True], "data": [True]}, "malformed shape"),
        ({"tensor": "bool", "shape": [-1], "data": []}, "malformed shape"),
        ({"tensor": "bool", "shape": [1.0], "data": [True]}, "malformed shape"),
        ({"tensor": "bool", "shape": [1] * 65, "data": [True]}, "malformed shape"),
        ({"tensor": "bool", "shape": [2], "data": [True]}, "do not fit"),
        ({"tensor": "bool", "shape": [1], "data": ["x"]}, "not a number"),
        ({"tensor": "bool", "shape": [1], "data": [None]}, "not a number"),
        ({"tensor": "bool", "shape": [0], "data": [], "library": "jax"}, "malformed tensor"),
        ({"tensor": "bool", "shape": [0], "data": [], "library": []}, "malformed tensor"),
        ({"tensor": "bool", "shape": [0], "data": [], "strided": 1}, "malformed tensor"),
        ({"tensor": "bool", "shape": [0], "data": [], "share": None}, "malformed tensor"),
        ({"tensor": "float32", "shape": [0], "data": [], "bits": 1}, "malformed tensor"),
        ({"tensor": "int32", "shape": [1], "data": [1], "bits": True}, "malformed tensor"),
        ({"tensor": "float16", "shape": [1], "data": [65536], "bits": True}, "not a bit pattern"),
        ({"tensor": "float32", "shape": [1], "data": [-1], "bits": True}, "not a bit pattern"),
        ({"tensor": "float32", "shape": [1], "data": [1.0], "bits": True}, "not a bit pattern"),
        ({"tensor": "float32", "shape": [1], "data": [True], "bits": True}, "not a bit pattern"),
        ({"tensor": "bool", "shape": [0], "data": [], "more": 1}, "unknown keys"),
        ((1,), "a tuple"),
    ],
)  # fmt: skip
def test_what_encode_does_not_write_is_refused_with_a_reason(data: Any, reason: str):
    with pytest.raises(BadValue, match=reason):
        decode(data)


def test_one_budget_serves_several_values():
    budget = Budget(elements=25, text=10)
    decode({"runs": [[1.0, 20]]}, budget)
    with pytest.raises(BadValue, match="too many elements"):
        decode({"runs": [[1.0, 20]]}, budget)
    with pytest.raises(BadValue, match="too many elements"):
        decode([0] * 30, Budget(elements=30))
    decode("12345", Budget(elements=1, text=5))
    with pytest.raises(BadValue, match="too much text"):
        decode("123456", Budget(elements=1, text=5))


# -------------------------------------------------------------------------- rounding


def test_rounding_agrees_with_numpy_and_torch_on_a_million_values():
    draw = numpy.random.default_rng(2018)
    bits = draw.integers(0, 2**32, 10**6, dtype=numpy.uint32)
    singles = bits.view(numpy.float32)  # every exponent alike, subnormals, infs and nans among them
    for dtype in ("float16", "bfloat16"):
        mine = torch.tensor([rounded(float(x), dtype) for x in singles], dtype=torch.float64)
        theirs = torch.from_numpy(singles).to(getattr(torch, dtype)).double()
        assert torch.equal(mine.nan_to_num(7.5), theirs.nan_to_num(7.5)), dtype
        assert torch.equal(mine.signbit() & ~mine.isnan(), theirs.signbit() & ~theirs.isnan()), dtype


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_a_double_is_rounded_once():
    draw = numpy.random.default_rng(2018)
    wide = draw.normal(size=200_000) * 2.0 ** draw.integers(-160, 132, 200_000)
    middle = (1.0 + draw.integers(0, 2**11, 100_000) * 2.0**-11) * (1.0 + 2.0**-40)  # just above a tie, or a float16
    doubles = numpy.concatenate([wide, middle, [65519.999, 65520.0, -65520.0, 3.4028235677973366e38, -0.0]])
    for dtype in ("float16", "float32"):
        mine = numpy.array([rounded(float(x), dtype) for x in doubles])
        assert numpy.array_equal(mine, doubles.astype(dtype).astype(numpy.float64)), dtype
    assert rounded(0.1, "float64") == 0.1
    assert rounded(3.0, "int64") == 3.0


# ------------------------------------------------------------------------------ text


@given(st.sampled_from(["float16", "bfloat16", "float32"]), st.data())
@settings(max_examples=150)
def test_a_number_is_shown_as_the_shortest_text_that_reads_back(dtype: str, data: st.DataObject):
    value = data.draw(elements(dtype))
    text = number(value, dtype)
    kind = getattr(torch, dtype)
    read = torch.tensor(float(text), dtype=torch.float32).to(kind).item()
    assert repr(read) == repr(value)
    if math.isfinite(value):
        digits = (
            1
            if value.is_integer() and abs(value) < 2**53
            else len(text.lower().partition("e")[0].strip("-0.").replace(".", ""))
        )
        shorter = [float(f"{value:.{n}g}") for n in range(1, digits)]
        assert all(torch.tensor(x, dtype=torch.float32).to(kind).item() != value for x in shorter)


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (rounded(0.1, "float32"), "float32", "0.1"), (rounded(0.1, "float16"), "float16", "0.1"),
        (rounded(0.1, "bfloat16"), "bfloat16", "0.1"), (0.1, "float64", "0.1"), (65504.0, "float16", "65504.0"),
        (2.0**-149, "float32", "1e-45"), (2.0**-24, "float16", "6e-08"), (2.0**30, "float32", "1073741824.0"),
        (2.0**60, "float32", "1.1529215e+18"),
        (-0.0, "float32", "-0.0"), (NAN, "float16", "nan"), (-INF, "float32", "-inf"), (3, "int64", "3"),
        (True, "bool", "True"), (0.1, "float32", "0.1"), (1e300, "float32", "1e+300"),
    ],
)  # fmt: skip
def test_numbers_as_text(value: float, dtype: str, text: str):
    assert number(value, dtype) == text


@given(SOURCE | st.lists(SOURCE))
@settings(max_examples=150)
def test_text_without_an_ellipsis_is_python_source_of_the_value(value: Any):
    text = show(value)
    if "…" not in text:
        assert repr(eval(text, {"inf": INF, "nan": NAN})) == repr(value)


@given(st.lists(FLOATS | st.booleans() | st.integers(-9, 9), max_size=4) | tensors())
def test_small_values_are_shown_whole(value: Any):
    if type(value) is list or len(value.values) <= 12:
        assert "…" not in show(value)


@given(tensors(dtypes=tuple(sorted(DTYPES - {"bool"}))))
def test_the_text_of_a_tensor_is_source_of_that_tensor(value: Tensor):
    if not 0 < len(value.values) <= 12:
        return
    read: dict[str, Any] = {name: name for name in DTYPES} | {"inf": INF, "nan": NAN}
    read["tensor"] = lambda items, dtype="float32": tensor(items, dtype)
    read["numpy"] = SimpleNamespace(array=lambda items, dtype="float64": tensor(items, dtype, library="numpy"))
    again = eval(show(value), read)
    assert repr(again) == repr(Tensor(value.dtype, value.shape, value.values, value.library))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (f32(2.0, -4.0), "tensor([2.0, -4.0])"), (f32(), "tensor([])"), (tensor(1.5), "tensor(1.5)"),
        (tensor([[1.0, 2.0], [3.0, NAN]]), "tensor([[1.0, 2.0], [3.0, nan]])"),
        (tensor([[[1], [2]]], "int64"), "tensor([[[1], [2]]], dtype=int64)"),
        (tensor([True, False], "bool"), "tensor([True, False])"), (tensor([[], []]), "tensor(zeros(2, 0))"),
        (tensor([1.0], "float16"), "tensor([1.0], dtype=float16)"),
        (tensor([0.5], "float64", library="numpy"), "numpy.array([0.5])"),
        (tensor([0.5], "float32", library="numpy"), "numpy.array([0.5], dtype=float32)"),
        (f32(*[0.5] * 13), "tensor([0.5, 0.5, 0.5, … 13 elements])"),
        (f32(*[0.5] * 20, INF, NAN), "tensor([0.5, 0.5, 0.5, … 22 elements; [20] is inf, [21] is nan])"),
        (f32(*[INF] * 13), "tensor([inf, inf, inf, … 13 elements; [0] is inf, [1] is inf, [2] is inf, …])"),
        (tensor([[0.0] * 5, [0.0] * 5, [0.0, -INF, 0.0, 0.0, 0.0]]),
         "tensor([0.0, 0.0, 0.0, … 3×5 elements; [2, 1] is -inf])"),
        (Scalar("float32", rounded(0.1, "float32")), "numpy.float32(0.1)"), (Scalar("bool", True), "numpy.bool(True)"),
        (Opaque("generator", ""), "<generator>"), (Opaque("Decimal", "1.5"), "<Decimal: 1.5>"),
        ((1.0,), "(1.0,)"), ((), "()"), ([], "[]"), ({"a": [1, 2.0]}, "{'a': [1, 2.0]}"), (None, "None"),
        ([True] * 100, "[True] * 100"), ([1.0] * 70 + [2.0], "[1.0] * 70 + [2.0]"),
        ([f32(1.0)] * 70, "[tensor([1.0])] * 70"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, … (100 in all)]"),
        (tuple(range(100)), "(0, 1, 2, 3, 4, 5, … (100 in all))"),
        ("x" * 200, "'" + "x" * 158 + "…"),
        ({str(n): n for n in range(66)}, "{" + ", ".join(f"'{n}': {n}" for n in range(64)) + ", … (66 in all)}"),
        ([[[[[[7]]]]]], "[[[[[[…]]]]]]"), ([[[[[{"a": 1}]]]]], "[[[[[{…}]]]]]"), ([[[[[[]]]]]], "[[[[[[]]]]]]"),
    ],
)  # fmt: skip
def test_values_as_text(value: Any, text: str):
    assert show(value) == text


@pytest.mark.parametrize(
    "value",
    [
        ["x" * 150] * 4 + [["y" * 150] * 4] * 30, {str(n): "x" * 150 for n in range(64)}, {"k" * 10_000: 1},
        Opaque("T", "x" * 100_000), Opaque("T" * 100_000, ""), [[["x" * 150] * 4] * 4] * 4,
    ],
)  # fmt: skip
def test_the_text_of_one_value_is_bounded(value: Any):
    assert len(show(value)) <= 4000


def test_a_strangers_nesting_is_shown_without_visiting_it_all():
    # Five in each, eight deep: a decoder lets it pass, and showing it twice on every level would take hours.
    value: Any = 1
    for _ in range(8):
        value = [value] * 5
    assert show(decode(json.loads(json.dumps(value)))).count("…") > 1


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.data())
def test_positions_are_numpys(shape: list[int], data: st.DataObject):
    index = data.draw(st.integers(0, math.prod(shape) - 1))
    assert position(index, tuple(shape)) == ", ".join(map(str, numpy.unravel_index(index, shape)))


LONG = 5_000
PATTERNS = {
    "flags that alternate": ([True, False] * LONG, {"cycle": [True, False], "count": 2 * LONG}),
    "a cycle that is cut off": (
        ([1.0, -0.0, NAN] * LONG)[: 2 * LONG + 1],
        {"cycle": [1.0, -0.0, {"f": "nan"}], "count": 2 * LONG + 1},
    ),
    "a cycle that begins with a run": (
        ([2.0] * 300 + [1.0]) * 40, {"cycle": [2.0] * 300 + [1.0], "count": 301 * 40},
    ),
    "every third step": (list(range(7, 3 * LONG, 3)), {"first": 7, "steps": {"runs": [[3, LONG - 3]]}}),
    "bursts of three": (
        [9 * burst + step for burst in range(LONG) for step in (1, 2, 3)],
        {"first": 1, "steps": {"cycle": [1, 1, 7], "count": 3 * LONG - 1}},
    ),
    "few long runs": ([0.0] * LONG + [1.0] * LONG, {"runs": [[0.0, LONG], [1.0, LONG]]}),
}  # fmt: skip


@pytest.mark.parametrize("name", PATTERNS)
def test_a_long_pattern_is_said_in_a_few_words(name: str):
    items, form = PATTERNS[name]
    assert repr(encode(items)) == repr(form)
    assert repr(through_json(items)) == repr(items)


@pytest.mark.parametrize("place", [1, 2 * LONG - 1])
@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_that_is_broken_in_one_place_comes_back_as_it_was(name: str, place: int):
    items = list(PATTERNS[name][0])
    items[place % len(items)] = {bool: items[(place + 1) % len(items)], float: 0.5, int: -(2**63)}[type(items[0])]
    assert repr(through_json(items)) == repr(items)


def test_packed_bytes_are_little_endian_doubles():
    values = [math.pi * n for n in range(20)]
    assert base64.b64decode(encode(values)["b64"]) == struct.pack("<20d", *values)


def mixed(start: int, stop: int) -> list[int]:
    """Return these ints in an order whose steps do not repeat."""
    return random.Random(0).sample(range(start, stop), stop - start)


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (mixed(0, 65536), "H"), (mixed(-1, 65535), "q"), (mixed(1, 65537), "q"),
        (mixed(0, 1024), "q"), (mixed(0, 1025), "H"),
        ([struct.unpack("<e", struct.pack("<H", n))[0] for n in range(65536)], "e"),
        ([n / 2**24 for n in range(1024)], "d"), ([n / 2**24 for n in range(1025)], "e"),
        ([n / 2**24 for n in range(2050)], "d"), ([n / 2**24 for n in range(1025)] + [65520.0], "d"),
        ([struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0], *(float(n) for n in range(1025))], "d"),
    ],
)  # fmt: skip
def test_long_sequences_are_packed_narrowly_where_every_bit_survives(values: list[Any], form: str):
    packed = encode(values)
    assert packed["as"] == form
    back = decode(json.loads(json.dumps(packed)))
    code = "d" if type(values[0]) is float else "q"
    assert struct.pack(f"<{len(back)}{code}", *back) == struct.pack(f"<{len(values)}{code}", *values)
    assert set(map(type, back)) == set(map(type, values))


@pytest.mark.parametrize(
    ("value", "two", "three"),
    [
        (0.0, "0", "0"), (0.0123, "0.012", "0.0123"), (3.44, "3.4", "3.44"), (99.4, "99", "99.4"),
        (99.5, "100", "99.5"), (612.4, "612", "612"), (999.6, "1,000", "1,000"), (1800.0, "1,800", "1,800"),
    ],
)  # fmt: skip
def test_what_was_measured_is_said_in_a_few_digits_without_an_exponent(value: float, two: str, three: str):
    assert (brief(value, 2), brief(value, 3)) == (two, three)
