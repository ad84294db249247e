"""Which powers of two may be a static scale: for each layer, from "nothing becomes zero" to "nothing overflows"."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from matplotlib.figure import Figure
from torch import Tensor

from figures import style

OVERFLOWS: Final = 65520.0
"""The smallest number that fp16 rounds to inf."""
KINDS: Final = (("at its output", style.C2), ("of its parameters", style.C1))


@dataclass(frozen=True, slots=True)
class Window:
    """The powers of two by which some gradients may be multiplied, as exponents; empty where lowest > highest."""

    lowest: int
    """The smallest with which no element that is not zero becomes zero in fp16."""
    highest: int
    """The largest with which no element becomes inf in fp16."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The windows of one layer."""

    output: Window
    """Of the gradient at its output."""
    parameters: Window
    """Of the gradients of its weight and its bias together."""


def window(gradients: Iterable[Tensor]) -> Window:
    """Return the window of finite gradients, of which one element or more is not zero."""
    sizes = [gradient.detach().double().abs() for gradient in gradients]
    largest = max(size.max().item() for size in sizes)
    smallest = min(size[size > 0].min().item() for size in sizes if (size > 0).any())
    # frexp writes a number as m * 2**e with 0.5 <= m < 1, exactly; log2 would round next to a power of two.
    part, exponent = math.frexp(largest)
    highest = (16 if math.ldexp(part, 16) < OVERFLOWS else 15) - exponent
    part, exponent = math.frexp(smallest)
    return Window((-24 if part > 0.5 else -23) - exponent, highest)


def together(windows: Iterable[Window]) -> Window:
    """Return the powers of two that lie in every window."""
    lowest, highest = zip(*((one.lowest, one.highest) for one in windows), strict=True)
    return Window(max(lowest), min(highest))


def all_of(layers: Mapping[str, Layer]) -> Window:
    """Return the window of a whole network: outputs and parameters of every layer."""
    return together(part for layer in layers.values() for part in (layer.output, layer.parameters))


def draw(panels: Mapping[str, Mapping[str, Layer]], narrow: bool = False) -> Figure:
    """Return the figure: a panel for each title, in it a row for each layer with two bars.

    The shaded stripe is what fits all layers, and named in the title; the dashed line is how far the parameters alone
    would let one go.
    """
    count = len(panels)
    rows = max(len(layers) for layers in panels.values())
    shape: dict[str, Any] = {"rows": count} if narrow else {"cols": count, "sharey": True}
    height = (0.9 + 0.36 * rows) * (count if narrow else 1) + 0.6
    figure, axes = style.new(3.6 if narrow else 7.2, height, sharex=True, **shape)
    for ax, (title, layers) in zip(axes, panels.items(), strict=True):
        ax.set_title(f"{title}: {_named(all_of(layers))}")
        _panel(ax, layers)
    for ax in [axes[-1]] if narrow else axes:
        ax.set_xlabel("scale")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=1 if narrow else 2)
    return figure


def _named(whole: Window) -> str:
    low, high = style.power(2, whole.lowest), style.power(2, whole.highest)
    if whole.lowest > whole.highest:
        return "no scale fits all"
    return f"{low} fits all" if low == high else f"{low} to {high} fit all"


def _panel(ax: Any, layers: Mapping[str, Layer]) -> None:
    whole = all_of(layers)
    if whole.lowest <= whole.highest:
        ax.axvspan(whole.lowest - 0.5, whole.highest + 0.5, color=style.SOFT, alpha=0.35, lw=0, label="fits all")
    edge = together(layer.parameters for layer in layers.values()).highest
    for number, layer in enumerate(layers.values()):
        for shift, part, (name, color) in zip((-0.19, 0.19), (layer.output, layer.parameters), KINDS, strict=True):
            label = f"gradient {name}" if number == 0 else None
            ends = [part.lowest - 0.5, part.highest + 0.5]  # each power of two takes up one unit of the axis
            ax.plot(ends, [number + shift] * 2, color=color, lw=5, solid_capstyle="butt", label=label)
    ax.axvline(edge + 0.5, color=style.INK, lw=1.2, ls="--", label="limit of the parameters alone")
    ax.set_yticks(range(len(layers)), list(layers))
    ax.set_ylim(len(layers) - 0.4, -0.6)
    ax.tick_params(axis="y", labelcolor=style.INK, length=0)
    ax.set_xticks(range(-16, 25, 8), [style.power(2, exponent) for exponent in range(-16, 25, 8)])
    ax.set_xticks(range(-16, 25, 4), minor=True)
    ax.tick_params(axis="x", which="minor", length=3)
    ax.grid(visible=False, axis="y")
