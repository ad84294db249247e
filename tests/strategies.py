"""Arbitrary plain values and arbitrary JSON, for the tests that state laws."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from autograder.models import Opaque, Scalar, Tensor
from autograder.values import DTYPES, rounded

INTS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats() | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 2.0**-1074, 65504.0])
NUMBERS = st.booleans() | INTS | FLOATS
NAMES = st.text(max_size=8)
ALL_DTYPES = tuple(sorted(DTYPES))
_BITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1)}


def elements(dtype: str) -> st.SearchStrategy[Any]:
    """Return a strategy for numbers that a tensor of that dtype holds exactly."""
    if dtype == "bool":
        return st.booleans()
    if "float" in dtype:
        return FLOATS.map(lambda value: rounded(value, dtype))
    return st.integers(*_BITS.get(dtype, (-(2**63), 2**63 - 1)))


@st.composite
def tensors(draw: st.DrawFn, dtypes: tuple[str, ...] = ALL_DTYPES) -> Tensor:
    """Draw a tensor of any dtype, 0-d or empty too, as an input may be."""
    dtype = draw(st.sampled_from(dtypes))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    size = math.prod(shape)
    values = tuple(draw(st.lists(elements(dtype), min_size=size, max_size=size)))
    library = "torch" if dtype == "bfloat16" else draw(st.sampled_from(["torch", "numpy"]))
    return Tensor(dtype, shape, values, library, draw(st.booleans()), draw(st.sampled_from(["", "a"])))  # type: ignore[arg-type]


def runs(items: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Return a strategy for lists in which items repeat, as in most real ones."""
    counted = st.tuples(items, st.integers(1, 40))
    return st.lists(counted, max_size=4).map(lambda pairs: [item for item, count in pairs for _ in range(count)])


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=5)
    return lists | lists.map(tuple) | st.dictionaries(NAMES, inner, max_size=4)


SCALARS = st.builds(Scalar, st.sampled_from(["float32", "int64", "bool_"]), NUMBERS)
SIMPLE = st.none() | NUMBERS | NAMES
LEAVES = (
    SIMPLE | tensors() | SCALARS | st.builds(Opaque, NAMES, NAMES) | st.lists(FLOATS, min_size=17, max_size=40)
    | runs(FLOATS) | runs(st.booleans()) | runs(INTS) | runs(FLOATS).map(tuple) | runs(SCALARS)
)  # fmt: skip
VALUES = st.recursive(LEAVES, _nested, max_leaves=8)
"""Any plain value."""
SOURCE = st.recursive(SIMPLE | runs(SIMPLE), _nested, max_leaves=8)
"""Plain values that Python itself can write."""

_WORDS = [
    "f", "tuple", "runs", "b64", "as", "dict", "tensor", "shape", "data", "library", "strided", "share", "bits",
    "scalar", "scalars", "value", "opaque", "outcomes", "output", "returned", "after", "later", "raised", "ended",
    "detail", "whole", "kept", "cycle", "count", "first", "steps",
]  # fmt: skip
_TEXTS = st.sampled_from([*_WORDS, "inf", "nan", "float32", "bool", "torch", "numpy", "?", "d", "q", "AAAA", ""])
_ATOMS = st.none() | st.booleans() | st.integers(-3, 3) | st.integers() | st.floats() | _TEXTS | st.text(max_size=3)


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(_WORDS)
    form = st.sampled_from(
        [("tensor", "shape", "data"), ("b64", "as"), ("scalar", "value"), ("scalars", "data"), ("returned", "after"),
         ("outcomes",), ("runs",), ("cycle", "count"), ("first", "steps"), ("tuple",), ("opaque",), ("dict",),
         ("raised",), ("f",)]
    )  # fmt: skip
    return (
        st.lists(inner, max_size=5)
        | st.dictionaries(keys | st.text(max_size=3), inner, max_size=4)
        | form.flatmap(lambda names: st.fixed_dictionaries(dict.fromkeys(names, inner)))
    )


JSON = st.recursive(_ATOMS, _objects, max_leaves=12)
"""What a stranger may send: any JSON, often nearly in the form that is meant."""
