"""Do the figures' colors, their SVG and their rows of bits keep what they promise?"""

from __future__ import annotations

import itertools
import math
import re
import struct
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import torch
from figures import bits, style
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

CSS = (Path(__file__).resolve().parents[2] / "book/_static/figures.css").read_text()
SVG = "{http://www.w3.org/2000/svg}"
ALT = "A line that goes up from 1 to 4 and back to 2"


def palette(selector: str) -> dict[str, str]:
    """Return the --fig variables of the first rule whose selector holds that text."""
    body = CSS[CSS.index(selector) :].partition("{")[2].partition("}")[0]
    return dict(re.findall(r"(--fig-[\w-]+): (#[0-9a-f]{3,6})", body))


MODES = {
    "light": palette('html[data-theme="light"]'),
    "dark": palette('html[data-theme="dark"]'),
    "print": palette("html[data-theme] {"),
}


def rgb(color: str) -> tuple[float, ...]:
    digits = color[1:] if len(color) == 7 else "".join(2 * c for c in color[1:])
    return tuple(int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))


def linear(color: str) -> np.ndarray:
    return np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(color)])


def contrast(a: str, b: str) -> float:
    light, dark = sorted((float(linear(c) @ (0.2126, 0.7152, 0.0722)) for c in (a, b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


# What people without one kind of cone see, in linear RGB (Viénot, Brettel and Mollon 1999).
EYES = {
    "ordinary": np.eye(3),
    "protanopia": np.array([[0.1121, 0.8853, -0.0005], [0.1127, 0.8897, -0.0001], [0.0045, 0.0001, 1.0019]]),
    "deuteranopia": np.array([[0.2920, 0.7054, -0.0003], [0.2934, 0.7089, 0.0], [-0.0210, 0.0256, 1.0019]]),
}


def lab(light: np.ndarray) -> np.ndarray:
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ light
    f = [c ** (1 / 3) if c > 0.008856 else 7.787 * c + 16 / 116 for c in xyz / (0.9505, 1.0, 1.089)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("mode", MODES)
def test_every_color_has_a_value_in_every_mode(mode: str) -> None:
    assert set(MODES[mode]) == set(style.VARIABLES.values())


def test_the_light_values_are_those_that_figures_are_drawn_with() -> None:
    assert {variable: color for color, variable in style.VARIABLES.items()} == MODES["light"]


@pytest.mark.parametrize("mode", MODES)
def test_lines_have_a_contrast_of_3_and_text_of_4_5_against_the_ground(mode: str) -> None:
    colors = MODES[mode]
    for name in ("--fig-c1", "--fig-c2", "--fig-c3", "--fig-c4", "--fig-c5"):
        assert contrast(colors[name], colors["--fig-paper"]) >= 3, name
    for name in ("--fig-ink", "--fig-soft"):
        assert contrast(colors[name], colors["--fig-paper"]) >= 4.5, name


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("eyes", EYES)
def test_no_two_colors_look_alike(mode: str, eyes: str) -> None:
    seen = {name: lab(np.clip(EYES[eyes] @ linear(MODES[mode][name]), 0, 1)) for name in sorted(MODES[mode])}
    for a, b in itertools.combinations([f"--fig-c{i}" for i in range(1, 6)], 2):
        assert np.linalg.norm(seen[a] - seen[b]) > 15, (a, b)


# ------------------------------------------------------------------------------- SVG


def line(color: str = style.C1, width: float = 7.2) -> Figure:
    figure, axes = style.new(width=width)
    axes.plot([1, 2, 3], [1, 4, 2], "o-", color=color, label="scale")
    axes.set_title("What & why")
    axes.legend()
    return figure


def svg_of(picture: style.Picture) -> ET.Element:
    return ET.fromstring(picture.markup).find(f".//{SVG}svg")  # type: ignore[return-value]


def test_a_figure_is_svg_that_says_what_it_shows() -> None:
    svg = svg_of(style.show(line(), alt=ALT + ' & "more"'))
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == ALT + ' & "more"'
    texts = ["".join(text.itertext()) for text in svg.iter(f"{SVG}text")]
    assert "What & why" in texts  # text stays text: it is searched, copied and set in the page's font
    assert "scale" in texts


def test_its_colors_follow_the_page() -> None:
    markup = style.show(line(), alt=ALT).markup
    bare = re.sub(r"var\(--fig-[\w-]+, #[0-9a-f]{6}\)", "", markup)
    assert not re.search(r": #[0-9a-fA-F]{6}|font-family|<style|<\?xml|metadata", bare)
    assert "var(--fig-c1, #1a63ae)" in markup
    assert "var(--fig-ink, #1f242b)" in markup


def test_words_in_a_figure_stay_as_they_were_written() -> None:
    figure, axes = style.new()
    axes.set_title("0.123456 of #1a63ae; font: black; π = 3.14159")
    texts = ["".join(text.itertext()) for text in svg_of(style.show(figure, alt=ALT)).iter(f"{SVG}text")]
    assert "0.123456 of #1a63ae; font: black; π = 3.14159" in texts


def test_coordinates_are_short() -> None:
    assert not re.search(r'="[^"]*\d\.\d{3}', style.show(line(), alt=ALT).markup)


def test_two_figures_share_no_id_and_every_reference_resolves() -> None:
    markups = [style.show(line(color), alt=ALT).markup for color in (style.C1, style.C2)]
    ids = [set(re.findall(r'\bid="([^"]+)"', markup)) for markup in markups]
    assert ids[0]
    assert not ids[0] & ids[1]
    for markup, own in zip(markups, ids, strict=True):
        assert set(re.findall(r'(?:url\(|href=")#([^)"]+)', markup)) == own


def test_the_same_figure_gives_the_same_text() -> None:
    assert style.show(line(), alt=ALT).markup == style.show(line(), alt=ALT).markup


def test_a_phone_can_have_a_figure_of_its_own() -> None:
    root = ET.fromstring(style.show(line(), alt=ALT, caption="a < b", narrow=line(width=3.6)).markup)
    boxes = [(div.get("class"), div.get("style")) for div in root.iter("div")]
    assert boxes == [("hp-scroll hp-wide", "--fig-width: 691px"), ("hp-scroll hp-narrow", "--fig-width: 346px")]
    assert root.findtext("figcaption") == "a < b"


@pytest.mark.parametrize("alt", ["", "figure", "see above", "a b c d"])
def test_a_figure_without_a_description_is_refused(alt: str) -> None:
    with pytest.raises(ValueError, match="does not say what the picture shows"):
        style.show(line(), alt=alt)


def test_a_color_that_dark_mode_cannot_follow_is_refused() -> None:
    with pytest.raises(ValueError, match="#ff0000"):
        style.show(line("red"), alt=ALT)


def test_a_bitmap_is_refused() -> None:
    figure, axes = style.new()
    axes.imshow(np.eye(3))
    with pytest.raises(ValueError, match="bitmap"):
        style.show(figure, alt=ALT)


def test_powers_are_written_in_the_page_s_own_font() -> None:
    assert style.power(2, -24) == "2⁻²⁴"
    figure, axes = style.new()
    axes.plot([2.0**-24, 1.0, 2.0**10], [0, 1, 2])
    axes.set_xscale("log", base=2)
    style.powers(axes.xaxis)
    texts = {"".join(text.itertext()) for text in svg_of(style.show(figure, alt=ALT)).iter(f"{SVG}text")}
    assert any(re.fullmatch("2⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+", text) for text in texts), texts


# ------------------------------------------------------------------------------ bits


def half(value: float) -> int:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return int(np.float64(value).astype(np.float16).view(np.uint16))


def test_every_fp16_number_is_encoded_and_decoded_exactly() -> None:
    numbers = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64)
    for pattern, number in enumerate(numbers.tolist()):
        if not math.isnan(number):
            assert bits.encode(number, bits.FORMATS["float16"]) == pattern
            assert bits.decode(pattern, bits.FORMATS["float16"]) == number
        else:
            assert math.isnan(bits.decode(pattern, bits.FORMATS["float16"]))


def test_every_tie_between_two_fp16_numbers_goes_to_the_even_one() -> None:
    numbers = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    for tie in ((numbers[1:] + numbers[:-1]) / 2).tolist():
        for value in (tie, math.nextafter(tie, 0), math.nextafter(tie, math.inf)):
            assert bits.encode(value, bits.FORMATS["float16"]) == half(value)


@given(st.floats(allow_nan=False))
def test_any_double_is_rounded_as_numpy_and_struct_round_it(value: float) -> None:
    assert bits.encode(value, bits.FORMATS["float16"]) == half(value)
    with np.errstate(over="ignore", under="ignore"):
        single = int(np.float64(value).astype(np.float32).view(np.uint32))
    assert bits.encode(value, bits.FORMATS["float32"]) == single


@given(st.floats(width=32, allow_nan=False))
def test_any_fp32_number_becomes_the_bf16_number_that_torch_makes_of_it(value: float) -> None:
    expected = torch.tensor(value, dtype=torch.float32).to(torch.bfloat16).view(torch.int16).item() & 0xFFFF
    assert bits.encode(value, bits.FORMATS["bfloat16"]) == expected
    assert bits.decode(expected, bits.FORMATS["bfloat16"]) == torch.tensor(value).to(torch.bfloat16).item()


def test_nan_is_nan() -> None:
    pattern = bits.encode(math.nan, bits.FORMATS["float16"])
    assert math.isnan(struct.unpack("<e", struct.pack("<H", pattern))[0])


@pytest.mark.parametrize(
    ("value", "what", "stored"),
    [
        (1e-8, "zero", "0"),
        (2.0**-25, "zero", "0"),
        (3e-8, "subnormal", "5.9605e-08"),
        (1e-8 * 16384, "normal", "0.00016379"),
        (65520.0, "inf", "inf"),
        (-1e9, "inf", "-inf"),
        (math.nan, "nan", "nan"),
    ],
)
def test_a_row_says_its_bits_and_what_is_stored(value: float, what: str, stored: str) -> None:
    picture = bits.row(value)
    root = ET.fromstring(picture.markup.replace("class=on", 'class="on"'))
    cells = [cell.text or "" for cell in root.iter("i")]
    assert len(cells) == 16
    assert int("".join(cells), 2) == bits.encode(value, bits.FORMATS["float16"])
    assert [cell.text for cell in root.iter("i") if cell.get("class") == "on"] == ["1"] * cells.count("1")
    assert f"hp-bits-{what}" in str(root.get("class"))
    assert f"stored as {stored}" in str(root.get("aria-label"))
    assert root.get("role") == "img"


def test_rows_stand_together() -> None:
    stack = bits.rows(bits.row(1e-8, caption="before"), bits.row(1.0, "bfloat16"))
    root = ET.fromstring(stack.markup.replace("class=on", 'class="on"'))
    assert [figure.get("aria-label", "").split(":")[0] for figure in root] == ["before", "1 in bfloat16"]
    assert stack.alt.startswith(
        "before: sign 0, exponent 00000, fraction 0000000000; stored as 0 (zero); 1 in bfloat16"
    )
