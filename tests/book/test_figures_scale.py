"""Do the figures of chapter 3 draw what they are given, and are the windows that they compute right?"""

from __future__ import annotations

import math
import re
import struct
import xml.etree.ElementTree as ET
from typing import Any

import pytest
import torch
from figures import bits, peak_by_step, scale_flow, scale_window, style
from figures.scale_window import Layer, Window
from hypothesis import given
from hypothesis import strategies as st

ALT = "What a figure of chapter 3 shows"
WIDTHS = pytest.mark.parametrize("narrow", [False, True])


def texts(figure: Any) -> list[str]:
    """Return what is written in a figure, once it is drawn in the book's style."""
    return re.findall(r">([^<>]+)</text>", style.show(figure, alt=ALT).markup)


def stored(value: float) -> float:
    """Return a number rounded to fp16, once, by Python itself."""
    try:
        return float(struct.unpack("<e", struct.pack("<e", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


# ------------------------------------------------------------------------------ the window


def usable(exponent: int, values: list[float]) -> tuple[bool, bool]:
    """Return whether times 2**exponent nothing becomes zero, and whether nothing becomes inf."""
    after = [stored(math.ldexp(value, exponent)) for value in values if value]
    return all(after), all(map(math.isfinite, after))


@given(st.lists(st.floats(1e-30, 1e30) | st.floats(-1e30, -1e30) | st.just(0.0), min_size=1, max_size=6))
def test_a_window_is_what_trying_every_power_of_two_gives(values: list[float]) -> None:
    if not any(values):
        values.append(1.0)
    found = scale_window.window([torch.tensor(values, dtype=torch.float64)])
    assert [usable(found.lowest + step, values)[0] for step in (-1, 0)] == [False, True]
    assert [usable(found.highest + step, values)[1] for step in (0, 1)] == [True, False]


@pytest.mark.parametrize(
    ("value", "lowest", "highest"),
    [
        (1.0, -24, 15),
        (2.0**-24, 0, 39),
        (2.0**-25, 1, 40),
        (65504.0, -40, 0),
        (65519.99, -40, 0),
        (65520.0, -40, -1),
        (10.0, -28, 12),
    ],
)
def test_a_window_at_the_borders_of_fp16(value: float, lowest: int, highest: int) -> None:
    assert scale_window.window([torch.tensor([-value, 0.0], dtype=torch.float64)]) == Window(lowest, highest)


def test_several_tensors_share_a_window_and_so_do_layers() -> None:
    one, other = Window(-3, 9), Window(-8, 4)
    assert scale_window.together([one, other]) == Window(-3, 4)
    assert scale_window.all_of({"a": Layer(one, other), "b": Layer(Window(0, 20), one)}) == Window(0, 4)
    pair = [torch.tensor([10.0]), torch.tensor([2.0**-20])]
    assert scale_window.window(pair) == scale_window.together(scale_window.window([g]) for g in pair)


@WIDTHS
def test_the_bars_end_where_the_windows_end(narrow: bool) -> None:
    layers = {"layer 1": Layer(Window(-11, 12), Window(-12, 17)), "layer 2": Layer(Window(-2, 19), Window(-16, 14))}
    figure = scale_window.draw({"16 examples": layers, "4,096 examples": layers}, narrow=narrow)
    for axes in figure.axes:
        bars = [(line.get_xdata()[0], line.get_xdata()[1]) for line in axes.lines if line.get_linewidth() == 5]
        assert bars == [(-11.5, 12.5), (-12.5, 17.5), (-2.5, 19.5), (-16.5, 14.5)]
        (edge,) = [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == "--"]
        assert edge == 14.5
        (stripe,) = axes.patches
        assert (stripe.get_x(), stripe.get_x() + stripe.get_width()) == (-2.5, 12.5)
    titles = {
        "16 examples: 2\N{SUPERSCRIPT MINUS}² to 2¹² fit all",
        "4,096 examples: 2\N{SUPERSCRIPT MINUS}² to 2¹² fit all",
    }
    assert {"layer 1", "layer 2", "fits all", "2⁸"} | titles <= set(texts(figure))


@WIDTHS
def test_where_nothing_fits_there_is_no_stripe(narrow: bool) -> None:
    layers = {"layer 1": Layer(Window(5, 12), Window(-12, 3))}
    figure = scale_window.draw({"a": layers, "b": layers}, narrow=narrow)
    assert not any(axes.patches for axes in figure.axes)
    assert {"a: no scale fits all", "b: no scale fits all"} <= set(texts(figure))
    one = {"layer 1": Layer(Window(13, 26), Window(-2, 13))}
    assert "a: 2¹³ fits all" in texts(scale_window.draw({"a": one, "b": one}, narrow=narrow))


# ------------------------------------------------------------------- the flow and the peaks


@WIDTHS
def test_all_between_the_loss_and_unscaling_carries_the_factor_and_nothing_else(narrow: bool) -> None:
    written = texts(scale_flow.draw(narrow=narrow))
    assert written.count("× S") == 1
    assert written.count("÷ S") == 1
    scaled = [text for text in written if text.endswith(", × S")]
    assert sorted(scaled) == ["fp16, × S", "fp16, × S", "fp32, × S", "fp32, × S"]
    assert written.count("fp32") + written.count("fp16") == len(scale_flow.FORWARD) + len(scale_flow.UPDATE)


@WIDTHS
def test_the_peaks_are_drawn_step_by_step_under_their_limits(narrow: bool) -> None:
    peaks = {"between the layers": [8.0, 4.0, 32.0], "of the parameters": [2.0, 1.0, 0.5]}
    figure = peak_by_step.draw(peaks, [11, 13], narrow=narrow)
    (axes,) = figure.axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines if line.get_linestyle() == "-"}
    assert drawn == peaks
    limits = [line.get_ydata()[0] for line in axes.lines if line.get_linestyle() == "--"]
    assert limits == [65504 / 2**11, 65504 / 2**13]
    assert {"2¹¹", "2¹³", "step", "largest gradient"} <= set(texts(figure))


# -------------------------------------------------------------------------- rows of bits


def test_bits_that_a_narrower_format_has_no_place_for_are_drawn_as_left_off() -> None:
    picture = bits.row(1e-8, "float32", "before", digits=17, kept=10)
    root = ET.fromstring(picture.markup.replace("class=on", 'class="on"'))
    cells = [(cell.text, cell.get("class")) for cell in root.iter("i")]
    pattern = f"{struct.unpack('<I', struct.pack('<f', 1e-8))[0]:032b}"
    assert "".join(text or "" for text, _ in cells) == pattern
    assert [name == "cut" for _, name in cells] == [False] * 19 + [True] * 13
    single = struct.unpack("<f", struct.pack("<f", 1e-8))[0]
    assert f"= {single:.17g}" in "".join(root.itertext())
    assert f"fraction {pattern[9:19]} and then {pattern[19:]}; stored as {single:.17g} (normal)" in picture.alt


def test_without_kept_no_bit_is_left_off() -> None:
    assert "cut" not in bits.row(1e-8, "float32").markup
    assert " and then " not in bits.row(1e-8, "float32").alt
