"""Dtypes: how a number is rounded to each, and which one two of them become."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Number: TypeAlias = Any
"""bool, int or float."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class dtype:
    """One kind of element. Two of them are equal only if they are one."""

    name: str
    kind: int
    """0 for bool, 1 for whole numbers, 2 for floating point; a higher one wins when two meet."""
    bits: int

    @property
    def is_floating_point(self) -> bool:
        """Whether its elements are floating-point numbers."""
        return self.kind == 2

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.bits // 8

    def __repr__(self) -> str:
        return f"torch.{self.name}"


bool_: Final = dtype("bool", 0, 8)
uint8: Final = dtype("uint8", 1, 8)
int8: Final = dtype("int8", 1, 8)
int16: Final = dtype("int16", 1, 16)
int32: Final = dtype("int32", 1, 32)
int64: Final = dtype("int64", 1, 64)
float16: Final = dtype("float16", 2, 16)
bfloat16: Final = dtype("bfloat16", 2, 16)
float32: Final = dtype("float32", 2, 32)
float64: Final = dtype("float64", 2, 64)
ALL: Final = (bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64)
CODES: Final = {bool_: "?", uint8: "B", int8: "b", int16: "h", int32: "i", int64: "q", float32: "f", float64: "d"}
"""How ``struct`` writes an element; float32 and the two halves are written by ``patterns``."""
_HALF_OVERFLOWS: Final = 65520.0
"""From here on a number is nearer to 2**16, which float16 does not have, than to its largest, 65504."""


# --------------------------------------------------------------------------- rounding


def to_float32(values: Sequence[Number]) -> list[float]:
    """Return each number as the nearest float32; what is too large as an infinity."""
    return array("f", map(float, values)).tolist()


def to_float16(values: Sequence[Number]) -> list[float]:
    """Return each number as a float16, rounded to float32 on the way, as everything is that becomes a half."""
    single = to_float32(values)
    inside = [v if -_HALF_OVERFLOWS < v < _HALF_OVERFLOWS or v != v else math.copysign(math.inf, v) for v in single]
    return list(struct.unpack(f"<{len(inside)}e", struct.pack(f"<{len(inside)}e", *inside)))


def to_bfloat16(values: Sequence[Number]) -> list[float]:
    """Return each number as a bfloat16, rounded to float32 on the way: the upper half of its bits, ties to even."""
    words = array("I", array("f", map(float, values)).tobytes())
    for place, word in enumerate(words):
        if word & 0x7FFFFFFF > 0x7F800000:
            words[place] = 0x7FC00000  # nan
        else:
            words[place] = (word + 0x7FFF + (word >> 16 & 1)) & 0xFFFF0000
    return array("f", words.tobytes()).tolist()


def _to_float64(values: Sequence[Number]) -> list[float]:
    return list(map(float, values))


def _to_bool(values: Sequence[Number]) -> list[bool]:
    return [value != 0 for value in values]


def _whole(value: Number) -> int:
    if isinstance(value, float):
        # What C leaves open, x86 answers with its lowest number, and so does torch on most machines.
        return int(value) if math.isfinite(value) and abs(value) < 2.0**63 else -(2**63)
    return int(value)


def _to_whole(kind: dtype) -> Callable[[Sequence[Number]], list[int]]:
    size, signed = 2**kind.bits, kind is not uint8
    half = size // 2 if signed else 0

    def convert(values: Sequence[Number]) -> list[int]:
        return [(_whole(value) + half) % size - half for value in values]

    return convert


_CONVERT: Final[dict[dtype, Callable[[Sequence[Number]], list[Any]]]] = {
    bool_: _to_bool,
    float16: to_float16,
    bfloat16: to_bfloat16,
    float32: to_float32,
    float64: _to_float64,
    **{kind: _to_whole(kind) for kind in (uint8, int8, int16, int32, int64)},
}


