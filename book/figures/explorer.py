"""The bit explorer: a number's bits, which a reader can flip, and what they add up to (chapter 1).

The picture is that of ``bits.explorer``; book/live/bits.js makes it live.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from figures import bits, where_bits_go
from figures.bits import Format
from figures.live import live
from figures.style import Picture, power

NAMES: Final = {key: name.removeprefix("fp8 ") for name, key in where_bits_go.SHOWN.items()}
"""What the book calls each format."""
NO_DTYPE: Final = ("tfloat32",)
"""Formats that PyTorch does not store."""


def draw(
    value: float,
    text: str,
    fmt: str = "float16",
    *,
    formats: Sequence[str] = ("float16",),
    marks: Sequence[tuple[str, str]] = (),
    key: str = "bit-explorer",
) -> Picture:
    """Return value, rounded to a format, bit by bit, in a picture that comes alive in the page.

    Args:
        value: the number that the picture begins with.
        text: how a reader would type it, for example ``1e-8 * 1024``.
        fmt: the format that it begins with, a key of ``bits.FORMATS``.
        formats: those to choose from; with one there is nothing to choose.
        marks: pairs of words and a number as typed, a button each; without them each format has its own ``landmarks``.
        key: an id for the picture, its own in the page.
    """
    still = bits.explorer(value, fmt, f"{text} in {NAMES[fmt]}", key)
    described = [_described(bits.FORMATS[name], marks) for name in formats]
    return live("bits", still, {"format": fmt, "formats": described, "key": key, "text": text})


def landmarks(fmt: Format) -> list[tuple[str, str]]:
    """Return the places of a format's number line that a reader should have seen, in words and as one would type them.

    All but the traveling gradient are exact: the smallest subnormal and normal number, 1, the largest number, where
    overflow begins, the cut-off, and the fp32 number after that (in fp32 itself, one of as many bits).
    """
    smallest = 2 - fmt.bias - fmt.fraction - 1
    cutoff = smallest - 1
    # fp32 numbers are 2^-23 of their power of two apart, and never less than 2^-149. Below those, Python has others.
    beside = cutoff - 23 if cutoff < -149 else max(cutoff - 23, -149)
    most = bits.decode(fmt.largest, fmt)
    gap = most - bits.decode(fmt.largest - 1, fmt)
    found = [
        ("smallest subnormal", f"2**{smallest}"),
        ("smallest normal", f"2**{1 - fmt.bias}"),
        ("one", "1"),
        ("largest", typed(most)),
    ]
    if fmt.infinite:
        found.append(("where overflow begins", typed(most + gap / 2)))
    return [
        *found,
        ("the traveling gradient", "1e-8"),
        (f"the cut-off, {power(2, cutoff)}", f"2**{cutoff}"),
        ("just above it", f"2**{cutoff} + 2**{beside}"),
    ]


def typed(value: float) -> str:
    """Return a number as one would type it: ``65504``, and ``3.4028234663852886e+38``."""
    return f"{value:.0f}" if value == math.trunc(value) and abs(value) < 1e7 else repr(value)


def _described(fmt: Format, marks: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {
        "bias": fmt.bias,
        "exponent": fmt.exponent,
        "fraction": fmt.fraction,
        "infinite": fmt.infinite,
        "infinity": fmt.infinity,
        "label": NAMES[fmt.name],
        "largest": fmt.largest,
        "marks": [list(mark) for mark in marks or landmarks(fmt)],
        "name": fmt.name,
        "torch": fmt.name not in NO_DTYPE,
        "width": fmt.width,
    }
