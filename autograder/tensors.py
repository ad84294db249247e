"""Plain values to and from torch and NumPy: the only module of the checks that knows a tensor.

In a browser the module ``torch`` is the page's small stand-in and NumPy is absent; both are looked up when needed.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from autograder.models import Opaque, Scalar, Tensor, Value
from autograder.values import DTYPES, LARGE_INT, WIDTHS, encode, encode_numbers, in_64_bits

MAX_ELEMENTS: Final = 2_000_000
MAX_TEXT: Final = 200
MAX_DEPTH: Final = 12
_FEW: Final = 16
"""Items up to which a list has no form of its own, whatever they are."""
_ATOMS: Final = frozenset((bool, int, float, str, type(None)))
_NAME_OF: Final = type.__dict__["__name__"].__get__
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]{6,16}\b")


def build(value: Value, device: str = "cpu", shared: dict[str, Any] | None = None) -> Any:
    """Return the value with each Tensor and Scalar made into a real one on ``device``.

    Tensors with the same ``share`` name become one object within a call of ``build``.
    """
    shared = {} if shared is None else shared
    if type(value) is Tensor:
        if value.share and value.share in shared:
            return shared[value.share]
        made = _tensor(value, device)
        if value.share:
            shared[value.share] = made
        return made
    if type(value) is Scalar:
        try:
            import numpy
        except ImportError:  # in a browser: the plain number stands for it
            return value.value
        return numpy.dtype(value.dtype).type(value.value)
    if type(value) is list:
        atoms = _ATOMS.issuperset(map(type, value))  # 100,000 flags are not looked at one by one
        return list(value) if atoms else [build(item, device, shared) for item in value]
    if type(value) is tuple:
        return tuple(build(item, device, shared) for item in value)
    if type(value) is dict:
        return {key: build(item, device, shared) for key, item in value.items()}
    return value


def _tensor(value: Tensor, device: str) -> Any:
    wide: Any
    if value.library == "numpy":
        import numpy

        read_as = f"uint{WIDTHS[value.dtype]}" if value.bits else value.dtype
        made = numpy.array(value.values, dtype=read_as).view(value.dtype).reshape(value.shape)
        wide = numpy.zeros((*value.shape, 2), dtype=value.dtype) if value.strided else None
    else:
        import torch

        dtype = getattr(torch, value.dtype)
        read_as = getattr(torch, f"int{WIDTHS[value.dtype]}") if value.bits else dtype
        values = _signed(value) if value.bits else list(value.values)
        made = torch.tensor(values, dtype=read_as, device=device).view(dtype).reshape(value.shape)
        wide = torch.zeros((*value.shape, 2), dtype=dtype, device=device) if value.strided else None
    if wide is None:
        return made
    # Every second element of a buffer twice as large: same values, non-contiguous.
    wide[..., 0] = made
    return wide[..., 0]


def _signed(value: Tensor) -> list[int]:
    """Return bit patterns as the numbers with sign that have the same bits: torch has no others in every width."""
    width = WIDTHS[value.dtype]
    return [int(bits) - (int(bits) >> width - 1 << width) for bits in value.values]


def plain(value: Any, depth: int = MAX_DEPTH) -> Value:
    """Return a value as plain data; what is none of the known kinds, or cannot be read, becomes Opaque."""
    kind = type(value)
    if value is None or kind is bool or kind is float:
        return value
    if kind is int:
        return value if in_64_bits(value) else LARGE_INT
    if kind is str:
        return value[:MAX_TEXT]
    if depth == 0:
        return Opaque(type_name(value), "nested too deeply")
    if kind is list or kind is tuple:
        return _plain_items(value, depth)
    if kind is dict and all(type(key) is str for key in value):
        return {key: plain(item, depth - 1) for key, item in value.items()}
    try:
        return _of_library(value)
    except MemoryError:
        raise
    except Exception as error:  # a subclass of Tensor may do anything
        return Opaque(type_name(value), f"its values cannot be read: {type_name(error)}")


def encoded(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return ``encode(plain(value))``; lists of numbers and tensors, which may be long, are read once and not twice."""
    kind = type(value)
    if depth and (kind is list or kind is tuple) and len(value) <= MAX_ELEMENTS:
        if kind is list and (numbers := encode_numbers(value)) is not None:
            return numbers
        if len(value) <= _FEW:
            items = [encoded(item, depth - 1) for item in value]
            return items if kind is list else {"tuple": items}
    elif depth and kind is dict and all(type(key) is str for key in value):
        return {"dict": {key: encoded(item, depth - 1) for key, item in value.items()}}
    return encode(plain(value, depth))


def _plain_items(items: Any, depth: int) -> Value:
    if len(items) > MAX_ELEMENTS:
        return Opaque(type_name(items), f"{len(items)} elements")
    if type(items) is list:
        if _are_numbers(items):
            return list(items)
        if (scalars := _scalars(items)) is not None:
            return scalars
    return type(items)(plain(item, depth - 1) for item in items)


