"""A number as a row of bits: the sign, the exponent and the fraction of a floating-point format.

``row`` shows what is stored for a number, ``explorer`` also how its bits add up to it.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from figures.style import Picture, power


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: a sign bit, then the exponent's bits, then the fraction's."""

    name: str
    exponent: int
    fraction: int
    infinite: bool = True
    """Whether an exponent of ones means inf and nan, as in IEEE 754. If not, the pattern of ones alone is nan."""

    @property
    def bias(self) -> int:
        """What is subtracted from the exponent field."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def infinity(self) -> int:
        """The exponent field, every bit set: the pattern of +inf where the format has one."""
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def largest(self) -> int:
        """The pattern of the largest number."""
        return self.infinity - 1 if self.infinite else (1 << (self.width - 1)) - 2

    @property
    def width(self) -> int:
        """The number of bits."""
        return 1 + self.exponent + self.fraction


FORMATS: Final[Mapping[str, Format]] = {
    "float16": Format("float16", 5, 10),
    "bfloat16": Format("bfloat16", 8, 7),
    "float32": Format("float32", 8, 23),
    "tfloat32": Format("tfloat32", 8, 10),
    "float8_e4m3fn": Format("float8_e4m3fn", 4, 3, infinite=False),
    "float8_e5m2": Format("float8_e5m2", 5, 2),
}


def encode(value: float, fmt: Format) -> int:
    """Return the pattern of the number of that format next to value: rounded once, to nearest, ties to even.

    What is too large becomes inf; in a format without inf the largest number, as PyTorch's cast to it does.
    """
    sign = (1 << (fmt.width - 1)) if math.copysign(1.0, value) < 0 else 0
    beyond = fmt.infinity if fmt.infinite else fmt.largest
    if math.isnan(value):
        return sign | (fmt.infinity | 1 << (fmt.fraction - 1) if fmt.infinite else fmt.largest + 1)
    if value == 0 or math.isinf(value):
        return sign | (beyond if value else 0)
    smallest = 1 - fmt.bias
    exponent = max(math.frexp(value)[1] - 1, smallest)
    # Scaling by a power of two is exact, so `round` is the only rounding; a carry moves into the exponent by itself.
    steps = round(math.ldexp(abs(value), fmt.fraction - exponent))
    return sign | min(steps + ((exponent - smallest) << fmt.fraction), beyond)


def decode(pattern: int, fmt: Format) -> float:
    """Return the number that a pattern of that format stands for."""
    sign = -1.0 if pattern >> (fmt.width - 1) else 1.0
    field = (pattern & fmt.infinity) >> fmt.fraction
    fraction = pattern & ((1 << fmt.fraction) - 1)
    if pattern & ((1 << (fmt.width - 1)) - 1) > fmt.largest:
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
        fmt: a key of FORMATS.
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


def terms(pattern: int, fmt: Format) -> dict[str, str]:
    """Return how a pattern comes to its value, field by field, as plain text.

    The keys are sign, exponent, fraction, sum (of powers of two, one for each bit that counts) and value.
    """
    field, fraction = (pattern & fmt.infinity) >> fmt.fraction, pattern & ((1 << fmt.fraction) - 1)
    minus = bool(pattern >> (fmt.width - 1))
    number = decode(pattern, fmt)
    shown = {"sign": f"{int(minus)}, which is {'−' if minus else '+'}"}
    value = f"{'−' if minus else ''}{abs(number)!r}".replace("e-0", "e-")
    if not math.isfinite(number):
        shown["exponent"] = f"{field}, all ones: not a number of the number line"
        shown["fraction"] = "zero: infinity" if math.isinf(number) else "not zero: nan"
        return shown | {"sum": "none", "value": "nan" if math.isnan(number) else value}
    exponent = max(field, 1) - fmt.bias
    places = [place for place in range(1, fmt.fraction + 1) if fraction >> (fmt.fraction - place) & 1]
    led = [0, *places] if field else places
    how = f"{field} − {fmt.bias}" if field else f"0 counts as 1 − {fmt.bias}"
    shown["exponent"] = f"{how} = {exponent}".replace("-", "−") + f", which is {power(2, exponent)}"
    shown["fraction"] = " + ".join([str(int(field > 0)), *(power(2, -place) for place in places)])
    added = " + ".join(power(2, exponent - place) for place in led) or "0"
    total = f"−({added})" if minus and len(led) > 1 else f"−{added}" if minus else added
    return shown | {"sum": total, "value": value}


def explorer(value: float, fmt: str = "float16", caption: str = "", key: str = "bit-explorer") -> Picture:
    """Return value, rounded to a format, as a row of bits over the sum that they stand for.

    Each part can be found by a script: the figure has the id ``key`` and the attributes data-format, data-pattern,
    data-exponent-bits, data-fraction-bits and data-bias; bit n, counted from the right, has the id ``key-n``, and
    data-bit and data-field; each line below it has data-part: sign, exponent, fraction, sum or value.
    """
    shape = FORMATS[fmt]
    pattern = encode(value, shape)
    what = kind(pattern, shape)
    lines = terms(pattern, shape)
    caption = caption or f"{value:.10g} in {shape.name}"
    digits = f"{pattern:0{shape.width}b}"
    spoken = "; ".join(f"{name}: {text}" for name, text in lines.items())
    alt = f"{caption}: the bits {digits}, {what}; {spoken}"
    groups, start = "", shape.width
    for name, count in (("sign", 1), ("exponent", shape.exponent), ("fraction", shape.fraction)):
        groups += _group(name, digits[shape.width - start :][:count], first=start - 1, key=key)
        start -= count
    listed = "".join(
        f'<dt class="hp-bits-{part}">{part}</dt><dd data-part="{part}">{html.escape(text)}</dd>'
        for part, text in lines.items()
    )
    markup = (
        f'<figure class="hp-bits hp-explorer hp-bits-{what}" id="{html.escape(key)}" role="img" '
        f'aria-label="{html.escape(alt)}" data-format="{shape.name}" data-pattern="{pattern}" '
        f'data-exponent-bits="{shape.exponent}" data-fraction-bits="{shape.fraction}" data-bias="{shape.bias}">'
        f'<div class="hp-bits-caption">{html.escape(caption)}</div>'
        f'<div class="hp-bits-row">{groups}</div><dl class="hp-bits-terms">{listed}</dl></figure>'
    )
    return Picture(markup, alt)


def _group(name: str, bits: str, kept: int | None = None, first: int = 0, key: str = "") -> str:
    """Return the cells of one field; with a key each cell carries the number of its bit, falling from first."""
    kept = len(bits) if kept is None else kept
    cells = ""
    for place, bit in enumerate(bits):
        number = first - place
        found = f' id="{html.escape(key)}-{number}" data-bit="{number}" data-field="{name}"' if key else ""
        cells += _cell(bit, place >= kept, found)
    return f'<span class="hp-bits-group hp-bits-{name}"><span>{cells}</span><small>{name}</small></span>'


def _cell(bit: str, cut: bool, found: str = "") -> str:
    if cut:
        return f'<i class="cut"{found}>{bit}</i>'
    return f"<i{' class=on' if bit == '1' else ''}{found}>{bit}</i>"
