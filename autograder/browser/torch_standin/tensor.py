"""The tensor: elements in a list that several tensors may share, as PyTorch's views share memory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, TypeAlias

from . import dtypes
from .dtypes import Number
from .dtypes import dtype as Dtype
from .operations import absent


class Size(tuple[int, ...]):
    """A shape."""

    def numel(self) -> int:
        """Return how many elements a tensor of this shape has."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


@dataclass(frozen=True, slots=True)
class Device:
    """Where a tensor is: there is one place."""

    type: str = "cpu"
    index: int | None = None

    def __post_init__(self) -> None:
        if self.type != "cpu":
            absent(f"the device {self.type!r}")

    def __str__(self) -> str:
        return self.type


class _Layout:
    def __repr__(self) -> str:
        return "torch.strided"


strided: Final = _Layout()
CPU: Final = Device()


class Reread:
    """A list whose bits are read, and written, as elements of another dtype of the same size."""

    __slots__ = ("_inside", "_kind", "_memory")

    def __init__(self, memory: Memory, inside: Dtype, kind: Dtype) -> None:
        """Read ``memory``, whose elements are of the dtype ``inside``, as ``kind``."""
        self._memory, self._inside, self._kind = memory, inside, kind

    @property
    def place(self) -> int:
        """A number that it has in common with the list that it reads."""
        return _place_of(self._memory)

    def __len__(self) -> int:
        return len(self._memory)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return dtypes.from_patterns(dtypes.patterns(self._memory[place], self._inside), self._kind)
        return dtypes.from_patterns(dtypes.patterns([self._memory[place]], self._inside), self._kind)[0]

    def __setitem__(self, place: int, value: Number) -> None:
        self._memory[place] = dtypes.from_patterns(dtypes.patterns([value], self._kind), self._inside)[0]


Memory: TypeAlias = list[Number] | Reread


def _place_of(memory: Memory) -> int:
    return memory.place if isinstance(memory, Reread) else id(memory)