def _are_numbers(items: Sequence[Any]) -> bool:
    """Return whether all are Python numbers that are plain data as they stand."""
    kinds = set(map(type, items))
    if not kinds <= {bool, int, float}:
        return False
    if int not in kinds:
        return True
    whole = items if kinds == {int} else [item for item in items if type(item) is int]
    return in_64_bits(min(whole)) and in_64_bits(max(whole))


def _of_library(value: Any) -> Value:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        return _plain_tensor(value)
    if numpy is not None and isinstance(value, numpy.ndarray):
        return _plain_array(value)
    if numpy is not None and isinstance(value, numpy.generic):
        item = value.item()
        return Scalar(str(value.dtype), item) if _are_numbers([item]) else _opaque(value)
    return _opaque(value)


def _scalars(items: list[Any]) -> list[Scalar] | None:
    """Return a long list of NumPy scalars of one type all at once, None where it is something else."""
    numpy = sys.modules.get("numpy")
    kinds = set(map(type, items))
    if numpy is None or len(kinds) != 1 or not issubclass(kinds.pop(), (numpy.bool_, numpy.integer, numpy.floating)):
        return None
    array = numpy.array(items)
    dtype, values = str(array.dtype), array.tolist()
    return [Scalar(dtype, value) for value in values] if _are_numbers(values) else None


def _plain_tensor(value: Any) -> Value:
    torch = _torch()
    dtype = torch.names.get(value.dtype) or str(value.dtype).removeprefix("torch.")
    count = value.numel()
    # What is odd about it stands in the name of its type, because that is what a message says.
    if value.layout is not torch.strided and str(value.layout) != "torch.strided":
        return Opaque(f"tensor of layout {value.layout}", f"{dtype}, {count} elements")
    where = value.device.type
    if where == "meta":
        return Opaque("tensor on the meta device", "it has no values")
    if dtype not in DTYPES:
        return Opaque(f"tensor of {dtype}", f"{count} elements")
    if count > MAX_ELEMENTS:
        return Opaque(f"tensor of {count} elements", dtype)
    if type(value) is torch.kind and where == "cpu" and len(value.shape) == 1:  # most are, and need no more
        return _tensor_of(value, dtype, torch.tolist(value), "torch")
    flat = torch.to(torch.reshape(torch.detach(value), (-1,)), "cpu")
    return _tensor_of(value, dtype, list(torch.tolist(flat)), "torch")


@dataclass(frozen=True, slots=True)
class _Torch:
    """What of torch reads a tensor, as it is at the first use."""

    kind: Any
    names: dict[Any, str]
    """Of the dtypes, by dtype."""
    strided: Any
    detach: Callable[..., Any]
    reshape: Callable[..., Any]
    to: Callable[..., Any]
    tolist: Callable[..., Any]


@cache
def _torch() -> _Torch:
    torch = sys.modules["torch"]
    kind = torch.Tensor
    names = {getattr(torch, name): name for name in DTYPES if hasattr(torch, name)}
    return _Torch(kind, names, getattr(torch, "strided", None), kind.detach, kind.reshape, kind.to, kind.tolist)


def _plain_array(value: Any) -> Value:
    dtype = str(value.dtype)
    if dtype not in DTYPES:
        return Opaque(f"NumPy array of {dtype}", f"{value.size} elements")
    if value.size > MAX_ELEMENTS:
        return Opaque(f"NumPy array of {value.size} elements", dtype)
    return _tensor_of(value, dtype, value.reshape(-1).tolist(), "numpy")


def _tensor_of(value: Any, dtype: str, values: list[Any], library: Literal["torch", "numpy"]) -> Value:
    shape = tuple(value.shape)
    if len(values) != math.prod(shape) or not set(map(type, values)) <= {bool, int, float}:
        return Opaque(type_name(value), "its elements are not numbers")  # a matrix, a masked array, a subclass
    return Tensor(dtype, shape, tuple(values), library)


def _opaque(value: Any) -> Opaque:
    try:
        text = exactly(without_address(exactly(repr(value), 10 * MAX_TEXT)), MAX_TEXT)
    except Exception as error:  # a student's __repr__ may do anything
        text = f"its repr raises {type_name(error)}"
    return Opaque(type_name(value), text)


def type_name(value: Any) -> str:
    """Return the name of a value's class, whatever its metaclass says."""
    return exactly(_NAME_OF(type(value)), 100)


def exactly(text: str, limit: int) -> str:
    """Return up to ``limit`` characters of a text as a str proper, whatever a subclass of str would do."""
    return str.__getitem__(text, slice(limit))


def without_address(text: str) -> str:
    """Return the text without the memory addresses of Python's own reprs, which differ from run to run."""
    return _ADDRESS.sub("", text)


def overwrite(value: Any) -> None:
    """Fill every torch tensor and NumPy array inside a built value with another number, and lengthen every list."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        with torch.no_grad():
            value.detach().fill_(123)
    elif numpy is not None and isinstance(value, numpy.ndarray):
        value.fill(123)
    elif isinstance(value, (list, tuple)):
        for item in list(value):
            overwrite(item)
        if isinstance(value, list):
            value.append(123)
    elif isinstance(value, dict):
        for item in value.values():
            overwrite(item)
