"""Do the figures of chapters 0 and 2 draw what they are given, and is what they compute right?"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from figures import exercise_map, floor_by_outputs, floor_by_step, gradient_histogram, stairs, style, three_measures
from figures.gradient_histogram import FIRST, LAST, Sizes
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import Rectangle

from autograder import catalog

ROOT = Path(__file__).resolve().parents[2]
ALT = "What a figure of chapter 0 or 2 shows"
WIDTHS = pytest.mark.parametrize("narrow", [False, True])


def texts(figure: Any) -> set[str]:
    """Return what is written in a figure, once it is drawn in the book's style."""
    markup = style.show(figure, alt=ALT).markup
    return set(re.findall(r">([^<>]+)</text>", markup))


def drawn(figure: Any) -> list[list[tuple[float, float]]]:
    """Return the points of every line in a figure."""
    return [list(zip(*line.get_data(), strict=True)) for axes in figure.axes for line in axes.lines]


@WIDTHS
def test_the_runs_are_drawn_step_by_step_over_their_zeros(narrow: bool) -> None:
    errors = {"fp32": [0.8, 0.1, 1e-6], "fp16": [0.8, 0.2, 0.02]}
    figure = floor_by_step.draw(errors, {"fp16": [0.1, 0.5, 1.0]}, 0.016, narrow=narrow)
    lines = drawn(figure)
    assert [(1, 0.8), (2, 0.1), (3, 1e-6)] in lines
    assert [(1, 0.1), (2, 0.5), (3, 1.0)] in lines
    assert [(1, 0.016), (3, 0.016)] in lines
    assert {"fp32", "fp16", "predicted floor", "step", "100 %"} <= texts(figure)


@WIDTHS
def test_the_floor_is_drawn_through_what_was_measured(narrow: bool) -> None:
    reached = {"fp16": [1e-4, 1e-3, 4e-3], "fp32": [1e-7, 1e-7, 1e-7]}
    figure = floor_by_outputs.draw([2**14, 2**16, 2**18], [2e-4, 1e-3, 4e-3], reached, narrow=narrow)
    lines = drawn(figure)
    assert [(2**14, 2e-4), (2**16, 1e-3), (2**18, 4e-3)] in lines
    assert [(2**14, 1e-4), (2**16, 1e-3), (2**18, 4e-3)] in lines
    assert {"2¹⁴", "2¹⁶", "2¹⁸", "fp16", "fp32", "predicted floor"} <= texts(figure)


@WIDTHS
def test_the_stairs_are_those_of_pytorch(narrow: bool) -> None:
    figure = stairs.draw({"1e-8": 1e-8, "3e-8": 3e-8}, narrow=narrow)
    assert {"1e-8", "3e-8", "lost", "subnormal", "normal"} <= texts(figure)
    flat = [line for line in drawn(figure) if len(line) == 2 and line[0][1] == line[1][1]]
    assert len(flat) == 4
    for (start, level), (end, _) in flat:
        inside = torch.linspace(start, end, 33, dtype=torch.float64)[1:-1] * 2.0**-24
        assert set((inside.float().half().double() * 2.0**24).tolist()) == {level}
    full = next(line for line in drawn(figure) if [x for x, _ in line] == [0.5, 1.5, 2.5])
    assert [y for _, y in full] == [0, 2, 2]


def test_the_envelope_is_the_worst_error_of_each_bin() -> None:
    exponents, worst = stairs.envelope(-26, -13, points=1 << 14)
    finer = [stairs.error(2.0**e * (1 + torch.arange(1 << 16, dtype=torch.float64) / (1 << 16))) for e in exponents]
    assert worst == pytest.approx([error.max().item() for error in finer], rel=0.02)


# ------------------------------------------------------------------------ the histogram


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_every_element_is_counted_once_and_in_its_bin(values: list[float]) -> None:
    found = gradient_histogram.sizes(torch.tensor(values))
    expected = [0] * (LAST - FIRST)
    for value in values:
        if value:
            exponent = math.frexp(abs(value))[1] - 1
            expected[min(max(exponent, FIRST), LAST - 1) - FIRST] += 1
    assert found.zero == pytest.approx(values.count(0.0) / len(values))
    assert found.bins == pytest.approx([count / len(values) for count in expected])
    assert found.zero + sum(found.bins) == pytest.approx(1)


