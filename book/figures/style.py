"""How every figure of the book looks: its colors, its axes, and its way into the page as inline SVG.

A figure is drawn in the light palette. ``show`` writes its SVG with CSS variables in place of the colors, so that the
same picture follows the reader's light or dark page and prints in black on white. Importing this module sets
Matplotlib's defaults for the process.
"""

from __future__ import annotations

import hashlib
import html
import io
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import matplotlib
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

INK: Final = "#1f242b"
SOFT: Final = "#5a626e"
GRID: Final = "#dcdfe2"
PAPER: Final = "#fdfcfa"
"""The page's ground: for edges that set bars and markers apart."""
C1: Final = "#1a63ae"
C2: Final = "#aa3c03"
C3: Final = "#0f8a68"
C4: Final = "#78257c"
C5: Final = "#ac7f0b"
COLORS: Final = (C1, C2, C3, C4, C5)

VARIABLES: Final[Mapping[str, str]] = {
    INK: "--fig-ink",
    SOFT: "--fig-soft",
    GRID: "--fig-grid",
    PAPER: "--fig-paper",
    C1: "--fig-c1",
    C2: "--fig-c2",
    C3: "--fig-c3",
    C4: "--fig-c4",
    C5: "--fig-c5",
}
"""The CSS variable of each color; book/_static/figures.css gives it a value for light, dark and print."""

MIN_ALT: Final = 20
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

matplotlib.rcParams.update(
    {
        "axes.axisbelow": True,
        "axes.edgecolor": SOFT,
        "axes.facecolor": "none",
        "axes.grid": True,
        "axes.labelcolor": INK,
        "axes.labelsize": 10.5,
        "axes.linewidth": 0.8,
        "axes.prop_cycle": cycler(color=COLORS),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": INK,
        "axes.titlelocation": "left",
        "axes.titlesize": 11.5,
        "axes.titleweight": "bold",
        "axes.unicode_minus": True,
        "figure.facecolor": "none",
        "font.family": "DejaVu Sans",
        "font.size": 10.5,
        "grid.color": GRID,
        "grid.linewidth": 0.8,
        "hatch.color": PAPER,
        "legend.fontsize": 10,
        "legend.frameon": False,
        "legend.labelcolor": INK,
        "lines.linewidth": 2.0,
        "patch.edgecolor": PAPER,
        "savefig.facecolor": "none",
        "svg.fonttype": "none",
        "text.color": INK,
        "xtick.color": SOFT,
        "xtick.labelcolor": INK,
        "xtick.labelsize": 10,
        "ytick.color": SOFT,
        "ytick.labelcolor": INK,
        "ytick.labelsize": 10,
    }
)


def new(width: float = 7.2, height: float = 3.2, rows: int = 1, cols: int = 1, **subplots: Any) -> tuple[Figure, Any]:
    """Return a figure of that size in inches and its axes: one Axes, or an array of them where rows or cols is above 1.

    Further keywords go to ``Figure.subplots``, ``sharex=True`` for example. A page's text is 7.2 inches wide.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, cols, **subplots)


def power(base: int, exponent: int) -> str:
    """Return base to that power as plain text, ``2⁻²⁴`` for example, for labels and alternative texts."""
    return f"{base}{str(exponent).translate(_SUPERSCRIPTS)}"


def powers(axis: Any, base: int = 2) -> None:
    """Label a logarithmic ``ax.xaxis`` or ``ax.yaxis`` with powers as plain text, in the page's own font."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: power(base, round(math.log(value, base)))))


@dataclass(frozen=True, slots=True)
class Picture:
    """What a cell ends with: a notebook shows it as a picture, anything else as its alternative text."""

    markup: str
    alt: str

    def _repr_html_(self) -> str:
        return self.markup

    def __repr__(self) -> str:
        return f"Figure: {self.alt}"


def show(figure: Figure, *, alt: str, caption: str = "", narrow: Figure | None = None) -> Picture:
    """Return the figure as inline SVG that follows the page's light or dark colors.

    Args:
        figure: what ``new`` returned, drawn in the colors of this module.
        alt: what the picture shows, with its numbers, for readers who do not see it.
        caption: a sentence under the picture; plain text.
        narrow: the same picture drawn about 3.6 inches wide, for phones; without it a phone scrolls sideways.

    Raises:
        ValueError: the alternative text is too short to say anything, or a color is not one of this module's.
    """
    if len(alt.split()) < 4 or len(alt) < MIN_ALT:
        raise ValueError(f"alt={alt!r} does not say what the picture shows")
    pictures = [(_svg(figure, alt), figure, "hp-wide" if narrow else "hp-only")]
    if narrow:
        pictures.append((_svg(narrow, alt), narrow, "hp-narrow"))
    body = "".join(
        f'<div class="hp-scroll {name}" tabindex="0" style="--fig-width: {drawn.get_figwidth() * 96:.0f}px">{svg}</div>'
        for svg, drawn, name in pictures
    )
    foot = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return Picture(f'<figure class="hp-figure">{body}{foot}</figure>', alt)


def _svg(figure: Figure, alt: str) -> str:
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "half precision"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    if "<image" in text:
        raise ValueError("the figure holds a bitmap, which dark mode cannot follow: draw bars or polygons instead")
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"<[^>]*>", _tag, _own_ids(text))
    text = re.sub(r"\s*\n\s*", " ", re.sub(r">\s*\n\s*<", "><", text)).strip()
    view = re.search(r'viewBox="([^"]*)"', text)
    assert view is not None
    head = f'<svg role="img" aria-label="{html.escape(alt)}" viewBox="{view[1]}" xmlns="http://www.w3.org/2000/svg"'
    return re.sub(r"<svg[^>]*>", lambda _: head + ' xmlns:xlink="http://www.w3.org/1999/xlink">', text, count=1)


def _tag(match: re.Match[str]) -> str:
    """Return a tag made smaller and given to the page; the words between two tags are nobody's to change."""
    tag = re.sub(r"#[0-9a-fA-F]{6}\b|\b(?:white|black)(?=[;\"])", _variable, match[0])
    # The page's own font: the one that Matplotlib measures with is wider, so the labels still fit.
    tag = re.sub(r"font: ([^;\"]*?)([\d.]+px) [^;\"]*", _font, tag)
    tag = re.sub(r"font-family: [^;\"]*;?\s*", "", tag)
    tag = re.sub(r' transform="rotate\(-?0 [^"]*"', "", tag)
    return re.sub(r"-?\d+\.\d{3,}", _two_decimals, tag)


def _variable(match: re.Match[str]) -> str:
    color = match[0].lower()
    if color not in VARIABLES:
        raise ValueError(f"the figure uses the color {color}, which dark mode cannot follow: use INK, GRID, C1 ... C5")
    return f"var({VARIABLES[color]}, {color})"


def _font(match: re.Match[str]) -> str:
    weight = re.search(r"\b(?:bold|[5-9]00)\b", match[1])
    slant = "; font-style: italic" if "italic" in match[1] or "oblique" in match[1] else ""
    return f"font-size: {match[2]}{f'; font-weight: {weight[0]}' if weight else ''}{slant}"


def _two_decimals(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")


def _own_ids(text: str) -> str:
    """Give the ids that are referred to a prefix of this picture's own, and drop the others."""
    prefix = "f" + hashlib.sha256(text.encode()).hexdigest()[:8]
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', text))
    text = re.sub(r' id="([^"]+)"', lambda m: f' id="{prefix}-{m[1]}"' if m[1] in used else "", text)
    return re.sub(r'(url\(|href=")#([^)"]+)', rf"\1#{prefix}-\2", text)
