"""Make tensors, and find out which dtype two of them become."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from . import dtypes
from .dtypes import Number
from .dtypes import dtype as Dtype
from .operations import absent
from .tensor import Device, Tensor, sizes_of

# ------------------------------------------------------------------------------- making


def _flat(data: Any) -> tuple[list[Number], list[int], Dtype | None]:
    """Return the numbers of nested sequences, their shape, and the dtype of tensors among them."""
    if isinstance(data, Tensor):
        return data._values(), list(data.shape), data.dtype
    if isinstance(data, (bool, int, float)):
        return [data], [], None
    if not isinstance(data, (list, tuple, range)):
        raise TypeError(f"a tensor is made of numbers, not of {type(data).__name__}")
    rows = [_flat(row) for row in data]
    if any(row[1] != rows[0][1] for row in rows):
        raise ValueError("expected sequences of equal lengths")
    inner = rows[0][1] if rows else []
    # As in torch: the values of tensors in a list are taken, their dtype is not.
    return [number for row in rows for number in row[0]], [len(rows), *inner], None


def guess(values: Sequence[Number]) -> Dtype:
    if not values or any(isinstance(value, float) for value in values):
        return dtypes.float32
    return dtypes.bool_ if all(isinstance(value, bool) for value in values) else dtypes.int64


def tensor(data: Any, *, dtype: Dtype | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Return a new tensor of numbers, or of nested lists of them."""
    _here(device, requires_grad)
    values, shape, kind = _flat(data)
    kind = dtype or kind or guess(values)
    return Tensor(dtypes.convert(values, kind), kind, shape)


def _here(device: Any, requires_grad: bool = False) -> None:
    if isinstance(device, str):
        Device(device)
    if requires_grad:
        absent("requires_grad=True")


def full(size: Any, fill_value: Any, *, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Return a new tensor of one number."""
    _here(device)
    number = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    kind = dtype or guess([number])
    shape = [size] if isinstance(size, int) else list(size)
    return Tensor(dtypes.convert([number], kind) * math.prod(shape), kind, shape)


def zeros(*size: Any, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Return a new tensor of zeros."""
    return full(sizes_of(size), 0, dtype=dtype or dtypes.float32, device=device)


def ones(*size: Any, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Return a new tensor of ones."""
    return full(sizes_of(size), 1, dtype=dtype or dtypes.float32, device=device)


empty = zeros


def full_like(input: Tensor, fill_value: Any, *, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Return a new tensor of one number, in the shape and dtype of another."""
    must("full_like", input)
    return full(input.shape, fill_value, dtype=dtype or input.dtype, device=device)


def zeros_like(input: Tensor, *, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Return a new tensor of zeros, in the shape and dtype of another."""
    must("zeros_like", input)
    return full_like(input, 0, dtype=dtype, device=device)


def ones_like(input: Tensor, *, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Return a new tensor of ones, in the shape and dtype of another."""
    must("ones_like", input)
    return full_like(input, 1, dtype=dtype, device=device)


def empty_like(input: Tensor, *, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Return a new tensor in the shape and dtype of another; it holds zeros."""
    must("empty_like", input)
    return full_like(input, 0, dtype=dtype, device=device)


def arange(*bounds: Number, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Return the numbers from a start up to an end, which is not among them."""
    _here(device)
    start, end, step = {1: (0, *bounds, 1), 2: (*bounds, 1), 3: bounds}[len(bounds)]
    count = max(0, math.ceil((end - start) / step))
    return tensor([start + place * step for place in range(count)], dtype=dtype or guess([start, end, step]))


# ---------------------------------------------------------------------------- promotion


def promote_types(type1: Dtype, type2: Dtype) -> Dtype:
    """Return the dtype that holds two others."""
    return dtypes.promote(type1, type2)


def result_type(tensor1: Any, tensor2: Any) -> Dtype:
    """Return the dtype that two operands are brought to.

    A tensor with dimensions decides, unless one without, or a number, is of a higher kind: bool, whole, floating point.
    """
    ranks: list[Dtype | None] = [None, None, None]
    for value in (tensor1, tensor2):
        rank, kind = (0 if value.shape else 1, value.dtype) if isinstance(value, Tensor) else (2, guess([value]))
        known = ranks[rank]
        ranks[rank] = kind if known is None else dtypes.promote(known, kind)
    result: Dtype | None = None
    for found in ranks:
        if found is not None and (result is None or found.kind > result.kind):
            result = found
    assert result is not None
    return result


def is_tensor(obj: Any) -> bool:
    """Return whether it is a tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Return whether its elements are floating-point numbers."""
    return input.is_floating_point()


def numel(input: Tensor) -> int:
    """Return how many elements it has."""
    return input.numel()


def must(name: str, value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        kind = type(value).__name__
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {kind}")
    return value


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "tensor": tensor,
    "zeros": zeros,
    "ones": ones,
    "full": full,
    "empty": empty,
    "arange": arange,
    "zeros_like": zeros_like,
    "ones_like": ones_like,
    "full_like": full_like,
    "empty_like": empty_like,
    "promote_types": promote_types,
    "result_type": result_type,
    "is_tensor": is_tensor,
    "is_floating_point": is_floating_point,
    "numel": numel,
}
