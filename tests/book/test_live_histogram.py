"""The live histogram of chapter 2: are its numbers those of PyTorch, at each scale, and can a reader play with it?"""

from __future__ import annotations

import base64
import json
import math
import random
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import page_code
import pytest
import torch
from axe_core_python.sync_playwright import Axe
from course_book import esbuild
from course_book import live as bundles
from figures import gradient_histogram, scaled_histogram, style
from figures.gradient_histogram import FIRST, LAST
from hypothesis import given
from hypothesis import strategies as st
from page_code import Page
from reading import PHONE, Reader, until

ROOT = Path(__file__).resolve().parents[2]
PAGE = "02_where_gradients_vanish.html"
FIGURE = "hp-live-histogram"
EDGES = [2.0**-25, 2.0**-24, 2.0**-14, 65504.0, 65519.99609375, 65520.0, 65535.99609375, 65536.0, 2.0**-149, 2.0**-126]
FLOATS = st.one_of(st.floats(width=32, allow_nan=False, allow_infinity=False), st.sampled_from(EDGES))


@pytest.fixture(scope="module")
def page() -> Page:
    """Return what the chapter's own cells computed."""
    return page_code.run("02_where_gradients_vanish")


# ------------------------------------------------------------- what Python puts into the page


def rounded(value: float) -> float:
    """Return an fp32 number as fp16: by the standard library, not by torch."""
    try:
        return float(struct.unpack("e", struct.pack("e", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


@given(st.lists(FLOATS, min_size=1, max_size=30), st.integers(-8, 34))
def test_the_fates_are_those_of_each_element(values: list[float], power: int) -> None:
    gradient = torch.tensor(values)
    stored = [rounded(each) for each in (gradient * 2.0**power).tolist()]
    found = scaled_histogram.fates(gradient, 2.0**power)
    gone = [abs(value) for value, kept in zip(gradient.tolist(), stored, strict=True) if value and not kept]
    assert (found.lost, found.infinite) == (len(gone), sum(map(math.isinf, stored)))
    total = math.fsum(map(abs, gradient.tolist()))
    assert found.mass == pytest.approx(math.fsum(gone) / total if total else 0.0, rel=1e-12)


def test_the_borders_are_a_tie_each() -> None:
    below, above = (torch.nextafter(torch.tensor(65520.0), torch.tensor(to)).item() for to in (0.0, 1e9))
    found = scaled_histogram.fates(torch.tensor([below, 65520.0, above]), 1.0)
    assert (found.lost, found.infinite) == (0, 2)
    above = torch.nextafter(torch.tensor(2.0**-25), torch.tensor(1.0)).item()
    assert scaled_histogram.fates(torch.tensor([2.0**-25, above, -(2.0**-25), 0.0]), 1.0).lost == 2
    assert scaled_histogram.fates(torch.tensor([2.0**-26, 2.0**-27, 0.0]), 2.0).lost == 2


@given(st.lists(FLOATS, min_size=1, max_size=30))
def test_the_bins_hold_every_element_that_is_not_zero(values: list[float]) -> None:
    values = torch.tensor(values).tolist()
    first, bins = scaled_histogram.exponents(torch.tensor(values))
    expected = [math.frexp(value)[1] - 1 for value in values if value]
    found = [first + at for at, count in enumerate(bins) for _ in range(count)]
    assert found == sorted(expected)


def test_the_numbers_in_the_page_are_torch_s_and_the_chapter_s_own(page: Page) -> None:
    data, true, lost = page["slider"], page["true"], page["lost"]
    assert [row["name"] for row in data["rows"]] == list(true)
    powers = range(data["lowest"], data["lowest"] + len(data["scales"]))
    assert (powers[0], powers[-1]) == (-8, 34)
    for row, g in zip(data["rows"], true.values(), strict=True):
        nonzero = int((g != 0).sum())
        assert (row["size"], row["zeros"]) == (g.numel(), g.numel() - nonzero)
        for at, power in enumerate(powers):
            stored = (g * 2.0**power).half()
            count, mass = lost(g, 2.0**power)
            assert row["lost"][at] == int(((stored == 0) & (g != 0)).sum())
            assert row["lost"][at] / nonzero == pytest.approx(count, rel=1e-6)
            assert row["inf"][at] == int(stored.isinf().sum())
            assert row["mass"][at] == pytest.approx(mass, rel=1e-12)
    total = data["total"]
    for key in ("size", "zeros"):
        assert total[key] == sum(row[key] for row in data["rows"])
    for key in ("lost", "inf"):
        assert total[key] == [sum(counts) for counts in zip(*(row[key] for row in data["rows"]), strict=True)]
    weights = [g.double().abs().sum().item() for g in true.values()]
    for at in range(len(powers)):
        share = sum(row["mass"][at] * weight for row, weight in zip(data["rows"], weights, strict=True)) / sum(weights)
        assert total["mass"][at] == pytest.approx(share, rel=1e-9)


def test_the_largest_scale_is_the_last_before_the_first_inf(page: Page) -> None:
    data = page["slider"]
    infinite = {power: any((g * 2.0**power).half().isinf().any() for g in page["true"].values()) for power in range(60)}
    assert data["largest"] == max(power for power, bad in infinite.items() if not bad)
    assert data["start"] == math.log2(page["scale"])


def test_scales_are_said_in_words() -> None:
    scales = scaled_histogram.data({"one": torch.tensor([1.0])}, start=0)["scales"]
    assert (scales[0], scales[8], scales[24]) == ("2⁻⁸ = 1/256", "2⁰ = 1", "2¹⁶ = 65,536")


@pytest.mark.parametrize(
    ("gradient", "start", "words"),
    [
        ([1.0, math.inf], 0, "layer x has an inf or a nan"),
        ([math.nan], 0, "layer x has an inf or a nan"),
        ([], 0, "layer x has no element"),
        ([1.0], 35, "start=35 lies outside of the slider, which goes from -8 to 34"),
        ([1.0], -9, "start=-9 lies outside"),
        ([1e-30], 0, r"from 2\^-8 to 2\^34 every scale keeps all finite"),
        ([1e30], 0, r"from 2\^-8 to 2\^34 no scale keeps all finite"),
    ],
)
def test_gradients_that_no_slider_fits_are_refused(gradient: list[float], start: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        scaled_histogram.data({"layer x": torch.tensor(gradient)}, start)


@pytest.mark.parametrize("narrow", [False, True])
def test_the_still_picture_has_a_line_from_the_smallest_to_the_largest_in_the_zones_colors(narrow: bool) -> None:
    before = gradient_histogram.sizes(torch.tensor([0.0, 2.0**-40, 2.0**-35, 1.0]))
    after = gradient_histogram.sizes(torch.tensor([0.0, 2.0**-40, 2.0**-35, 1.0]), 2.0**16)
    figure = gradient_histogram.draw({"a": after, "b": after}, {"a": before, "b": before}, 2.0**16, narrow)
    lines = [(list(line.get_xdata()), line.get_color()) for line in figure.axes[1].lines if len(line.get_xdata()) == 2]
    own = [each for each in lines if each[0][0] != each[0][1]]
    assert own == [([-24, -14], style.C5), ([-14, 16], style.C1), ([16, 17], style.C4)]
    silent = gradient_histogram.sizes(torch.zeros(3))
    assert gradient_histogram.draw({"a": silent, "b": after}, {"a": silent, "b": before}).axes[0].patches


# ----------------------------------------------------------------- the arithmetic in the page


@pytest.fixture(scope="module")
def script(site: Path, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """Return a function that calls one of histogram_numbers.js, in a page, for each of many lists of arguments."""
    folder = tmp_path_factory.mktemp("numbers")
    path, _ = esbuild.bundled(bundles.SOURCES / "histogram_numbers.js", ROOT / esbuild.MODULES, folder)
    code = json.dumps(f"data:text/javascript;base64,{base64.b64encode(path.read_bytes()).decode()}")
    tab = browser.new_page()

    def called(name: str, cases: list[Any]) -> list[Any]:
        return tab.evaluate(f"async (cases) => (m => cases.map(c => m[{name!r}](...c)))(await import({code}))", cases)

    yield called
    tab.close()


def percent(share: float) -> str:
    """Return how the figure says a share."""
    if share in (0, 1):
        return ("none", "all")[int(share)]
    value = share * 100
    if value < 1e-4:
        return "< 0.0001\u00a0%"
    digits = 1 if value >= 0.1 else min(1 - math.floor(math.log10(value)), 4)
    text = f"{value:.{digits}f}"
    return ("> 99.9" if text == "100.0" else text) + "\u00a0%"


def test_decimals_are_python_s(script: Callable[..., Any]) -> None:
    draw = random.Random(0)
    cases = [(draw.random() * 10.0 ** draw.randint(-6, 2), draw.randint(0, 4)) for _ in range(5000)]
    cases += [((2 * n + 1) / 2 ** (digits + 1), digits) for n in range(400) for digits in range(5)]  # each a tie
    cases += [(math.nextafter(tie, to), digits) for tie, digits in cases[-2000:] for to in (0, 1e9)]
    cases += [(0.0, 1), (100.0, 1), (99.95, 1), (0.05, 1), (0.15, 1), (1.005, 2)]
    assert script("fixed", cases) == [f"{value:.{digits}f}" for value, digits in cases]


def test_a_share_is_said_as_python_says_it(script: Callable[..., Any]) -> None:
    draw = random.Random(1)
    shares = [10.0 ** draw.uniform(-9, 0) for _ in range(5000)] + [draw.random() for _ in range(3000)]
    shares += [n / 800 for n in range(801)] + [1 - 10.0**-n for n in range(1, 16)]
    shares += [10.0**-n for n in range(1, 12)] + [9.99e-4, 9.995e-4, 1e-6, 9.99e-7, 0.9995, 0.9994999, 5e-324, 0, 1]
    said = script("percent", [[share] for share in shares])
    assert said == [percent(share) for share in shares]
    assert not {"0.0\u00a0%", "0\u00a0%", "100.0\u00a0%"} & set(said)


def test_moved_bins_are_those_of_the_scaled_gradient(script: Callable[..., Any]) -> None:
    generator = torch.Generator().manual_seed(0)
    cases, expected = [], []
    for _ in range(300):
        spread = torch.randint(-40, 40, (1,), generator=generator).item()
        sizes = torch.randn(40, generator=generator, dtype=torch.float64) * 9 + spread
        gradient = (2.0**sizes).float() * (torch.rand(40, generator=generator) > 0.3)
        first, bins = scaled_histogram.exponents(gradient)
        for power in torch.randint(-20, 40, (10,), generator=generator).tolist():
            cases.append([{"first": first, "bins": bins}, power, [FIRST, LAST]])
            expected.append([round(share * 40) for share in gradient_histogram.sizes(gradient, 2.0**power).bins])
    found = script("moved", cases)
    assert len(found) == 3000
    assert found == expected


def test_shares_are_of_what_is_not_zero(script: Callable[..., Any], page: Page) -> None:
    data = page["slider"]
    for row, g in zip(data["rows"], page["true"].values(), strict=True):
        found = script("shares", [[row, at] for at in range(len(data["scales"]))])
        nonzero = g[g != 0]
        for power, each in enumerate(found, data["lowest"]):
            stored = (nonzero * 2.0**power).half()
            assert each["lost"] == (stored == 0).double().mean().item()
            assert each["inf"] == stored.isinf().double().mean().item()
            assert each["mass"] == page["lost"](g, 2.0**power)[1]
    silent = {"size": 3, "zeros": 3, "lost": [0], "mass": [0], "inf": [0]}
    assert script("shares", [[silent, 0]]) == [{"lost": 0, "mass": 0, "inf": 0}]


# -------------------------------------------------------------------------- in the built page

pages = pytest.mark.needs("chromium")


class Figure:
    """The figure in a reader's page."""

    def __init__(self, reader: Reader) -> None:
        self.page = reader.open(PAGE).page
        self.place = self.page.locator(FIGURE)
        until(self.page, f"customElements.get('{FIGURE}') && document.querySelector('{FIGURE} tbody td').textContent")
        self.slider = self.place.get_by_role("slider")
        self.drawing = self.place.locator("svg.hp-live-drawing")
        self.largest = self.place.locator(".hp-live-found")

    def button(self, name: str) -> Any:
        return self.place.get_by_role("button", name=name)

    def table(self) -> dict[str, list[str]]:
        rows = self.place.locator("tbody tr").all()
        return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}

    def words(self) -> str:
        return str(self.place.locator(".hp-live-sum").inner_text())

    def spoken(self) -> str:
        return str(self.slider.get_attribute("aria-valuetext"))

    def bars(self) -> list[dict[str, list[tuple[float, float, float]]]]:
        """Return, by row, each zone's bars: where they start and end, and how high they are, in pixels."""
        rows: dict[float, dict[str, list[tuple[float, float, float]]]] = {}
        drawn = self.drawing.locator("path[data-zone]").evaluate_all(
            "all => all.map(e => [e.dataset.zone, e.getAttribute('d')])"
        )
        for zone, d in drawn:
            for x, base, y, end in re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)V", d):
                row = rows.setdefault(float(base), {})
                row.setdefault(zone, []).append((float(x), float(end), float(base) - float(y)))
        return [rows[base] for base in sorted(rows)]


def zone_of(exponent: int) -> str:
    return ["lost", "subnormal", "normal", "inf"][sum(exponent >= edge for edge in (-25, -14, 16))]


def expected(page: Page, power: int) -> dict[str, list[str]]:
    """Return the table at a scale, from torch."""
    table = {}
    for name, g in page["true"].items():
        stored = (g[g != 0] * 2.0**power).half()
        shares = (stored == 0).double().mean(), page["lost"](g, 2.0**power)[1], stored.isinf().double().mean()
        table[name] = [percent(float(share)) for share in shares]
    return table


def totals(page: Page, power: int) -> str:
    g = torch.cat([each.flatten() for each in page["true"].values()])
    nonzero = g[g != 0]
    stored = (nonzero * 2.0**power).half()
    lost, infinite = int((stored == 0).sum()), int(stored.isinf().sum())
    mass = percent(page["lost"](g, 2.0**power)[1]).replace("< ", "less than ").replace("> ", "more than ")
    what = f"{lost:,} ({percent(lost / len(nonzero))}), and with them {mass} of the mass." if lost else "none."
    names = [name for name, each in page["true"].items() if (each * 2.0**power).half().isinf().any()]
    joined = " and ".join(names) if len(names) < 3 else ", ".join(names[:-1]) + ", and " + names[-1]
    end = f"{infinite:,} become inf, in {joined}." if infinite else "None becomes inf."
    return f"Of {len(nonzero):,} gradients that are not zero, fp16 loses {what} {end}"


@pages
def test_the_keyboard_goes_through_all_scales_and_every_number_is_torch_s(
    reader: Callable[..., Reader], page: Page
) -> None:
    figure = Figure(reader())
    figure.slider.focus()
    figure.page.keyboard.press("Home")
    said = page["slider"]["scales"]
    for power in range(-8, 35):
        assert figure.spoken() == said[power + 8]
        assert figure.table() == expected(page, power)
        assert figure.words() == totals(page, power)
        figure.page.keyboard.press("ArrowRight")
    assert figure.spoken() == said[-1]
    figure.page.keyboard.press("ArrowLeft")
    assert figure.spoken() == said[-2]


def test_the_mass_of_all_is_all_of_the_mass(page: Page) -> None:
    drawn = torch.Generator().manual_seed(0)
    for size in (3, 1000, 50_000):
        for _ in range(20):
            g = torch.randn(size, generator=drawn) * 1e-9
            g[torch.rand(size, generator=drawn) < 0.3] = 0
            g[0] = 1e-9
            assert page["lost"](g) == (1.0, 1.0)
            assert scaled_histogram.fates(g, 1.0).mass == 1.0


@pages
def test_it_begins_as_the_still_picture_stands(reader: Callable[..., Reader], page: Page) -> None:
    figure = Figure(reader())
    assert figure.spoken() == "2¹⁶ = 65,536"
    assert figure.drawing.is_visible()
    assert not figure.place.locator(".hp-live-still").is_visible()
    still = figure.place.locator(".hp-live-still svg").first.get_attribute("aria-label")
    for name, row in page["moved"].items():
        assert re.search(rf"{name} from \d+% to {row.below(-25):.0%}", still)
    moved = list(page["moved"].values())
    highest = max(max(row.bins) for row in moved)
    rows = figure.bars()
    assert len(rows) == len(moved) == 5
    unit = max(height for row in rows for bars in row.values() for *_, height in bars) / highest
    for row, sizes in zip(rows, moved, strict=True):
        wanted: dict[str, list[float]] = {}
        for exponent, share in enumerate(sizes.bins, FIRST):
            if share:
                wanted.setdefault(zone_of(exponent), []).append(share * unit)
        assert list(row) == list(wanted)
        for zone, heights in wanted.items():
            assert [height for *_, height in row[zone]] == pytest.approx(heights, abs=0.02)


@pages
def test_a_doubling_moves_each_bar_by_one_bin_and_leaves_its_height(reader: Callable[..., Reader]) -> None:
    figure = Figure(reader())

    def first_row() -> list[tuple[float, float, float]]:
        return sorted(bar for bars in figure.bars()[0].values() for bar in bars)

    before = first_row()
    figure.slider.focus()
    figure.page.keyboard.press("ArrowRight")
    after = first_row()
    step = before[0][1] - before[0][0]
    assert [bar[0] for bar in after] == pytest.approx([bar[0] + step for bar in before], abs=0.05)
    assert [bar[2] for bar in after] == pytest.approx([bar[2] for bar in before], abs=0.02)
    assert "times 2¹⁷" in figure.drawing.get_attribute("aria-label")


@pages
def test_the_largest_scale_is_told_to_those_who_have_passed_it(reader: Callable[..., Reader], page: Page) -> None:
    figure = Figure(reader())
    largest = page["slider"]["largest"]
    found = figure.button(f"{style.power(2, largest)}, last without inf")
    figure.slider.focus()
    for _ in range(largest - 16):
        figure.page.keyboard.press("ArrowRight")
    assert figure.spoken().startswith(f"{style.power(2, largest)} = ")
    assert not figure.largest.is_visible()
    assert not found.is_visible()
    figure.page.keyboard.press("ArrowRight")
    assert figure.largest.inner_text().endswith(f"none of these becomes inf is {style.power(2, largest)}.")
    assert "become inf" in figure.words()
    found.click()
    assert figure.spoken().startswith(f"{style.power(2, largest)} = ")
    assert "None becomes inf." in figure.words()
    assert figure.largest.is_visible()


@pages
def test_buttons_and_pointer_set_the_scale(reader: Callable[..., Reader], page: Page) -> None:
    figure = Figure(reader())
    figure.slider.focus()
    scales = page["slider"]["scales"]
    for key, power in (("Enter", 15), ("Space", 16), ("Enter", 0), ("Space", 16)):
        figure.page.keyboard.press("Tab")  # halve, double, no scale, 2¹⁶
        figure.page.keyboard.press(key)
        assert figure.spoken() == scales[power + 8]
        assert figure.table() == expected(page, power)
    box = figure.slider.bounding_box()
    figure.page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    assert figure.spoken() == page["slider"]["scales"][-1]
    assert figure.table() == expected(page, 34)
    until(figure.page, f"document.querySelector('{FIGURE} [role=status]').textContent.startsWith('2³⁴')")
    figure.button("double").click()
    assert figure.spoken() == scales[-1]
    figure.button("no scale").click()
    for _ in range(9):
        figure.button("halve").click()
    assert figure.spoken() == scales[0]


@pages
def test_it_is_drawn_anew_at_another_width_and_says_nothing_of_it(reader: Callable[..., Reader], page: Page) -> None:
    figure = Figure(reader(viewport={"width": 1280, "height": 900}))
    wide = figure.drawing.bounding_box()["width"]
    for width in (390, 1000, 1280):
        figure.page.set_viewport_size({"width": width, "height": 844})
        until(
            figure.page,
            f"document.querySelector('{FIGURE} .hp-live-drawing').viewBox.baseVal.width === "
            f"document.querySelector('{FIGURE} .hp-live-drawing').getBoundingClientRect().width",
        )
        assert figure.drawing.evaluate(WORDS) == []
        assert figure.drawing.bounding_box()["height"] == pytest.approx(340)
    assert figure.drawing.bounding_box()["width"] == wide
    figure.page.wait_for_timeout(1000)  # twice as long as it waits before it speaks
    assert figure.place.locator("[role=status]").text_content() == ""
    assert figure.table() == expected(page, 16)


@pages
@pytest.mark.parametrize("width", [1280, 800, 390, 320])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_words_are_legible_whole_and_apart(reader: Callable[..., Reader], width: int, mode: str) -> None:
    figure = Figure(reader(viewport={"width": width, "height": 844}, color_scheme=mode, has_touch=width < 500))
    for power in (16, 34, -8):
        figure.slider.evaluate("(e, value) => { e.value = value; e.dispatchEvent(new Event('input')) }", power)
        assert figure.drawing.evaluate(WORDS) == []
        assert figure.page.evaluate("document.documentElement.scrollWidth") <= width
        assert figure.place.evaluate(OUTSIDE) == []


OUTSIDE = """figure => [...figure.querySelectorAll('td, button, output, p, svg')]
    .filter(e => e.getBoundingClientRect().right > figure.getBoundingClientRect().right + 1)
    .map(e => e.textContent)"""
WORDS = """figure => {
    const wrong = [], frame = figure.getBoundingClientRect();
    const ratio = frame.width / figure.viewBox.baseVal.width;
    const texts = [...figure.querySelectorAll('text')], boxes = texts.map(e => e.getBoundingClientRect());
    texts.forEach((text, i) => {
        const own = boxes[i], size = parseFloat(getComputedStyle(text).fontSize) * ratio;
        if (size < 11) wrong.push(`${size} px: ${text.textContent}`);
        if (own.left < frame.left - 1 || own.right > frame.right + 1 ||
                own.bottom > frame.bottom + 1 || own.top < frame.top - 1)
            wrong.push(`cut: ${text.textContent}`);
        boxes.slice(0, i).forEach((other, j) => {
            const wide = Math.min(own.right, other.right) - Math.max(own.left, other.left);
            const high = Math.min(own.bottom, other.bottom) - Math.max(own.top, other.top);
            if (wide > 1 && high > 4) wrong.push(`${text.textContent} on ${texts[j].textContent}`);
        });
    });
    return wrong;
}"""


@pages
def test_on_a_phone_what_is_touched_is_large_and_the_table_stands_below(reader: Callable[..., Reader]) -> None:
    figure = Figure(reader(viewport=PHONE, has_touch=True, is_mobile=True))
    figure.slider.press("End")
    touched = [figure.slider, *figure.place.get_by_role("button").all()]
    assert len(touched) == 6
    assert all(each.bounding_box()["height"] >= 44 for each in touched)
    drawing, table = figure.drawing.bounding_box(), figure.place.locator("table").bounding_box()
    assert table["y"] >= drawing["y"] + drawing["height"]
    assert figure.place.locator("tbody th span").first.is_visible()


@pages
def test_the_columns_say_what_they_count(reader: Callable[..., Reader]) -> None:
    heads = Figure(reader()).place.locator("thead th").all_inner_texts()
    assert [" ".join(head.split()) for head in heads] == ["lost, by count", "lost, by mass", "inf, by count"]


@pages
def test_on_a_desk_each_number_stands_beside_its_row(reader: Callable[..., Reader]) -> None:
    figure = Figure(reader(viewport={"width": 1280, "height": 900}))
    top = figure.drawing.bounding_box()["y"]
    rows = [row.bounding_box() for row in figure.place.locator("tbody tr").all()]
    bottoms = [box["y"] + box["height"] - top for box in rows]
    bases = {float(base) for base in re.findall(r"M[\d.]+ ([\d.]+)V", figure.drawing.inner_html())}
    assert bottoms == pytest.approx(sorted(bases), abs=2)


@pages
def test_print_shows_the_still_picture(reader: Callable[..., Reader]) -> None:
    figure = Figure(reader())
    figure.page.emulate_media(media="print")
    assert figure.place.locator(".hp-live-still svg").first.is_visible()
    assert not figure.drawing.is_visible()


@pages
def test_without_a_script_the_still_picture_stands(reader: Callable[..., Reader]) -> None:
    place = reader(java_script_enabled=False).open(PAGE).page.locator(FIGURE)
    assert place.locator(".hp-live-still svg").first.is_visible()
    assert place.get_by_role("slider").count() == 0


@pages
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_axe_finds_nothing_in_the_figure(reader: Callable[..., Reader], mode: str) -> None:
    figure = Figure(reader(color_scheme=mode))
    for key in ("End", "Home"):
        figure.slider.press(key)
        assert Axe().run(figure.page, context=FIGURE)["violations"] == []
