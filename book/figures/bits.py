"""A number as a row of bits: the sign, the exponent and the fraction of a floating-point format."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from figures.style import Picture


@dataclass(frozen=True, slots=True)
class Format:
    """An IEEE binary format: a sign bit, then the exponent's bits, then the fraction's."""

    name: str
    exponent: int
    fraction: int

    @property
    def bias(self) -> int:
        """What is subtracted from the exponent field."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def infinity(self) -> int:
        """The pattern of +inf: every exponent bit set, no fraction bit."""
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def width(self) -> int:
        """The number of bits."""
        return 1 + self.exponent + self.fraction


FORMATS: Final[Mapping[str, Format]] = {
    "float16": Format("float16", 5, 10),
    "bfloat16": Format("bfloat16", 8, 7),
    "float32": Format("float32", 8, 23),
}


def encode(value: float, fmt: Format) -> int:
    """Return the pattern of the number of that format next to value: rounded once, to nearest, ties to even."""
    sign = (1 << (fmt.width - 1)) if math.copysign(1.0, value) < 0 else 0
    if math.isnan(value):
        return sign | fmt.infinity | 1 << (fmt.fraction - 1)
    if value == 0 or math.isinf(value):
        return sign | (fmt.infinity if value else 0)
    smallest = 1 - fmt.bias
    exponent = max(math.frexp(value)[1] - 1, smallest)
    # Scaling by a power of two is exact, so `round` is the only rounding; a carry moves into the exponent by itself.
    steps = round(math.ldexp(abs(value), fmt.fraction - exponent))
    return sign | min(steps + ((exponent - smallest) << fmt.fraction), fmt.infinity)


def decode(pattern: int, fmt: Format) -> float:
    """Return the number that a pattern of that format stands for."""
    sign = -1.0 if pattern >> (fmt.width - 1) else 1.0
    field = (pattern & fmt.infinity) >> fmt.fraction
    fraction = pattern & ((1 << fmt.fraction) - 1)
    if field == (1 << fmt.exponent) - 1:
        return math.nan if fraction else sign * math.inf
    steps = fraction + ((1 << fmt.fraction) if field else 0)
    return sign * math.ldexp(steps, max(field, 1) - fmt.bias - fmt.fraction)


def kind(pattern: int, fmt: Format) -> str:
    """Return what a pattern is: zero, subnormal, normal, inf or nan."""
    number = decode(pattern, fmt)
    if not math.isfinite(number):
        return "nan" if math.isnan(number) else "inf"
    return "zero" if number == 0 else "normal" if pattern & fmt.infinity else "subnormal"


def row(value: float, fmt: str = "float16", caption: str = "", *, digits: int = 5, kept: int | None = None) -> Picture:
    """Return value, rounded to a format, as a row of its bits, with what is stored beside it.

    Args:
        value: any Python float.
        fmt: float16, bfloat16 or float32.
        caption: a line above the row; says the value and the format where it is empty. Plain text.
        digits: how many significant digits of what is stored are written; 17 tell any two numbers apart.
        kept: how many fraction bits a narrower format has; those after them are drawn as left off. None: all are drawn
            alike.
    """
    shape = FORMATS[fmt]
    pattern = encode(value, shape)
    written = f"{pattern:0{shape.width}b}"
    parts = {
        "sign": written[:1],
        "exponent": written[1 : 1 + shape.exponent],
        "fraction": written[1 + shape.exponent :],
    }
    caption = caption or f"{value:.10g} in {shape.name}"
    stored, what = f"{decode(pattern, shape):.{digits}g}", kind(pattern, shape)
    said = dict(parts)
    if kept is not None:
        said["fraction"] = f"{parts['fraction'][:kept]} and then {parts['fraction'][kept:]}"
    spoken = ", ".join(f"{name} {bits}" for name, bits in said.items())
    note = stored if what in ("inf", "nan") else f"{stored} ({what})"
    alt = f"{caption}: {spoken}; stored as {note}"
    groups = "".join(_group(name, bits, kept if name == "fraction" else None) for name, bits in parts.items())
    markup = (
        f'<figure class="hp-bits hp-bits-{what}" role="img" aria-label="{html.escape(alt)}">'
        f'<div class="hp-bits-caption">{html.escape(caption)}</div>'
        f'<div class="hp-bits-row">{groups}<span class="hp-bits-stored">= {html.escape(stored)}'
        f"{'' if what in ('inf', 'nan') else f' <small>{what}</small>'}</span></div></figure>"
    )
    return Picture(markup, alt)


def rows(*pictures: Picture) -> Picture:
    """Return several rows as one picture, one under the other."""
    markup = f'<div class="hp-bits-stack">{"".join(picture.markup for picture in pictures)}</div>'
    return Picture(markup, "; ".join(picture.alt for picture in pictures))


def _group(name: str, bits: str, kept: int | None = None) -> str:
    kept = len(bits) if kept is None else kept
    cells = "".join(_cell(bit, place >= kept) for place, bit in enumerate(bits))
    return f'<span class="hp-bits-group hp-bits-{name}"><span>{cells}</span><small>{name}</small></span>'


def _cell(bit: str, cut: bool) -> str:
    if cut:
        return f'<i class="cut">{bit}</i>'
    return f"<i{' class=on' if bit == '1' else ''}>{bit}</i>"
