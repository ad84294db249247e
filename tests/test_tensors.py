"""Plain values to torch and NumPy and back: exact, of the right kind, and never taken in by an odd tensor."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
import torch
from hypothesis import assume, given
from strategies import VALUES, tensors

from autograder.checks import f32, patterns, tensor
from autograder.models import Opaque, Scalar, Tensor
from autograder.tensors import (
    MAX_ELEMENTS,
    MAX_TEXT,
    build,
    encoded,
    exactly,
    overwrite,
    plain,
    type_name,
    without_address,
)
from autograder.values import DTYPES, LARGE_INT, decode, encode, rounded

EXTREMES = {
    "float16": (65504.0, 2.0**-24, 2.0**-14, 1 + 2.0**-10),
    "bfloat16": (3.3895313892515355e38, 2.0**-133, 2.0**-126, 1 + 2.0**-7),
    "float32": (3.4028234663852886e38, 2.0**-149, 2.0**-126, 1 + 2.0**-23),
    "float64": (1.7976931348623157e308, 2.0**-1074, 2.0**-1022, 1 + 2.0**-52),
}


# ------------------------------------------------------------------------ both ways


@given(tensors())
def test_built_and_read_back_it_is_the_same(value: Tensor):
    built = build(value)
    again = plain(built)
    assert repr(again) == repr(Tensor(value.dtype, value.shape, value.values, value.library))
    assert tuple(built.shape) == value.shape
    assert str(built.dtype).removeprefix("torch.") == value.dtype


@pytest.mark.parametrize("dtype", sorted(EXTREMES))
def test_extreme_values_are_exact_in_torch(dtype: str):
    values = [*EXTREMES[dtype], 0.0, -0.0, math.inf, -math.inf, math.nan]
    built = build(tensor(values, dtype))
    largest, smallest, normal, one_up = EXTREMES[dtype]
    info = torch.finfo(getattr(torch, dtype))
    assert (info.max, info.smallest_normal, 1 + info.eps) == (largest, normal, one_up)
    assert built[1].item() == smallest
    assert built.double().signbit().tolist()[4:8] == [False, True, False, True]
    assert repr(plain(built).values) == repr(tuple(values))


@pytest.mark.parametrize("library", ["torch", "numpy"])
@pytest.mark.parametrize(
    ("dtype", "value"), [("int64", 2**63 - 1), ("int64", -(2**63)), ("uint8", 255), ("bool", True)]
)
def test_whole_numbers_are_exact(library: str, dtype: str, value: int):
    again = plain(build(tensor([value], dtype, library=library)))
    assert repr(again) == repr(Tensor(dtype, (1,), (value,), library))


@pytest.mark.parametrize("library", ["torch", "numpy"])
@pytest.mark.parametrize("shape", [(2,), (3, 2), (2, 1, 3)])
def test_strided_is_really_not_contiguous(library: str, shape: tuple[int, ...]):
    values = tuple(float(n) for n in range(math.prod(shape)))
    built = build(Tensor("float32", shape, values, library, strided=True))
    contiguous = built.is_contiguous() if library == "torch" else built.flags.c_contiguous
    assert not contiguous
    assert plain(built) == Tensor("float32", shape, values, library)


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("library", ["torch", "numpy"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_elements_given_by_bits_have_them_nans_too(dtype: str, library: str, strided: bool):
    if (dtype, library) == ("bfloat16", "numpy"):
        return
    width = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}[dtype]
    top = 2**width - 1
    bits = (0, 1, top >> 1, top, (top >> 1) + 1, 0x7C01)
    built = build(Tensor(dtype, (2, 3), bits, library, strided, bits=True))
    read = built.contiguous().view(getattr(torch, f"int{width}")) if library == "torch" else (
        numpy.ascontiguousarray(built).view(f"int{width}"))  # fmt: skip
    assert [int(value) % 2**width for value in read.reshape(-1)] == list(bits)
    assert str(built.dtype).removeprefix("torch.") == dtype
    assert tuple(built.shape) == (2, 3)
    assert (built.is_contiguous() if library == "torch" else built.flags.c_contiguous) is not strided


def test_bits_and_values_are_two_ways_to_write_one_tensor():
    by_bits = plain(build(patterns([0x3F800000, 0x80000000, 0x00000001])))
    assert repr(by_bits) == repr(f32(1.0, -0.0, 2.0**-149))
    assert plain(build(patterns(0x3F80, "bfloat16"))) == tensor(1.0, "bfloat16")
    assert plain(build(patterns([], "float16"))) == tensor([], "float16")


def test_share_is_one_object_within_a_call_only():
    arguments = {"a": [f32(1.0, share="w"), f32(1.0, share="w")], "b": {"c": (f32(1.0, share="w"),)}, "d": f32(1.0)}
    built = build(arguments)
    assert built["a"][0] is built["a"][1] is built["b"]["c"][0]
    assert built["d"] is not built["a"][0]
    assert build(arguments)["a"][0] is not built["a"][0]


def test_containers_and_scalars_are_built():
    value = [None, True, 2, 2.5, "x", (1, [2.0]), {"k": Scalar("float16", 0.5)}]
    built = build(value)
    assert built[:6] == [None, True, 2, 2.5, "x", (1, [2.0])]
    assert type(built[6]["k"]) is numpy.float16
    assert plain(built) == value
    assert built is not value


# ----------------------------------------------------------------------- what came


@given(VALUES)
def test_what_is_plain_can_always_be_sent(value: Any):
    read = plain(value)
    assert repr(decode(encode(read))) == repr(read)


class Sub(torch.Tensor):
    def tolist(self) -> Any:
        return ["lies"]


class RaisingSub(torch.Tensor):
    def numel(self) -> Any:
        raise RuntimeError("no")


def test_a_subclass_that_lies_is_read_by_torch_s_own_functions():
    assert plain(torch.ones(2).as_subclass(Sub)) == plain(torch.ones(2))


def odd_values() -> dict[str, tuple[Any, str]]:
    """Return odd values, each with the start of the name that a message calls it by."""
    small = torch.ones(2, 2)
    return {
        "sparse": (small.to_sparse(), "tensor of layout torch.sparse_coo"),
        "compressed": (small.to_sparse_csr(), "tensor of layout torch.sparse_csr"),
        "complex": (small.to(torch.complex64), "tensor of complex64"),
        "meta": (torch.empty(3, device="meta"), "tensor on the meta device"),
        "float8": (small.to(torch.float8_e4m3fn), "tensor of float8_e4m3fn"),
        "uint16": (torch.ones(2, dtype=torch.uint16), "tensor of uint16"),
        "large": (torch.ones(1).expand(MAX_ELEMENTS + 1), f"tensor of {MAX_ELEMENTS + 1} elements"),
        "nested": (torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged), "tensor of layout"),
        "raising subclass": (small.as_subclass(RaisingSub), "RaisingSub"),
        "uint64 array": (numpy.array([2**64 - 1], dtype="uint64"), "NumPy array of uint64"),
        "big-endian": (numpy.array([1.0], dtype=">f4"), "NumPy array of >f4"),
        "long double": (numpy.array([1.0], dtype="longdouble"), "NumPy array of"),
        "complex array": (numpy.array([1j]), "NumPy array of complex128"),
        "objects": (numpy.array([object()]), "NumPy array of object"),
        "texts": (numpy.array(["a"]), "NumPy array of <U1"),
        "large array": (numpy.broadcast_to(1.0, MAX_ELEMENTS + 1), "NumPy array of 2000001 elements"),
        "matrix": (numpy.arange(4.0).reshape(2, 2).view(type("matrix", (numpy.ndarray,), {"reshape": lambda s, n: s})),
                   "matrix"),
        "masked": (numpy.ma.masked_array([1.0, 2.0], mask=[True, False]), "MaskedArray"),
        "large numpy integer": (numpy.uint64(2**64 - 1), "uint64"),
        "many of them": ([numpy.uint64(2**64 - 1)] * 3, "uint64"),
        "complex number": (1j, "complex"),
        "date": (numpy.datetime64("2018-01-01"), "datetime64"),
        "large int": (2**63, "int"),
        "long list": ([0] * (MAX_ELEMENTS + 1), "list"),
        "numbered keys": ({1: 2}, "dict"),
        "generator": ((n for n in ()), "generator"),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state:UserWarning")
@pytest.mark.filterwarnings("ignore:.*nested tensors is in prototype stage:UserWarning")
def test_what_is_no_ordinary_value_becomes_opaque_and_its_name_says_why():
    for what, (value, name) in odd_values().items():
        read = plain(value)
        read = read[0] if type(read) is list else read
        assert type(read) is Opaque, what
        assert read.type_name.startswith(name), what
        assert decode(encode(plain(value))) == plain(value), what
        assert " at 0x" not in read.text, what


def test_many_dimensions_can_be_sent():
    for value in (torch.ones([1] * 40), numpy.ones([1] * 40)):
        assert decode(encode(plain(value))) == plain(value)
        assert plain(value).shape == (1,) * 40


def test_parameters_and_tensors_that_require_grad_are_tensors():
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    assert plain(parameter) == plain(parameter * 1) == f32(1.0, 2.0)
    assert plain(torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t()) == tensor([[1.0, 3.0], [2.0, 4.0]])
    assert plain(torch.ones(1).expand(3)) == f32(1.0, 1.0, 1.0)
    assert plain(torch.complex(torch.ones(2), -torch.ones(2)).conj().imag) == f32(1.0, 1.0)  # a view that negates


def test_numpy_scalars_are_no_python_numbers():
    assert plain(numpy.float64(0.5)) == Scalar("float64", 0.5)
    assert plain(numpy.float32(0.1)) == Scalar("float32", rounded(0.1, "float32"))
    assert plain(numpy.bool_(True)) == Scalar("bool", True)
    assert plain([numpy.float16(0.5)] * 3) == [Scalar("float16", 0.5)] * 3
    assert plain([numpy.float16(0.5), 1.0]) == [Scalar("float16", 0.5), 1.0]


def test_long_lists_with_one_large_integer():
    assert plain([1.0, 2**63, True]) == [1.0, LARGE_INT, True]
    assert plain([-(2**63), 2**63 - 1, math.nan])[:2] == [-(2**63), 2**63 - 1]


def test_texts_are_cut_and_deep_nesting_ends():
    assert plain("x" * 1000) == "x" * MAX_TEXT
    endless: list[Any] = []
    endless.append(endless)
    read = plain(endless)
    while type(read) is list:
        (read,) = read
    assert read == Opaque("list", "nested too deeply")


# ------------------------------------------------------------------------- hostility


class BadRepr:
    def __repr__(self) -> str:
        raise ValueError("no")


class Meta(type):
    __name__ = property(lambda cls: 5)  # type: ignore[assignment]

    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(bool)


class Disguised(metaclass=Meta):
    """Its type equals every type, and has a number for a name."""


class Text(str):
    def __getitem__(self, key: Any) -> Any:
        return self

    def __str__(self) -> Any:
        return self


class EndlessRepr:
    def __repr__(self) -> str:
        return Text("x" * 10_000)


class Posing:
    __class__ = torch.Tensor  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (BadRepr(), Opaque("BadRepr", "its repr raises ValueError")),
        (EndlessRepr(), Opaque("EndlessRepr", "x" * MAX_TEXT)),
        (Posing(), Opaque("Posing", "its values cannot be read: AttributeError")),
        (type(Text("y" * 1000), (), {"__repr__": lambda self: "r"})(), Opaque("y" * 100, "r")),
        (object(), Opaque("object", "<object object>")),
        ((Text("a"),), (Opaque("Text", "'a'"),)),
    ],
)  # fmt: skip
def test_an_object_cannot_pass_for_another(value: Any, seen: Any):
    read = plain(value)
    assert read == seen
    assert decode(encode(read)) == read
    texts = [read.type_name, read.text] if type(read) is Opaque else []
    assert all(type(text) is str for text in texts)


def test_a_metaclass_cannot_pass_for_a_type():
    read = plain(Disguised())
    assert type(read) is Opaque
    assert read.type_name == type_name(Disguised()) == "Disguised"


def test_running_out_of_memory_is_not_swallowed():
    class Greedy(torch.Tensor):
        def numel(self) -> Any:
            raise MemoryError

    with pytest.raises(MemoryError):
        plain(torch.ones(1).as_subclass(Greedy))


def test_texts_proper():
    assert type(exactly(Text("abc"), 2)) is str
    assert exactly(Text("abc"), 2) == "ab"
    assert without_address("<f at 0x7f00deadbeef> and <g at 0x7f00deadbeee>") == "<f> and <g>"
    assert without_address("look at 0x12, at 0xzz") == "look at 0x12, at 0xzz"


# ------------------------------------------------------------------------- overwrite


def test_overwriting_reaches_every_tensor_and_array():
    parameter = torch.nn.Parameter(torch.ones(2))
    flags, array, view = torch.zeros(2, dtype=torch.bool), numpy.ones(2), build(f32(1.0, 2.0, strided=True))
    overwrite({"a": [parameter, (flags,)], "b": {"c": array}, "d": view, "e": "text", "f": 3.0})
    assert parameter.tolist() == array.tolist() == view.tolist() == [123.0, 123.0]
    assert flags.tolist() == [True, True]


def test_overwriting_lengthens_every_list():
    grads = [torch.ones(1)]
    value = {"grads": grads, "scale": 2.0, "flags": [False, [True]], "pair": ([1.0], 2.0), "none": []}
    overwrite(value)
    assert value == {"grads": grads, "scale": 2.0, "flags": [False, [True, 123], 123], "pair": ([1.0, 123], 2.0),
                     "none": [123]}  # fmt: skip
    assert (len(grads), grads[0].tolist(), grads[1]) == (2, [123.0], 123)


def test_all_dtypes_have_their_torch_dtype():
    assert all(isinstance(getattr(torch, name), torch.dtype) for name in DTYPES)


# ------------------------------------------------------------------------ read at once

ODD: dict[str, Any] = {
    "many of one kind": [2.0**-24 * n for n in range(5000)],
    "many equal": [True] * 100_000,
    "positions": [n for n in range(9000) if n % 7],
    "ints and a large one": [*range(100), 2**70],
    "a large one alone": 2**70,
    "many large ones": [2**64] * 40,
    "mixed numbers": [1, 2.0, True] * 20,
    "a list of tensors": [torch.ones(3), torch.zeros(2, 2, dtype=torch.bfloat16)],
    "many tensors": [torch.ones(2)] * 40,
    "many of NumPy's": list(numpy.arange(40.0)),
    "a few of NumPy's": list(numpy.arange(4.0, dtype="float16")),
    "a view that needs a gradient": torch.arange(12.0, requires_grad=True)[::2],
    "deep": [[[[[[[[[[[[[[1.0]]]]]]]]]]]]]],
    "deep, and many": [[[[[[[[[[[[[[1.0]]]]]]]]]]]]] * 40],
    "a tuple of many": (1.0,) * 40,
    "a dict in a tuple": ({"a": [1.0, math.nan], "b": (None, "x" * 500)},),
    "keys that are none": {1: 2.0},
    "an object": [object, {"a": {1, 2}}],
    "too many": [0.0] * (MAX_ELEMENTS + 1),
    "a subclass": type("Mine", (list,), {})([1.0] * 40),
    "nothing": [],
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD.keys())
def test_read_at_once_it_is_what_it_is_in_two_steps(value: Any):
    assert repr(encoded(value)) == repr(encode(plain(value)))
    assert repr(encoded({"x": value}, 1)) == repr(encode(plain({"x": value}, 1)))


@given(VALUES)
def test_any_built_value_read_at_once_is_what_it_is_in_two_steps(value: Any):
    try:
        built = build(value)
    except (OverflowError, RuntimeWarning):  # a number that NumPy's type does not hold
        assume(False)
    assert repr(encoded(built)) == repr(encode(plain(built)))
