"""The methods and operators of a tensor that are made from functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from . import dtypes, elementwise, operations
from .dtypes import dtype as Dtype
from .making import tensor, zeros
from .operations import absent
from .tensor import Tensor

_VALUES: Final = (bool, int, float, Tensor)


def store(target: Tensor, result: Tensor) -> Tensor:
    """Write a result in place, in the target's dtype."""
    if result.dtype.kind > target.dtype.kind:
        name = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long"}
        names = {**name, "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}
        raise RuntimeError(
            f"result type {names[result.dtype.name]} can't be cast to the desired output type "
            f"{names[target.dtype.name]}"
        )
    if tuple(result.shape) != tuple(target.shape):
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(result.shape)}"
        )
    return target.copy_(result)


def _in_place(compute: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def change(self: Tensor, *args: Any, **options: Any) -> Tensor:
        return store(self, compute(self, *args, **options))

    return change


def _operator(compute: Callable[[Any, Any], Tensor], swapped: bool = False) -> Callable[[Tensor, Any], Any]:
    def apply(self: Tensor, other: Any) -> Any:
        if not isinstance(other, _VALUES):
            return NotImplemented
        return compute(other, self) if swapped else compute(self, other)

    return apply


def _in_place_operator(compute: Callable[[Any, Any], Tensor]) -> Callable[[Tensor, Any], Any]:
    def change(self: Tensor, other: Any) -> Any:
        return store(self, compute(self, other)) if isinstance(other, _VALUES) else NotImplemented

    return change


def _new_tensor(self: Tensor, data: Any, *, dtype: Dtype | None = None) -> Tensor:
    return tensor(data, dtype=dtype or self.dtype)


def _new_zeros(self: Tensor, *size: Any, dtype: Dtype | None = None) -> Tensor:
    return zeros(*size, dtype=dtype or self.dtype)


def _typed(self: Tensor, dtype: Any = None) -> Tensor:
    return self._as(dtype) if isinstance(dtype, Dtype) else absent("Tensor.type() without a dtype")


def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    return elementwise.where(condition, self, other)


def _masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    self[mask] = value
    return self


def _masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    return _masked_fill_(self.clone(), mask, value)


def _cast(kind: Dtype) -> Callable[[Tensor], Tensor]:
    return lambda self: self._as(kind)


_CASTS: Final = {
    "half": dtypes.float16,
    "bfloat16": dtypes.bfloat16,
    "float": dtypes.float32,
    "double": dtypes.float64,
    "bool": dtypes.bool_,
    "int": dtypes.int32,
    "long": dtypes.int64,
    "short": dtypes.int16,
}
_OTHERS: Final = {
    "type": _typed,
    "where": _where,
    "masked_fill": _masked_fill,
    "masked_fill_": _masked_fill_,
    "new_tensor": _new_tensor,
    "new_zeros": _new_zeros,
}
_TWO: Final[dict[str, Callable[[Any, Any], Tensor]]] = {
    "add": elementwise.add,
    "sub": elementwise.sub,
    "mul": elementwise.mul,
    "truediv": elementwise.div,
    "floordiv": elementwise.floor_divide,
    "mod": elementwise.remainder,
    "pow": elementwise.power,
    "and": elementwise.bitwise_and,
    "or": elementwise.bitwise_or,
    "xor": elementwise.bitwise_xor,
    "lshift": elementwise.shift_left,
    "rshift": elementwise.shift_right,
}
_REVERSED: Final = {"mul": elementwise.mul, "truediv": elementwise.reversed_div}
"""Those whose reversed form is not the same with its operands swapped."""
_ONE: Final = {"neg": elementwise.neg, "abs": elementwise.magnitude, "invert": elementwise.bitwise_not}
_COMPARED: Final = ("eq", "ne", "lt", "le", "gt", "ge")


def attach(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Give the tensor every method that the list of operations names and that it has not of its own, and operators."""
    for name in operations.methods() - set(dir(Tensor)):
        if name in functions:
            setattr(Tensor, name, functions[name])
        elif name.endswith("_") and name[:-1] in functions:
            setattr(Tensor, name, _in_place(functions[name[:-1]]))
    for name, kind in _CASTS.items():
        setattr(Tensor, name, _cast(kind))
    for name, method in _OTHERS.items():
        setattr(Tensor, name, method)
    for name, compute in _TWO.items():
        setattr(Tensor, f"__{name}__", _operator(compute))
        setattr(Tensor, f"__r{name}__", _operator(compute, swapped=True))
        setattr(Tensor, f"__i{name}__", _in_place_operator(compute))
    for name, compute in _REVERSED.items():
        setattr(Tensor, f"__r{name}__", _operator(compute))
    for name in _COMPARED:
        setattr(Tensor, f"__{name}__", _operator(functions[name]))
    for name, single in _ONE.items():
        setattr(Tensor, f"__{name}__", single)
