"""Shapes, lists of tensors, and what only says that no gradient is recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from . import dtypes
from .elementwise import add, div, mul, sub
from .methods import store
from .operations import absent
from .tensor import Tensor

# --------------------------------------------------------------------------------- shape


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return tensors one after the other, along their first dimension."""
    if dim:
        absent("torch.cat(dim=...)")
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    kind = tensors[0].dtype
    for one in tensors[1:]:
        kind = dtypes.promote(kind, one.dtype)
    rest = [list(one.shape[1:]) for one in tensors if one.shape != (0,)] or [[]]
    if [one for one in tensors if not one.shape]:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    if [row for row in rest if row != rest[0]]:
        raise RuntimeError("Sizes of tensors must match except in dimension 0")
    values = [number for one in tensors for number in dtypes.convert(one._values(), kind)]
    count = sum([one.shape[0] for one in tensors])
    return Tensor(values, kind, [count, *rest[0]])


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return tensors of one shape as the rows of one more dimension."""
    if dim:
        absent("torch.stack(dim=...)")
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for place, one in enumerate(tensors):
        if one.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                f"{list(one.shape)} at entry {place}"
            )
    return cat([one.unsqueeze(0) for one in tensors])


def split(tensor: Tensor, split_size_or_sections: Any) -> tuple[Tensor, ...]:
    """Return parts of a tensor along its first dimension."""
    return tensor.split(split_size_or_sections)


def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return it in another shape."""
    return input.reshape(shape)


def flatten(input: Tensor) -> Tensor:
    """Return it in one dimension."""
    return input.flatten()


ravel = flatten


def clone(input: Tensor) -> Tensor:
    """Return a tensor of the same elements in memory of its own."""
    return input.clone()


# ------------------------------------------------------------------------ lists of tensors


def _over_lists(compute: Callable[[Any, Any], Tensor]) -> Callable[[Sequence[Tensor], Any], tuple[Tensor, ...]]:
    def apply(self: Sequence[Tensor], other: Any) -> tuple[Tensor, ...]:
        others = list(other) if isinstance(other, (list, tuple)) else [other] * len(self)
        return tuple(compute(one, two) for one, two in zip(self, others, strict=True))

    return apply


_foreach_add, _foreach_sub = _over_lists(add), _over_lists(sub)
_foreach_mul, _foreach_div = _over_lists(mul), _over_lists(div)


def _foreach_mul_(self: Sequence[Tensor], other: Any) -> None:
    for one, product in zip(self, _foreach_mul(self, other), strict=True):
        store(one, product)


def _foreach_div_(self: Sequence[Tensor], other: Any) -> None:
    for one, quotient in zip(self, _foreach_div(self, other), strict=True):
        store(one, quotient)


def _foreach_copy_(self: Sequence[Tensor], src: Sequence[Tensor]) -> None:
    for one, other in zip(self, src, strict=True):
        one.copy_(other)


@contextlib.contextmanager
def no_grad() -> Iterator[None]:
    """Do nothing: no operation is recorded."""
    yield


inference_mode = no_grad


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "cat": cat,
    "stack": stack,
    "split": split,
    "reshape": reshape,
    "flatten": flatten,
    "ravel": ravel,
    "clone": clone,
    "_foreach_add": _foreach_add,
    "_foreach_sub": _foreach_sub,
    "_foreach_mul": _foreach_mul,
    "_foreach_div": _foreach_div,
    "_foreach_mul_": _foreach_mul_,
    "_foreach_div_": _foreach_div_,
    "_foreach_copy_": _foreach_copy_,
    "no_grad": no_grad,
    "inference_mode": inference_mode,
}
