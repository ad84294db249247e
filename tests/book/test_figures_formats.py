"""Do the figures of chapter 1 draw the numbers that the formats have, and do all formats read and round right?"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
import torch
from figures import bits, gaps, number_line, pattern_curve, style, ties, where_bits_go
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

ALT = "What a figure of chapter 1 shows"
WIDTHS = pytest.mark.parametrize("narrow", [False, True])
HALVES = torch.arange(65536, dtype=torch.int32).to(torch.uint16).view(torch.float16).double()


def texts(figure: Any) -> set[str]:
    """Return what is written in a figure, once it is drawn in the book's style."""
    return set(re.findall(r">([^<>]+)</text>", style.show(figure, alt=ALT).markup))


def lines(axes: Any) -> list[tuple[list[float], list[float], str]]:
    """Return x, y and color of every line of some axes."""
    return [(list(line.get_xdata()), list(line.get_ydata()), to_hex(line.get_color())) for line in axes.lines]


# -------------------------------------------------------------------------------- formats


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_every_fp8_pattern_is_read_as_torch_reads_it(name: str) -> None:
    shape = bits.FORMATS[name]
    true = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(getattr(torch, name)).double().tolist()
    for pattern, number in enumerate(true):
        mine = bits.decode(pattern, shape)
        assert mine == number or (math.isnan(mine) and math.isnan(number))
        assert math.copysign(1, mine) == math.copysign(1, number) or math.isnan(number)
        if not math.isnan(number):
            assert bits.encode(number, shape) == (pattern if math.isfinite(number) or shape.infinite else shape.largest)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
@given(value=st.floats(width=32) | st.floats(-512, 512, width=32) | st.floats(-(2.0**-6), 2.0**-6, width=32))
def test_any_fp32_number_becomes_the_fp8_number_that_torch_makes_of_it(name: str, value: float) -> None:
    dtype, shape = getattr(torch, name), bits.FORMATS[name]
    true = torch.tensor(value).to(dtype)
    mine = bits.decode(bits.encode(value, shape), shape)
    assert mine == true.double().item() or (math.isnan(mine) and math.isnan(value))
    if not math.isnan(value):
        assert bits.encode(value, shape) == true.view(torch.uint8).item()


@given(st.floats(min_value=2.0**-126, max_value=2.0**127, width=32) | st.floats(0, 2.0**-126, width=32))
def test_tf32_is_fp32_with_thirteen_bits_rounded_off(value: float) -> None:
    shape = bits.FORMATS["tfloat32"]
    pattern = bits.encode(value, shape)
    low, high = (bits.decode(p, bits.FORMATS["float32"]) for p in ((pattern << 13) - (1 << 13), (pattern + 1) << 13))
    number = bits.decode(pattern, shape)
    assert number == bits.decode(pattern << 13, bits.FORMATS["float32"])
    off = abs(Fraction(number) - Fraction(value))
    for other in [high] + ([low] if pattern else []):
        assert off < abs(Fraction(other) - Fraction(value)) or pattern % 2 == 0


@pytest.mark.parametrize("name", bits.FORMATS)
def test_the_largest_number_is_the_last_before_inf_or_nan(name: str) -> None:
    shape = bits.FORMATS[name]
    assert math.isfinite(bits.decode(shape.largest, shape))
    assert not math.isfinite(bits.decode(shape.largest + 1, shape))
    assert bits.kind(shape.largest, shape) == "normal"
    assert bits.kind(1, shape) == "subnormal"


# ------------------------------------------------------------------------------- explorer


def value_of(total: str) -> Fraction:
    """Return the value of a written sum of powers of two, such as −(2⁻³ + 2⁻⁵)."""
    plain = total.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    parts = re.findall(r"2(-?\d+)", plain)
    size = sum((Fraction(2) ** int(exponent) for exponent in parts), Fraction(0))
    return -size if total.startswith("−") else size


@given(pattern=st.integers(0, 65535))
def test_the_sum_of_a_pattern_is_its_value(pattern: int) -> None:
    shape = bits.FORMATS["float16"]
    shown, number = bits.terms(pattern, shape), HALVES[pattern].item()
    assert list(shown) == ["sign", "exponent", "fraction", "sum", "value"]
    if not math.isfinite(number):
        assert shown["sum"] == "none"
        assert shown["value"] == str(number).replace("-", "−")
        return
    assert value_of(shown["sum"]) == Fraction(number)
    assert float(shown["value"].replace("−", "-")) == number
    assert len(re.findall(r"2[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", shown["sum"])) == (pattern & 1023).bit_count() + bool(pattern >> 10 & 31)
    assert shown["sign"][0] == str(pattern >> 15)


@pytest.mark.parametrize(("value", "name"), [(0.1, "float16"), (-3e-8, "float16"), (1e-8, "bfloat16")])
def test_a_script_finds_every_bit_and_every_line_of_the_explorer(value: float, name: str) -> None:
    shape = bits.FORMATS[name]
    picture = bits.explorer(value, name, key="here")
    root = ET.fromstring(picture.markup.replace("class=on", 'class="on"'))
    given_back = {
        key: root.get(f"data-{key}") for key in ("format", "pattern", "exponent-bits", "fraction-bits", "bias")
    }
    pattern = bits.encode(value, shape)
    assert (root.get("id"), given_back["format"]) == ("here", name)
    assert [int(given_back[key] or 0) for key in ("pattern", "exponent-bits", "fraction-bits", "bias")] == [
        pattern,
        shape.exponent,
        shape.fraction,
        shape.bias,
    ]
    cells = list(root.iter("i"))
    assert [cell.get("id") for cell in cells] == [f"here-{bit}" for bit in reversed(range(shape.width))]
    for cell in cells:
        number = int(cell.get("data-bit") or -1)
        assert cell.text == str(pattern >> number & 1)
        field = "sign" if number == shape.width - 1 else "exponent" if number >= shape.fraction else "fraction"
        assert cell.get("data-field") == field
    said = {line.get("data-part"): line.text for line in root.iter("dd")}
    assert said == bits.terms(pattern, shape)
    assert root.get("aria-label") == picture.alt
    assert all(str(text) in picture.alt for text in said.values())


