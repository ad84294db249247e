"""From many elements to one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from . import dtypes
from .dtypes import Number
from .dtypes import dtype as Dtype
from .elementwise import divided, larger, maximum, minimum, smaller
from .making import must
from .operations import absent
from .tensor import Tensor

# ------------------------------------------------------------------------ from many to one


def _no_dim(name: str, dim: Any, options: dict[str, Any]) -> None:
    if dim is not None or options:
        absent(f"torch.{name}(dim=...)")


def every(input: Tensor, dim: Any = None, keepdim: bool = False, **options: Any) -> Tensor:
    """Return whether every element is different from zero, of the whole or along one dimension; true for none."""
    return _truth("all", must("all", input), dim, keepdim, options, lambda row: 0 not in row)


def some(input: Tensor, dim: Any = None, keepdim: bool = False, **options: Any) -> Tensor:
    """Return whether an element is different from zero, of the whole or along one dimension; false for none."""
    return _truth("any", must("any", input), dim, keepdim, options, lambda row: not set(row) <= {0})


def _truth(
    name: str, input: Tensor, dim: Any, keepdim: bool, options: dict[str, Any], judge: Callable[[list[Number]], bool]
) -> Tensor:
    values, shape = input._values(), list(input.shape)
    if options or (dim is None and keepdim) or type(dim) not in (int, type(None)):
        absent(f"torch.{name}(dim=(...))")
    if dim is None:
        return Tensor([judge(values)], dtypes.bool_, ())
    most = max(len(shape), 1)
    if not -most <= dim < most:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {dim})")
    if not shape:
        return Tensor([judge(values)], dtypes.bool_, ())
    dim %= most
    size, inner = shape[dim], math.prod(shape[dim + 1 :])
    starts = [outer * size * inner + at for outer in range(math.prod(shape[:dim])) for at in range(inner)]
    rows = [values[start : start + size * inner : inner] if size else [] for start in starts]
    shape[dim : dim + 1] = [1] if keepdim else []
    return Tensor([judge(row) for row in rows], dtypes.bool_, shape)


def count_nonzero(input: Tensor) -> Tensor:
    """Return how many elements are different from zero."""
    values = must("count_nonzero", input)._values()
    return Tensor([len(values) - values.count(0)], dtypes.int64, ())


def _exact_sum(values: Sequence[float]) -> float:
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # beyond float64, or inf beside -inf
        total = 0.0
        for value in values:
            total += value
        return total


def total(input: Tensor, dim: Any = None, *, dtype: Dtype | None = None, **options: Any) -> Tensor:
    """Return the sum; that of truth values and whole numbers is an int64."""
    _no_dim("sum", dim, options)
    kind = dtype or (must("sum", input).dtype if input.dtype.kind == 2 else dtypes.int64)
    values = dtypes.convert(input._values(), kind)
    total: Number = _exact_sum(values) if kind.kind == 2 else sum(values)
    return Tensor(dtypes.convert([total], kind), kind, ())


def mean(input: Tensor, dim: Any = None, *, dtype: Dtype | None = None, **options: Any) -> Tensor:
    """Return the mean of floating-point numbers; nan for none."""
    _no_dim("mean", dim, options)
    kind = dtype or must("mean", input).dtype
    if kind.kind < 2:
        name = {"int64": "Long", "int32": "Int", "bool": "Bool"}.get(kind.name, kind.name)
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {name}"
        )
    wide = dtypes.float64 if kind is dtypes.float64 else dtypes.float32
    total = dtypes.convert([_exact_sum(input._values())], wide)[0]
    return Tensor(dtypes.convert([divided(total, float(input.numel()))], kind), kind, ())


def prod(input: Tensor, dim: Any = None, **options: Any) -> Tensor:
    """Return the product."""
    _no_dim("prod", dim, options)
    kind = must("prod", input).dtype if input.dtype.kind == 2 else dtypes.int64
    result: Number = 1
    for value in input._values():
        result = dtypes.convert([result * value], kind)[0]
    return Tensor(dtypes.convert([result], kind), kind, ())


def _extreme(name: str, choose: Callable[[Number, Number], Number], empty: str) -> Callable[[Tensor], Tensor]:
    def find(input: Tensor) -> Tensor:
        values = must(name, input)._values()
        if not values:
            raise RuntimeError(empty)
        found = values[0]
        for value in values:
            found = choose(found, value)
        return Tensor([found], input.dtype, ())

    return find


_EMPTY: Final = (
    "{0}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
    "argument."
)


_max = _extreme("max", larger, _EMPTY.format("max"))
_min = _extreme("min", smaller, _EMPTY.format("min"))


def largest(input: Tensor, other: Any = None, **options: Any) -> Tensor:
    """Return the largest element, nan where there is one; or of two tensors the larger of each two elements."""
    _no_dim("max", other if not isinstance(other, Tensor) else None, options)
    return _max(input) if other is None else maximum(input, other)


def smallest(input: Tensor, other: Any = None, **options: Any) -> Tensor:
    """Return the smallest element, nan where there is one; or of two tensors the smaller of each two elements."""
    _no_dim("min", other if not isinstance(other, Tensor) else None, options)
    return _min(input) if other is None else minimum(input, other)


def amax(input: Tensor, dim: Any = None, **options: Any) -> Tensor:
    """Return the largest element, nan where there is one."""
    _no_dim("amax", dim, options)
    return _extreme("amax", larger, _EMPTY.format("amax"))(input)


def amin(input: Tensor, dim: Any = None, **options: Any) -> Tensor:
    """Return the smallest element, nan where there is one."""
    _no_dim("amin", dim, options)
    return _extreme("amin", smaller, _EMPTY.format("amin"))(input)


def aminmax(input: Tensor, **options: Any) -> tuple[Tensor, Tensor]:
    """Return the smallest element and the largest."""
    _no_dim("aminmax", None, options)
    return amin(input), amax(input)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "all": every,
    "any": some,
    "sum": total,
    "mean": mean,
    "prod": prod,
    "max": largest,
    "min": smallest,
    "amax": amax,
    "amin": amin,
    "aminmax": aminmax,
    "count_nonzero": count_nonzero,
}
