"""Plain values as JSON and as text; standard library only.

The JSON form is what crosses to and from the confined process and what recorded expectations are stored in.
It keeps what a judge must tell apart (bool, int, float, tuple, list, NumPy scalar, dtype, the sign of zero, inf, nan),
holds nothing that can execute on load, and ``decode`` accepts nothing else, within limits.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, islice
from operator import countOf, sub
from typing import Any, Final

from autograder.models import Opaque, Scalar, Tensor, Value

DTYPES: Final = frozenset(
    ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
)
WIDTHS: Final = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
"""Bits of the dtypes whose elements may be given by their bits."""
_PACKED: Final = tuple(
    map(frozenset, (("runs",), ("cycle", "count"), ("first", "steps"), ("b64", "as"), ("scalars", "data")))
)
"""The keys of each form that a sequence of numbers may have besides a list."""
_SHORT: Final = 16
_NARROW_FROM: Final = 1024
"""A sequence above this length is packed narrowly where it loses nothing: all fp16 patterns are 65,536 numbers."""
_PACKS: Final = {bool: "?", int: "q", float: "d"}
_PLAIN: Final = frozenset((float, bool))
"""What stands in JSON for itself, where it is finite."""
_NARROW: Final = {"q": "H", "d": "e"}
_UNPACKS: Final = {"?": bool, "q": int, "d": float, "H": int, "e": float}
_INT_LIMIT: Final = 2**63
_MAX_DIMENSIONS: Final = 64
"""As many as PyTorch and NumPy allow."""
_SHOWN: Final = 4_000
"""Characters that the text of one value may have."""
_LONG: Final = 4_096
"""Items from which on a pattern is looked for in a sequence."""
_LONGEST_CYCLE: Final = 512
_LONG_RUN: Final = 32
"""Items of a run, on the average, from which on it is found by comparing whole pieces."""
_WHOLE: Final = 64
"""Items of one container that are shown, at most."""
_SHOWN_DEPTH: Final = 5
"""How deep containers are shown: what a stranger nests deeper says nothing and takes long."""


class BadValue(ValueError):
    """The text is not a value in this form, or exceeds a limit."""


LARGE_INT: Final = Opaque("int", "an integer beyond 64 bits")
"""What stands for such an integer."""


def in_64_bits(value: int) -> bool:
    """Return whether an integer is one that the JSON form keeps."""
    return -_INT_LIMIT <= value < _INT_LIMIT


# ------------------------------------------------------------------------- to JSON


def encode(value: Value) -> Any:
    """Return the JSON form of a value; what is not plain data becomes Opaque."""
    if value is None or value is True or value is False or type(value) is str:
        return value
    if type(value) is int:
        return value if in_64_bits(value) else encode(LARGE_INT)
    if type(value) is float:
        return value if math.isfinite(value) else {"f": repr(value)}
    if type(value) is list:
        return _encode_items(value)
    if type(value) is tuple:
        return {"tuple": _encode_items(value)}
    if type(value) is dict and all(type(key) is str for key in value):
        return {"dict": {key: encode(item) for key, item in value.items()}}
    if type(value) is Tensor:
        data = {"tensor": value.dtype, "shape": list(value.shape), "data": _encode_items(value.values)}
        if value.library != "torch":
            data["library"] = value.library
        if value.strided:
            data["strided"] = True
        if value.share:
            data["share"] = value.share
        if value.bits:
            data["bits"] = True
        return data
    if type(value) is Scalar:
        return {"scalar": value.dtype, "value": encode(value.value)}
    if type(value) is Opaque:
        return {"opaque": [value.type_name, value.text]}
    return {"opaque": [type(value).__name__, ""]}


def encode_numbers(items: Sequence[Any]) -> Any:
    """Return the JSON form of a long sequence of Python numbers of one kind; None where it is something else.

    What is not looked at is whether ints have 64 bits: those that have more make it None, too.
    """
    if len(items) <= _SHORT or (kind := type(items[0])) not in _PACKS:
        return None
    return _packed(items, kind) if countOf(map(type, items), kind) == len(items) else None


def _encode_items(items: Sequence[Value]) -> Any:
    if (packed := encode_numbers(items)) is not None:
        return packed
    kinds = set(map(type, items))
    if len(items) > _SHORT and kinds == {Scalar} and len({item.dtype for item in items}) == 1:
        return {"scalars": items[0].dtype, "data": _encode_items([item.value for item in items])}
    as_they_are = kinds <= _PLAIN and (float not in kinds or all(map(math.isfinite, items)))
    return list(items) if as_they_are else [encode(item) for item in items]


def _packed(items: Sequence[Any], kind: type) -> Any:
    """Return numbers of one kind in the shortest form; None where one is an integer beyond 64 bits."""
    code = _PACKS[kind]
    try:
        raw = struct.pack(f"<{len(items)}{code}", *items)
    except struct.error:
        return None
    if (found := _encode_repeats(items, raw)) is not None:
        return found
    if kind is int and len(items) >= _LONG and (steps := _encode_steps(items)) is not None:
        return {"first": items[0], "steps": steps}
    if len(items) > _NARROW_FROM and (short := _narrowed(items, raw, code)) is not None:
        raw, code = short, _NARROW[code]
    return {"b64": base64.b64encode(raw).decode("ascii"), "as": code}


def _narrowed(items: Sequence[Value], raw: bytes, code: str) -> bytes | None:
    """Return the items in the narrower form of their kind; None where there is none that keeps every bit."""
    if code not in _NARROW:
        return None
    narrow = f"<{len(items)}{_NARROW[code]}"
    try:
        short = struct.pack(narrow, *items)
    except (struct.error, OverflowError):  # out of range
        return None
    return short if struct.pack(f"<{len(items)}{code}", *struct.unpack(narrow, short)) == raw else None


def _encode_repeats(items: Sequence[Value], raw: bytes) -> dict[str, Any] | None:
    """Return runs of equal items, or a cycle of different ones; None where neither pays."""
    runs = _long_runs(items, raw)
    # In a cycle no run is longer than it, unless all are equal.
    few = runs is not None and (len(runs) <= _SHORT or len(runs) * _LONGEST_CYCLE <= len(items))
    if not few and len(items) >= _LONG and (length := _cycle(raw, len(items))) is not None:
        return {"cycle": [encode(item) for item in items[:length]], "count": len(items)}
    runs = runs or _packed_runs(items, raw)
    return None if runs is None else {"runs": [[encode(item), count] for item, count in runs]}


def _encode_steps(items: Sequence[int]) -> dict[str, Any] | None:
    """Return the differences of neighbors, which repeat in a long list of positions; None where they do not."""
    steps = list(map(sub, islice(items, 1, None), items))
    try:
        return _encode_repeats(steps, struct.pack(f"<{len(steps)}q", *steps))
    except struct.error:  # two of them are further apart than 64 bits
        return None


def _cycle(raw: bytes, count: int) -> int | None:
    """Return after how many items they begin anew; None where that is more than a few hundred."""
    size = len(raw) // count
    start = raw[: size * _LONGEST_CYCLE]  # most shifts show at the start already that they are none
    for length in range(1, _LONGEST_CYCLE + 1):
        shift = length * size
        if raw.startswith(start, shift) and raw.startswith(raw[shift:]):
            return length
    return None


def _long_runs(items: Sequence[Value], raw: bytes) -> list[tuple[Value, int]] | None:
    """Return what ``_packed_runs`` does, quickly; None also where the runs are not long enough to be quick about."""
    count = len(items)
    size = len(raw) // count
    runs: list[tuple[Value, int]] = []
    start = 0
    while start < count:
        if len(runs) * _LONG_RUN > start:
            return None
        item = raw[start * size : (start + 1) * size]
        # Twice as far each time, then by halves: a run is compared in a few large pieces.
        known, step = 1, 1
        while start + known + step <= count and raw.startswith(item * step, (start + known) * size):
            known, step = known + step, 2 * step
        while step:
            if start + known + step <= count and raw.startswith(item * step, (start + known) * size):
                known += step
            step //= 2
        runs.append((items[start], known))
        start += known
    return runs if len(runs) <= count // 4 else None


def _packed_runs(items: Sequence[Value], raw: bytes) -> list[tuple[Value, int]] | None:
    """Return (item, how often in a row); None where the runs are so short that it does not pay."""
    # By the bits: they tell -0.0 from 0.0 and put equal nans together, which == does not.
    words = raw if len(raw) == len(items) else memoryview(raw).cast("q")
    lengths = [len(list(run)) for _, run in islice(groupby(words), len(items) // 4 + 1)]
    if sum(lengths) < len(items) or len(lengths) > len(items) // 4:
        return None
    return list(zip((items[start] for start in accumulate(lengths[:-1], initial=0)), lengths, strict=True))


# ----------------------------------------------------------------------- from JSON


@dataclass(slots=True)
class Budget:
    """What may still be decoded: one budget serves all values of one observation."""

    elements: int = 2_000_000
    """Elements of all sequences and tensors together."""
    text: int = 1_000_000
    """Characters of all strings together."""

    def take(self, elements: int) -> None:
        """Take so many elements off; BadValue where there are not as many."""
        self.elements -= elements
        if self.elements < 0:
            raise BadValue("too many elements")

    def read(self, text: str) -> str:
        """Return the text, taken off; BadValue where it is too long."""
        self.text -= len(text)
        if self.text < 0:
            raise BadValue("too much text")
        return text


def decode(data: Any, budget: Budget | None = None, *, depth: int = 16) -> Value:
    """Return the value of a JSON form; BadValue for anything that ``encode`` could not have written.

    Args:
        data: what ``json.loads`` returned; it may come from a stranger.
        budget: what this value, and those that it is shared with, may have; one of its own by default.
        depth: how deep containers may nest.
    """
    return _decode(data, Budget() if budget is None else budget, depth)


def _decode(data: Any, budget: Budget, depth: int) -> Value:
    if depth < 0:
        raise BadValue("nested too deeply")
    budget.take(1)
    if data is None or data is True or data is False:
        return data
    kind = type(data)
    if kind is str:
        return budget.read(data)
    if kind is int:
        if not in_64_bits(data):
            raise BadValue("an integer beyond 64 bits")
        return data
    if kind is float:
        if not math.isfinite(data):
            raise BadValue("a bare inf or nan")
        return data
    if kind is list:
        return _decode_items(data, budget, depth)
    if kind is not dict:
        raise BadValue(f"a {kind.__name__}")
    keys = frozenset(data)
    if keys == {"f"}:
        return _special(data["f"])
    if keys == {"tuple"}:
        return tuple(_decode_items(data["tuple"], budget, depth))
    if keys in _PACKED:
        return _decode_items(data, budget, depth)
    if keys == {"dict"} and type(data["dict"]) is dict:
        return {budget.read(key): _decode(item, budget, depth - 1) for key, item in data["dict"].items()}
    if {"tensor", "shape", "data"} <= keys <= {"tensor", "shape", "data", "library", "strided", "share", "bits"}:
        return _decode_tensor(data, budget, depth)
    if keys == {"scalar", "value"}:
        value = _decode(data["value"], budget, depth - 1)
        if type(data["scalar"]) is not str or len(data["scalar"]) > 32 or type(value) not in (bool, int, float):
            raise BadValue("a malformed NumPy scalar")
        return Scalar(data["scalar"], value)
    if keys == {"opaque"}:
        pair = data["opaque"]
        if type(pair) is not list or len(pair) != 2 or not all(type(part) is str for part in pair):
            raise BadValue("a malformed opaque value")
        return Opaque(budget.read(pair[0]), budget.read(pair[1]))
    raise BadValue("an object with unknown keys")


def _special(text: Any) -> float:
    if type(text) is not str or text not in ("inf", "-inf", "nan"):
        raise BadValue("a malformed float")
    return float(text)


def _decode_items(data: Any, budget: Budget, depth: int) -> list[Value]:
    if type(data) is list:
        return [_decode(item, budget, depth - 1) for item in data]
    if type(data) is not dict:
        raise BadValue("items that are neither a list nor packed")
    if data.keys() == {"runs"} and type(data["runs"]) is list:
        items: list[Value] = []
        for run in data["runs"]:
            if type(run) is not list or len(run) != 2 or type(run[1]) is not int or run[1] < 1:
                raise BadValue("a malformed run")
            budget.take(run[1])
            item = _decode(run[0], budget, 0)
            if type(item) not in _PACKS:
                raise BadValue("a run of something that is not a number")
            items.extend([item] * run[1])
        return items
    if data.keys() == {"cycle", "count"} and type(data["cycle"]) is list and type(data["count"]) is int:
        return _decode_cycle(data["cycle"], data["count"], budget)
    if data.keys() == {"first", "steps"} and type(data["first"]) is int and type(data["steps"]) is dict:
        return _decode_steps(data["first"], data["steps"], budget)
    if data.keys() == {"scalars", "data"} and type(data["data"]) in (list, dict):
        if type(data["scalars"]) is not str or len(data["scalars"]) > 32 or "scalars" in data["data"]:
            raise BadValue("malformed NumPy scalars")
        values = _decode_items(data["data"], budget, depth - 1)
        if not {type(value) for value in values} <= set(_PACKS):
            raise BadValue("malformed NumPy scalars")
        return [Scalar(data["scalars"], value) for value in values]
    if data.keys() == {"b64", "as"} and type(data["as"]) is str and data["as"] in _UNPACKS:
        try:
            raw = base64.b64decode(data["b64"], validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise BadValue("malformed base64") from None
        size = struct.calcsize(data["as"])
        if len(raw) % size:
            raise BadValue("packed bytes of a wrong length")
        budget.take(len(raw) // size)
        return list(struct.unpack(f"<{len(raw) // size}{data['as']}", raw))
    raise BadValue("malformed packed items")


def _decode_cycle(cycle: list[Any], count: int, budget: Budget) -> list[Value]:
    if not 0 < len(cycle) <= min(count, _LONGEST_CYCLE):
        raise BadValue("a malformed cycle")
    budget.take(count)
    items = [_decode(item, budget, 0) for item in cycle]
    if not set(map(type, items)) <= set(_PACKS):
        raise BadValue("a cycle of something that is not a number")
    return (items * (count // len(items) + 1))[:count]


def _decode_steps(first: int, steps: dict[str, Any], budget: Budget) -> list[Value]:
    if not steps.keys() & {"runs", "cycle"}:
        raise BadValue("malformed steps")
    found = _decode_items(steps, budget, 0)
    if set(map(type, found)) != {int}:
        raise BadValue("steps that are not ints")
    items = list(accumulate(found, initial=first))
    if not in_64_bits(min(items)) or not in_64_bits(max(items)):
        raise BadValue("steps that leave 64 bits")
    return items


def _decode_tensor(data: dict[str, Any], budget: Budget, depth: int) -> Tensor:
    dtype, shape = data["tensor"], data["shape"]
    if type(dtype) is not str or dtype not in DTYPES:
        raise BadValue("an unknown dtype")
    if type(shape) is not list or len(shape) > _MAX_DIMENSIONS:
        raise BadValue("a malformed shape")
    if not all(type(n) is int and 0 <= n < _INT_LIMIT for n in shape):
        raise BadValue("a malformed shape")
    library, strided, share = data.get("library", "torch"), data.get("strided", False), data.get("share", "")
    bits = data.get("bits", False)
    if library not in ("torch", "numpy") or type(strided) is not bool or type(share) is not str:
        raise BadValue("a malformed tensor")
    if type(bits) is not bool or (bits and dtype not in WIDTHS):
        raise BadValue("a malformed tensor")
    values = _decode_items(data["data"], budget, depth)
    if len(values) != math.prod(shape):
        raise BadValue("a tensor whose data do not fit its shape")
    if not all(type(value) in (bool, int, float) for value in values):
        raise BadValue("a tensor element that is not a number")
    if bits and not all(type(value) is int and 0 <= value < 2 ** WIDTHS[dtype] for value in values):
        raise BadValue("a tensor element that is not a bit pattern")
    return Tensor(dtype, tuple(shape), tuple(values), library, strided, budget.read(share), bits)


# --------------------------------------------------------------------------- text


def rounded(value: float, dtype: str) -> float:
    """Return the float16, bfloat16 or float32 nearest to a value, ties to even, inf beyond the largest.

    A bfloat16 is rounded to float32 first, as PyTorch does. Other dtypes leave the value as it is.
    """
    code = {"float16": "<e", "bfloat16": "<f", "float32": "<f"}.get(dtype)
    if code is None or math.isnan(value):
        return value
    try:
        raw = struct.pack(code, value)
    except OverflowError:
        return math.copysign(math.inf, value)
    if dtype == "bfloat16":  # the upper half of a float32's bits
        (bits,) = struct.unpack("<I", raw)
        raw = struct.pack("<I", bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000)
    return float(struct.unpack(code, raw)[0])


def number(value: float | int | bool, dtype: str = "float64") -> str:
    """Return the shortest text that reads back as the same number of that dtype; a whole number below 2**53 in full.

    The largest float16 is 65504 and not 65500, although both read back as the same.
    """
    if type(value) is not float or not math.isfinite(value) or dtype not in ("float16", "bfloat16", "float32"):
        return repr(value)
    if value.is_integer() and abs(value) < 2**53:
        return repr(value)
    for digits in range(1, 10):
        short = float(f"{value:.{digits}g}")
        if rounded(short, dtype) == value:
            return repr(short)
    return repr(value)


def brief(value: float, digits: int) -> str:
    """Return what was measured with so many digits, and all digits of a whole number: 0.012, 3.4, 612, 1,800.

    Without an exponent, which a reader of seconds or points would have to work out; values below 1e-4 keep theirs.
    """
    return f"{value:.{digits}g}" if abs(value) < 10**digits - 0.5 else f"{value:,.0f}"


def show(value: Value, width: int = 160) -> str:
    """Return a value as Python source would write it, shortened where it is long, wide or deep."""
    return _cut(_show(value, width, _SHOWN_DEPTH), _SHOWN)


def _show(value: Value, width: int, depth: int) -> str:
    if type(value) is Tensor:
        return _show_tensor(value)
    if type(value) is Scalar:
        return f"numpy.{value.dtype}({number(value.value, value.dtype)})"
    if type(value) is Opaque:
        return f"<{value.type_name}: {value.text}>" if value.text else f"<{value.type_name}>"
    if type(value) is list or type(value) is tuple:
        return _show_items(value, width, depth)
    if type(value) is dict:
        return _show_dict(value, width, depth)
    return _cut(repr(value), width)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _runs(items: Sequence[Value]) -> Iterator[tuple[Value, int]]:
    # By repr: it tells -0.0 from 0.0 and puts equal nans together, which == does not.
    for _, group in groupby(items, key=repr):
        members = list(group)
        yield members[0], len(members)


def _show_items(items: Sequence[Value], width: int, depth: int) -> str:
    opening, closing = ("[", "]") if type(items) is list else ("(", ",)" if len(items) == 1 else ")")
    if items and not depth:
        return f"{opening}…{closing[-1]}"
    texts = [_show(item, width, depth - 1) for item in items[:_WHOLE]]
    whole = opening + ", ".join(texts) + closing
    if (len(items) <= _WHOLE and len(whole) <= width) or len(items) <= 4:
        return whole
    runs = list(_runs(items))
    if type(items) is list and len(runs) <= 8 and max(count for _, count in runs) > 4:
        return " + ".join(_run(_show(item, width, depth - 1), count) for item, count in runs)
    return f"{opening}{', '.join(texts[:6])}, … ({len(items)} in all){closing[-1]}"


def _run(text: str, count: int) -> str:
    return f"[{text}] * {count}" if count > 1 else f"[{text}]"


def _show_dict(items: dict[str, Value], width: int, depth: int) -> str:
    if items and not depth:
        return "{…}"
    texts = [
        f"{_cut(repr(key), width)}: {_show(item, width, depth - 1)}" for key, item in _first(items.items(), _WHOLE)
    ]
    rest = f", … ({len(items)} in all)" if len(items) > _WHOLE else ""
    return "{" + ", ".join(texts) + rest + "}"


def _first(items: Iterable[Any], count: int) -> list[Any]:
    return [item for item, _ in zip(items, range(count), strict=False)]


def position(index: int, shape: tuple[int, ...]) -> str:
    """Return the place of the element number ``index`` (row-major) as indices: "1, 0"."""
    parts: list[str] = []
    for size in reversed(shape):
        index, rest = divmod(index, size)
        parts.append(str(rest))
    return ", ".join(reversed(parts))


def _show_tensor(tensor: Tensor) -> str:
    name = "tensor" if tensor.library == "torch" else "numpy.array"
    default = "float32" if tensor.library == "torch" else "float64"
    suffix = "" if tensor.dtype in (default, "bool") or tensor.bits else f", dtype={tensor.dtype}"
    end = f").view({tensor.dtype})" if tensor.bits else ")"
    texts = [_element(tensor, value) for value in _first(tensor.values, 12)]
    if len(tensor.values) <= 12:
        return f"{name}({_nest(tensor, texts)}{suffix}{end}"
    shape = "×".join(str(n) for n in tensor.shape)
    first = ", ".join(texts[:3])
    odd = [f"[{position(index, tensor.shape)}] is {value!r}" for index, value in _first(_non_finite(tensor.values), 4)]
    note = "; " + ", ".join(odd[:3]) + (", …" if len(odd) > 3 else "") if odd else ""
    return f"{name}([{first}, … {shape} elements{note}]{suffix}{end}"


def _element(tensor: Tensor, value: float | int | bool) -> str:
    if tensor.bits and type(value) is int:
        return f"0x{value:0{WIDTHS.get(tensor.dtype, 64) // 4}x}"
    return number(value, tensor.dtype)


def _non_finite(values: Iterable[Value]) -> Iterator[tuple[int, float]]:
    return ((i, value) for i, value in enumerate(values) if type(value) is float and not math.isfinite(value))


def _nest(tensor: Tensor, texts: list[str]) -> str:
    if not tensor.shape:
        return texts[0]
    if 0 in tensor.shape and len(tensor.shape) > 1:
        return f"zeros{tensor.shape}"
    for size in reversed(tensor.shape[1:]):
        texts = ["[" + ", ".join(texts[i : i + size]) + "]" for i in range(0, len(texts), size)]
    return "[" + ", ".join(texts) + "]"