def test_a_power_of_two_is_the_first_of_its_bin() -> None:
    below = torch.nextafter(torch.tensor(2.0**-25), torch.tensor(0.0)).item()
    found = gradient_histogram.sizes(torch.tensor([2.0**-25, below, 0.0, 2.0**-24]))
    assert found.zero == 0.25
    assert [found.bins[e - FIRST] for e in (-26, -25, -24)] == [0.25, 0.25, 0.25]
    assert found.below(-25) == 0.25
    assert found.below(-24) == 0.5
    assert found.below(FIRST - 5) == 0


def test_a_scale_moves_an_element_to_its_new_bin_and_a_zero_nowhere() -> None:
    found = gradient_histogram.sizes(torch.tensor([3e-8, 0.0]), scale=2.0**16)
    assert found.bins[math.floor(math.log2(3e-8)) + 16 - FIRST] == 0.5
    assert found.zero == 0.5


@WIDTHS
def test_the_histogram_has_a_row_a_layer_with_its_zeros_apart(narrow: bool) -> None:
    gradient = torch.tensor([0.0, 2.0**-30, 2.0**-20, 1.0])
    layers = {"first": gradient_histogram.sizes(gradient), "second": gradient_histogram.sizes(gradient, 4.0)}
    figure = gradient_histogram.draw(layers, before=layers, scale=4.0, narrow=narrow)
    zeros, bins = figure.axes[0], figure.axes[1]
    assert [bar.get_height() for bar in zeros.patches] == [0.25, 0.25]  # zero in fp32; added by fp16
    bars = [patch for patch in bins.patches if isinstance(patch, Rectangle)]
    assert [(bar.get_x(), bar.get_height()) for bar in bars] == [(-30, 0.25), (-20, 0.25), (0, 0.25)]
    colors = {bar.get_facecolor() for bar in bars}
    assert len(colors) == 3  # lost, subnormal, normal
    assert {"first", "second", "zero", "size of the gradient × 2²", "lost", "normal"} <= texts(figure)


def test_a_layer_without_a_gradient_has_an_empty_row() -> None:
    silent = gradient_histogram.sizes(torch.zeros(4))
    figure = gradient_histogram.draw({"dead": silent, "too": silent})
    assert figure.axes[0].patches[0].get_height() == 1
    assert not figure.axes[1].patches


def test_what_overflows_has_a_color_of_its_own() -> None:
    bins = [0.0] * (LAST - FIRST)
    bins[17 - FIRST] = bins[1 - FIRST] = 0.5
    figure = gradient_histogram.draw({"only": Sizes(0.0, tuple(bins)), "too": Sizes(0.0, tuple(bins))})
    assert len({bar.get_facecolor() for bar in figure.axes[1].patches}) == 2


@WIDTHS
def test_each_measure_has_a_mark_in_each_row_and_a_zero_has_none(narrow: bool) -> None:
    measures = {"lost count": [0.9, 0.8], "lost mass": [0.02, 0.0]}
    figure = three_measures.draw(["layer 1", "layer 2"], measures, narrow=narrow)
    assert drawn(figure) == [[(0.9, 0), (0.8, 1)], [(0.02, 0)]]
    assert {"layer 1", "layer 2", "lost count", "lost mass", "100 %"} <= texts(figure)


# --------------------------------------------------------------------------- the map


def test_the_map_lists_every_exercise_with_its_chapter_and_its_points() -> None:
    markup = exercise_map.table().markup
    rows = re.findall(r"<tr><td>(.*?)</tr>", markup)
    exercises = catalog.load_all(ROOT)
    assert len(rows) == len(exercises) > 0
    for slug, exercise in exercises.items():
        row = next(row for row in rows if f"#exercise-{slug}" in row)
        names = re.findall(r'<td><span class="hp-column" data-column="(\w+)"></span>', f"<td>{row}")
        assert tuple(names) == exercise_map.COLUMNS
        row = re.sub(r'<span class="hp-column"[^>]*></span>', "", row)
        page = re.search(r'href="(\w+)\.html', row)
        assert page is not None
        assert f"```{{graded}} {slug}" in (ROOT / "book" / f"{page[1]}.md").read_text()
        assert (" (stretch)</td>" in row) == exercise.stretch
        assert row.endswith(f"<td>{len(exercise.checks)}</td><td>{exercise.max_score:g}</td>")


def test_an_exercise_stands_in_the_order_of_the_chapters(tmp_path: Path) -> None:
    (tmp_path / "02_b.md").write_text("# Second\n\n```{graded} two\n```\n")
    (tmp_path / "01_a.md").write_text("# First\n\n```{graded} one\n```\n")
    (tmp_path / "glossary.md").write_text("```{graded} three\n```\n")
    assert exercise_map.places(tmp_path) == {"one": ("01_a", "First"), "two": ("02_b", "Second")}