class Tensor:
    """Elements of one dtype in a shape.

    ``_memory`` is the list that the elements are in, ``_places`` says where in it each one is, in row-major order.
    """

    __slots__ = ("_dtype", "_memory", "_places", "_shape", "grad", "requires_grad")

    def __init__(self, memory: Memory, kind: Dtype, shape: Sequence[int], places: Sequence[int] | None = None) -> None:
        """Make a tensor over a list; ``torch.tensor`` is for readers."""
        if not isinstance(kind, Dtype):
            absent("Tensor(...)")
        self._memory, self._dtype, self._shape = memory, kind, Size(shape)
        self._places = range(len(memory)) if places is None else places
        self.requires_grad, self.grad = False, None

    # ---------------------------------------------------------------------- what it is

    @property
    def dtype(self) -> Dtype:
        """The kind of its elements."""
        return self._dtype

    @property
    def shape(self) -> Size:
        """The size of each dimension."""
        return self._shape

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self._shape)

    @property
    def device(self) -> Device:
        """Where it is."""
        return CPU

    @property
    def layout(self) -> Any:
        """How it lies in memory."""
        return strided

    @property
    def is_leaf(self) -> bool:
        """Whether no operation that is recorded has made it: none is."""
        return True

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._dtype.itemsize

    @property
    def data(self) -> Tensor:
        """The same elements."""
        return self.detach()

    @data.setter
    def data(self, other: Tensor) -> None:
        self._memory, self._places, self._shape = other._memory, other._places, other._shape
        self._dtype = other._dtype

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of one dimension."""
        return self._shape if dim is None else self._shape[dim]

    def dim(self) -> int:
        """Return how many dimensions it has."""
        return len(self._shape)

    def numel(self) -> int:
        """Return how many elements it has."""
        return len(self._places)

    nelement = numel

    def element_size(self) -> int:
        """Return the bytes of one element."""
        return self._dtype.itemsize

    def is_floating_point(self) -> bool:
        """Return whether its elements are floating-point numbers."""
        return self._dtype.kind == 2

    def is_contiguous(self) -> bool:
        """Return whether its elements lie side by side."""
        return all(b - a == 1 for a, b in itertools.pairwise(self._places))

    def data_ptr(self) -> int:
        """Return a number that two tensors have in common when they begin at one place of memory."""
        return _place_of(self._memory) + self._dtype.itemsize * (self._places[0] if self._places else 0)

    def _values(self) -> list[Number]:
        memory = self._memory
        if type(self._places) is range and len(self._places) == len(memory):
            return memory[:]
        return [memory[place] for place in self._places]

    def _write(self, values: Sequence[Number]) -> Self:
        """Put values, already of this dtype, in place of the elements."""
        for place, value in zip(self._places, values, strict=True):
            self._memory[place] = value
        return self

    # ----------------------------------------------------------------- to Python and back

    def tolist(self) -> Any:
        """Return the elements as nested lists, or one number for a 0-d tensor."""
        rows: list[Any] = self._values()
        if not self._shape:
            return rows[0]
        for size in reversed(self._shape[1:]):
            rows = [rows[start : start + size] for start in range(0, len(rows), size)] if size else [[]] * 0
        if 0 in self._shape[1:]:
            return _empty(self._shape)
        return rows

    def item(self) -> Number:
        """Return the one element as a Python number."""
        if len(self._places) != 1:
            raise RuntimeError(f"a Tensor with {len(self._places)} elements cannot be converted to Scalar")
        return self._memory[self._places[0]]

    def _one(self) -> Number:
        if len(self._places) != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def __float__(self) -> float:
        return float(self._one())

    def __int__(self) -> int:
        return int(self._one())

    def __index__(self) -> int:
        if self._dtype.kind == 2:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._one())

    def __bool__(self) -> bool:
        if len(self._places) != 1:
            what = "no values" if not self._places else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return self.item() not in (0, False)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter([self[place] for place in range(self._shape[0])])

    def __contains__(self, other: Any) -> bool:
        return True in (self == other)._values()

    def __repr__(self) -> str:
        body = repr(self.tolist())
        plain = self._dtype in (dtypes.float32, dtypes.bool_, dtypes.int64)
        return f"tensor({body})" if plain else f"tensor({body}, dtype={self._dtype!r})"

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self._shape else format(repr(self), spec)

    __hash__ = object.__hash__

    def __copy__(self) -> Tensor:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self.clone()

    # ------------------------------------------------------------------------- memory

    def clone(self) -> Tensor:
        """Return a tensor of the same elements in memory of its own."""
        return Tensor(self._values(), self._dtype, self._shape)

    def detach(self) -> Tensor:
        """Return a tensor over the same memory."""
        return self._over(self._shape, self._places)

    def contiguous(self) -> Tensor:
        """Return the tensor itself where its elements lie side by side, else a copy."""
        return self if self.is_contiguous() else self.clone()

    def cpu(self) -> Tensor:
        """Return the tensor itself: it is there."""
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Say that no gradient is wanted; there is no backward pass."""
        if requires_grad:
            absent("Tensor.requires_grad_(True)")
        return self

    def _over(self, shape: Sequence[int], places: Sequence[int]) -> Tensor:
        return Tensor(self._memory, self._dtype, shape, places)

    def copy_(self, source: Any) -> Self:
        """Write the elements of another tensor into this one, in this one's dtype."""
        values, shape, kind = operand(source)
        chosen = [values[place] for place in spread(shape, self._shape)]
        return self._write(chosen if kind is self._dtype else dtypes.convert(chosen, self._dtype))

    def fill_(self, value: Any) -> Self:
        """Write one number into every element."""
        number = value.item() if isinstance(value, Tensor) else value
        return self._write(dtypes.convert([number], self._dtype) * len(self._places))

    def zero_(self) -> Self:
        """Write zero into every element."""
        return self.fill_(0)

    # -------------------------------------------------------------------------- dtype

    def to(self, *args: Any, **options: Any) -> Tensor:
        """Return the tensor in another dtype; itself where it has that one and no copy is asked for."""
        kind = options.get("dtype", self._dtype)
        for argument in args:
            if isinstance(argument, Dtype):
                kind = argument
            elif isinstance(argument, Tensor):
                kind = argument._dtype
            elif isinstance(argument, str):
                Device(argument)
        return self._as(kind, bool(options.get("copy", False)))

    def _as(self, kind: Dtype, copy: bool = False) -> Tensor:
        if kind is self._dtype:
            return self.clone() if copy else self
        return Tensor(dtypes.convert(self._values(), kind), kind, self._shape)

    def type_as(self, other: Tensor) -> Tensor:
        """Return the tensor in another one's dtype."""
        return self._as(other._dtype)

    # -------------------------------------------------------------------------- shape

    def view(self, *shape: Any) -> Tensor:
        """Return it over the same memory, in another shape, or with its bits read as a dtype of the same size."""
        if len(shape) == 1 and isinstance(shape[0], Dtype):
            return self._bits_as(shape[0])
        wanted = _shape_for(sizes_of(shape), len(self._places))
        return self._over(wanted, self._places)

    def _bits_as(self, kind: Dtype) -> Tensor:
        if kind is self._dtype:
            return self._over(self._shape, self._places)
        if kind.bits != self._dtype.bits:
            absent("Tensor.view(dtype) to a dtype of another size")
        return Tensor(Reread(self._memory, self._dtype, kind), kind, self._shape, self._places)

    def reshape(self, *shape: Any) -> Tensor:
        """Return it in another shape, over the same memory where its elements lie at equal distances there."""
        wanted = _shape_for(sizes_of(shape), len(self._places))
        steps = {b - a for a, b in itertools.pairwise(self._places)}
        source = self if len(steps) < 2 or wanted == list(self._shape) else self.clone()
        return source._over(wanted, source._places)

    def flatten(self) -> Tensor:
        """Return it in one dimension."""
        return self.reshape(-1)

    ravel = flatten

    def unsqueeze(self, dim: Any) -> Tensor:
        """Return it with one more dimension, of size 1."""
        place = dim if dim >= 0 else dim + len(self._shape) + 1
        return self._over((*self._shape[:place], 1, *self._shape[place:]), self._places)

    def squeeze(self) -> Tensor:
        """Return it without its dimensions of size 1."""
        return self._over([size for size in self._shape if size != 1], self._places)

    def split(self, sizes: Any) -> tuple[Tensor, ...]:
        """Return parts of it along the first dimension, over the same memory."""
        whole = len(self)
        if not isinstance(sizes, (list, tuple)):
            sizes = [min(sizes, whole - start) for start in range(0, whole, sizes)]
        if sum(sizes) != whole:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {whole} (input tensor's size at dimension 0), "
                f"but got split_sizes={list(sizes)}"
            )
        ends = list(itertools.accumulate(sizes, initial=0))
        return tuple(self[start:end] for start, end in itertools.pairwise(ends))

    # ----------------------------------------------------------------------- indexing

    def __getitem__(self, key: Any) -> Tensor:
        if isinstance(key, Tensor) and key._dtype is dtypes.bool_:
            chosen = self._chosen(key)
            rest = self._shape[key.ndim :]
            count = len(chosen) // max(math.prod(rest), 1)
            return Tensor([self._memory[place] for place in chosen], self._dtype, (count, *rest))
        shape, places = self._select(key)
        return self._over(shape, places)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, Tensor) and key._dtype is dtypes.bool_:
            places: Sequence[int] = self._chosen(key)
            shape: Sequence[int] = (len(places),)
        else:
            shape, places = self._select(key)
        values, given, kind = operand(value)
        sources = spread(given, shape) if len(values) != 1 else [0] * len(places)
        chosen = [values[at] for at in sources]
        chosen = chosen if kind is self._dtype else dtypes.convert(chosen, self._dtype)
        for place, number in zip(places, chosen, strict=True):
            self._memory[place] = number

    def _chosen(self, mask: Tensor) -> list[int]:
        if mask._shape != self._shape[: mask.ndim]:
            raise IndexError(
                f"The shape of the mask {list(mask._shape)} at index 0 does not match the shape of the indexed tensor "
                f"{list(self._shape)} at index 0"
            )
        block = math.prod(self._shape[mask.ndim :])
        return [
            self._places[at * block + inside] for at, yes in enumerate(mask._values()) if yes for inside in range(block)
        ]

    def _select(self, key: Any) -> tuple[list[int], list[int]]:
        keys = list(key) if isinstance(key, tuple) else [key]
        if any(part is Ellipsis for part in keys):
            at = next(place for place, part in enumerate(keys) if part is Ellipsis)
            keys[at : at + 1] = [slice(None)] * (len(self._shape) - len(keys) + 1)
        if len(keys) > len(self._shape):
            if not self._shape:
                raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()`")
            raise IndexError(f"too many indices for tensor of dimension {len(self._shape)}")
        keys += [slice(None)] * (len(self._shape) - len(keys))
        shape, starts = [], [0]
        for dim, (part, size) in enumerate(zip(keys, self._shape, strict=True)):
            if isinstance(part, slice):
                rows: Sequence[int] = range(*part.indices(size))
                shape.append(len(rows))
            elif isinstance(part, (int, Tensor)) and not isinstance(part, bool):
                number = part.__index__()
                if not -size <= number < size:
                    raise IndexError(f"index {number} is out of bounds for dimension {dim} with size {size}")
                rows = [number % size]
            else:
                absent(f"indexing by {type(part).__name__}")
            starts = [start * size + row for start in starts for row in rows]
        return shape, [self._places[start] for start in starts]

    # ------------------------------------------------------------------------ the rest

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"'Tensor' object has no attribute {name!r}")
        absent(f"Tensor.{name}")


# ------------------------------------------------------------------------- broadcasting


def operand(value: Any) -> tuple[list[Number], Sequence[int], Dtype | None]:
    """Return a tensor's or a number's elements, shape and dtype; None as the dtype of a Python number."""
    if isinstance(value, Tensor):
        return value._values(), value._shape, value._dtype
    return [value], (), None


def together(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Return the shape that two shapes broadcast to."""
    shape = []
    for back in range(1, max(len(first), len(second)) + 1):
        a = first[-back] if back <= len(first) else 1
        b = second[-back] if back <= len(second) else 1
        if a != b and 1 not in (a, b):
            dim = max(len(first), len(second)) - back
            raise RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dim}"
            )
        shape.append(b if a == 1 else a)
    return shape[::-1]


def spread(shape: Sequence[int], wanted: Sequence[int]) -> Sequence[int]:
    """Return, for each element of the wanted shape, which element of ``shape`` it is."""
    if tuple(shape) == tuple(wanted):
        return range(math.prod(shape))
    if together(shape, wanted) != list(wanted):
        raise RuntimeError(
            f"The expanded size of the tensor must match the existing size: {list(shape)} does not fit {list(wanted)}"
        )
    padded = [1] * (len(wanted) - len(shape)) + list(shape)
    places = [0]
    for have, want in zip(padded, wanted, strict=True):
        places = [place * have + (row if have != 1 else 0) for place in places for row in range(want)]
    return places


def sizes_of(shape: Sequence[Any]) -> list[int]:
    return list(shape[0]) if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else list(shape)


def _shape_for(sizes: list[int], count: int) -> list[int]:
    wanted = list(sizes)
    if -1 in wanted:
        others = -math.prod(wanted)
        if others == 0 or count % others:
            raise RuntimeError(f"shape '{sizes}' is invalid for input of size {count}")
        wanted[wanted.index(-1)] = count // others
    if math.prod(wanted) != count:
        raise RuntimeError(f"shape '{sizes}' is invalid for input of size {count}")
    return wanted


def _empty(shape: Sequence[int]) -> Any:
    return [_empty(shape[1:]) for _ in range(shape[0])] if shape else None