def test_a_row_of_bits_has_no_ids_that_two_rows_would_share() -> None:
    assert 'id="' not in bits.row(0.1).markup


# -------------------------------------------------------------------------------- figures


@WIDTHS
def test_each_format_has_a_box_for_each_bit_on_its_side_of_the_line(narrow: bool) -> None:
    figure = where_bits_go.draw(narrow=narrow)
    boxes: dict[float, list[float]] = {}
    for box in figure.axes[0].patches:
        assert isinstance(box, Rectangle)
        boxes.setdefault(round(box.get_y(), 3), []).append(box.get_x())
    counted = [(sum(x < 0 for x in row), sum(x > 0 for x in row)) for _, row in sorted(boxes.items(), reverse=True)]
    shapes = [bits.FORMATS[key] for key in where_bits_go.SHOWN.values()]
    assert counted == [(1 + shape.exponent, shape.fraction) for shape in shapes]
    assert {"range", "precision"} <= texts(figure)
    if not narrow:
        assert "1 + 8 + 10 = 19 bits" in texts(figure)


@WIDTHS
def test_the_number_line_has_a_tick_for_each_number_and_no_other(narrow: bool) -> None:
    figure = number_line.draw(narrow=narrow)
    for axes, window in zip(figure.axes, number_line.WINDOWS, strict=True):
        ticks = [x[0] for x, y, _ in lines(axes) if len(x) == 2 and x[0] == x[1] and y == [-0.38, 0.38]]
        first, last = window.numbers[0], window.numbers[-1]
        assert ticks == sorted({number for number in HALVES.tolist() if first <= number <= last})
        assert min(b - a for a, b in pairwise(ticks)) == window.unit
        for pattern, said in window.labels:
            number = bits.decode(pattern, number_line.HALF)
            written = said.replace(",", "")
            if written.isdigit():
                assert float(written) == number
    cutoff = [x[0] for x, y, _ in lines(figure.axes[0]) if y == [-0.38, 0.55]]
    assert cutoff == [2.0**-25]
    assert [x[0] for x, y, _ in lines(figure.axes[-1]) if y == [-0.38, 0.55]] == [65520.0]
    assert torch.tensor(65520.0).half().isinf()


def test_subnormal_ticks_have_a_color_of_their_own() -> None:
    axes = number_line.draw().axes[1]
    colors = {x[0]: color for x, y, color in lines(axes) if y == [-0.38, 0.38]}
    assert {number for number, color in colors.items() if color == style.C5} == {n for n in colors if n < 2.0**-14}


@WIDTHS
@pytest.mark.parametrize("first", [2048.0, 0.0, 65440.0])
def test_ties_are_drawn_where_torch_sends_them(first: float, narrow: bool) -> None:
    axes = ties.draw(first, 3, narrow=narrow).axes[0]
    for numbers, pattern in ties.neighbors(first, 3):
        stretch = next(x for x, y, _ in lines(axes) if y == [0, 0] and len(x) == 2 and x[0] <= numbers <= x[1])
        inside = torch.linspace(stretch[0], stretch[1], 17, dtype=torch.float64)[1:-1]
        assert set(inside.float().half().double().tolist()) == {numbers}
        assert HALVES[pattern] == numbers
    arrows = [note for note in axes.texts if getattr(note, "arrow_patch", None) is not None]
    assert len(arrows) == 2
    for arrow in arrows:
        middle = torch.tensor(arrow.xyann[0])
        assert middle.half().item() == arrow.xy[0]


@WIDTHS
def test_the_stairs_are_the_gaps_between_a_format_s_numbers(narrow: bool) -> None:
    drawn = [line for line in lines(gaps.draw(narrow=narrow).axes[0]) if len(line[0]) > 2]
    for (sizes, steps, _), key in zip(drawn, gaps.SHOWN.values(), strict=True):
        dtype = getattr(torch, key)
        for start, gap in zip(sizes[::2], steps[::2], strict=True):
            end = min(1.9 * start, torch.finfo(dtype).max)
            spread = torch.linspace(start, end, 50, dtype=torch.float64)
            stored = spread.float().to(dtype).double()
            assert (stored / gap == (stored / gap).round()).all()
            assert (stored - spread).abs().max() <= gap / 2
            if gap <= start <= torch.finfo(dtype).max - gap:
                assert torch.tensor(start + gap).to(dtype).double().item() == start + gap
        assert sizes[-1] == min(torch.finfo(dtype).max, 2.0**gaps.LAST)


@WIDTHS
def test_the_curve_is_what_the_patterns_stand_for(narrow: bool) -> None:
    patterns, numbers = pattern_curve.curve()
    assert HALVES[patterns].tolist() == numbers
    assert patterns[0] == 1
    assert numbers[-1] == 65504
    figure = pattern_curve.draw(narrow=narrow)
    points = {point for x, y, _ in lines(figure.axes[0]) for point in zip(x, y, strict=True)}
    assert points >= set(zip(patterns, numbers, strict=True))
    assert {"subnormal", "normal", "inf, then nan"} <= texts(figure)