def convert(values: Sequence[Number], kind: dtype) -> list[Number]:
    """Return numbers as elements of a dtype: floating-point numbers rounded, whole ones wrapped around."""
    return _CONVERT[kind](values)


# ---------------------------------------------------------------------------- promotion


def promote(first: dtype, second: dtype) -> dtype:
    """Return the dtype that holds two others, as ``torch.promote_types`` does."""
    if first is second:
        return first
    low, high = sorted((first, second), key=lambda kind: (kind.kind, kind.bits))
    if low.kind < high.kind:
        return high
    if high.kind == 2:
        return high if low.bits < high.bits else float32  # the two halves have no half in common
    if uint8 in (low, high):
        return int16 if int8 in (low, high) else high
    return high


# ----------------------------------------------------------------------------- patterns


# A nan has bits of its own, too, and a reader may look at them. A Python float has room for those of a float32, in the
# upper part of its fraction. Only the bit that tells a quiet nan from a signaling one is not safe there, because
# processors set it whenever they convert; the lowest bit, which no float32 has, remembers that it was clear.
_QUIET: Final = 0x400000
_WAS_SIGNALING: Final = 1


def patterns(values: Sequence[Number], kind: dtype) -> bytes:
    """Return the elements as they lie in memory, lowest byte first."""
    if kind is float16:
        return struct.pack(f"<{len(values)}e", *values)
    if kind is bfloat16:
        return b"".join(_single(value)[2:] for value in values)
    if kind is float32:
        return b"".join(map(_single, values))
    return struct.pack(f"<{len(values)}{CODES[kind]}", *values)


def _single(value: float) -> bytes:
    if value == value:
        return struct.pack("<f", value)
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    word = bits >> 63 << 31 | 0x7F800000 | bits >> 29 & 0x7FFFFF
    return struct.pack("<I", word & ~_QUIET if bits & _WAS_SIGNALING else word)


def _from_single(word: int) -> float:
    if word & 0x7FFFFFFF <= 0x7F800000:
        return float(struct.unpack("<f", struct.pack("<I", word))[0])
    mark = 0 if word & _QUIET else _WAS_SIGNALING
    bits = word >> 31 << 63 | 0x7FF << 52 | (word & 0x7FFFFF | _QUIET) << 29 | mark
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


def from_patterns(raw: bytes, kind: dtype) -> list[Number]:
    """Return the elements that lie in memory so."""
    count = len(raw) // kind.itemsize
    if kind is float16:
        return list(struct.unpack(f"<{count}e", raw))
    if kind is bfloat16:
        return [_from_single(word << 16) for word in struct.unpack(f"<{count}H", raw)]
    if kind is float32:
        return [_from_single(word) for word in struct.unpack(f"<{count}I", raw)]
    return list(struct.unpack(f"<{count}{CODES[kind]}", raw))


@dataclass(frozen=True, slots=True)
class finfo:
    """What a floating-point dtype can hold: ``max``, ``min``, ``eps``, ``tiny`` and its like."""

    bits: int
    max: float
    min: float
    eps: float
    tiny: float
    smallest_normal: float

    def __init__(self, kind: dtype = float32) -> None:
        """Give the dtype.

        Raises:
            TypeError: it is not one of floating point.
        """
        if not isinstance(kind, dtype) or kind.kind != 2:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{kind!r}'")
        fraction, exponent = {"float16": (10, 15), "bfloat16": (7, 127), "float32": (23, 127), "float64": (52, 1023)}[
            kind.name
        ]
        largest = math.ldexp(2.0 - 2.0**-fraction, exponent)
        tiny = math.ldexp(1.0, 1 - exponent)
        for name, value in {
            "bits": kind.bits,
            "max": largest,
            "min": -largest,
            "eps": 2.0**-fraction,
            "tiny": tiny,
            "smallest_normal": tiny,
        }.items():
            object.__setattr__(self, name, value)
