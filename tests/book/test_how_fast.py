"""Does the page about speed say what was measured, and do its figure and tables show what they are given?"""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import page_code
import pytest
from figures import speed, style
from figures.speed import Cost, Rates
from hypothesis import given
from hypothesis import strategies as st

from autograder import catalog
from bench import results as kept
from bench.__main__ import LARGE, measurements
from bench.scale import CHUNK, CHUNKS
from bench.timing import Target, ratio_text

WIDTHS = pytest.mark.parametrize("narrow", [False, True])
FOUND = [Cost("nbgrader, with feedback", 3.1, False), Cost("nbgrader", 2.6, False), Cost("ours", 0.021, True)]


@pytest.fixture(scope="module")
def page() -> page_code.Page:
    return page_code.run("how_fast_is_it")


def texts(figure: Any) -> list[str]:
    """Return what is written in a figure, once it is drawn in the book's style."""
    return re.findall(r">([^<>]+)</text>", style.show(figure, alt="What it takes to grade, in seconds").markup)


# ---------------------------------------------------------------------------- the file


def test_each_kept_ratio_is_that_of_its_figures_and_its_verdict_that_of_its_target() -> None:
    for name, line in kept.read(Path(speed.RESULTS)).items():
        ratio = line["top"]["amount"] / line["bottom"]["amount"]
        assert line["ratio"] == pytest.approx(ratio), name
        assert line["holds"] is Target(**line["target"]).holds(ratio), name
        assert line["rounds"] >= 1


def test_each_kept_line_says_where_it_was_measured() -> None:
    for name, line in kept.read(Path(speed.RESULTS)).items():
        where = line["measured"]
        assert re.fullmatch(r"[0-9a-f]{10}\+?", where["commit"]), name
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", where["when"]), name
        assert where["cores"] >= 1
        assert where["model"]
        assert {"Python", "torch", "nbgrader", "autograder"} <= where["versions"].keys()


def test_a_measurement_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    lines = [line for name, line in speed.read().items() if name != "stall"]
    path.write_text(json.dumps({"lines": lines}), encoding="utf-8")
    with pytest.raises(ValueError, match="has no stall"):
        speed.read(path)


# ------------------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.00042, "0.42 ms"), (0.0213, "21 ms"), (1.54, "1.5 s"), (12.6, "13 s"), (90.0, "1.5 min"), (8000.0, "2.2 h")],
)
def test_a_time_is_said_in_the_unit_that_fits(seconds: float, said: str) -> None:
    assert speed.duration(seconds) == said.replace(" ", "\N{NO-BREAK SPACE}")


@given(st.floats(1e-6, 1e9))
def test_ratios_are_written_as_the_command_writes_them(value: float) -> None:
    assert speed.ratio(value) == ratio_text(value)


def test_the_parts_of_a_run_are_those_that_were_measured() -> None:
    found, rates = speed.read(), speed.rates(speed.read())
    count = found["scale_time"]["details"]["submissions"]
    whole = rates.start + (count - 1) * rates.each
    assert whole == pytest.approx(found["scale_time"]["details"]["large_s"])
    if rates.again:
        assert rates.start_again + count * rates.again == pytest.approx(found["second_run"]["top"]["amount"])


def test_a_line_without_pages_is_shown_where_there_is_one() -> None:
    found = speed.read()
    for measured in ([], [1.0, 2.0]):
        details = {**found["grading"]["details"], "ours_without_pages_s": measured}
        costs = speed.costs({**found, "grading": {**found["grading"], "details": details}})
        assert ("this grader" in [cost.label for cost in costs]) is bool(measured)


# ----------------------------------------------------------------------------- figure


@WIDTHS
def test_the_dots_stand_at_their_times_and_say_them(narrow: bool) -> None:
    figure = speed.draw(FOUND, narrow=narrow)
    (ax,) = figure.axes
    dots = [(float(line.get_xdata()[0]), line.get_color(), line.get_marker()) for line in ax.lines]
    assert [seconds for seconds, _, _ in dots] == [cost.seconds for cost in reversed(FOUND)]
    # Whose time it is shows in the shape too, for who does not see the colors.
    assert [look for _, *look in dots] == [[style.C1, "o"], [style.C2, "s"], [style.C2, "s"]]
    assert ax.get_xscale() == "log"
    written = " ".join(texts(figure))
    for cost in FOUND:
        assert cost.label in written
        assert speed.duration(cost.seconds) in written


@WIDTHS
def test_nothing_is_written_outside_the_figure(narrow: bool) -> None:
    figure = speed.draw([*FOUND, Cost("the same class again", 0.0004, True)], narrow=narrow)
    figure.canvas.draw()
    width, height = figure.bbox.width, figure.bbox.height
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= width
        assert 0 <= box.y0 <= box.y1 <= height


def test_the_axis_has_round_times(page: page_code.Page) -> None:
    for narrow in (False, True):
        (ax,) = speed.draw(page["found"], narrow=narrow).axes
        assert len(ax.get_xticks()) >= 2
        assert all(math.log10(tick) == pytest.approx(round(math.log10(tick))) for tick in ax.get_xticks())


def test_the_alternative_text_names_every_dot_with_its_time() -> None:
    said = speed.alternative(FOUND)
    for cost in FOUND:
        assert f"{cost.label}: {speed.duration(cost.seconds)}" in said


# ----------------------------------------------------------------------------- tables


def rows(picture: style.Picture) -> list[list[str]]:
    """Return the cells of a table's markup, its head first."""
    table = ET.fromstring(picture.markup)
    return [["".join(cell.itertext()).replace("\N{NO-BREAK SPACE}", " ") for cell in row] for row in table.iter("tr")]


def test_a_class_takes_its_start_and_then_each_submission() -> None:
    shown = rows(speed.class_table(Rates(start=2.0, each=0.02, nbgrader=3.0, start_again=0.5, again=0.001), [1, 1001]))
    assert shown[1:] == [["1", "2 s", "501 ms", "3 s"], ["1,001", "22 s", "1.5 s", "50 min"]]


def test_the_table_of_results_has_every_line_and_says_which_targets_are_missed() -> None:
    found = speed.read()
    head, *shown = rows(speed.results_table(found))
    assert [row[0] for row in shown] == [line["what"].replace("`", "") for line in found.values()]
    assert [row[head.index("Met")] for row in shown] == ["yes" if line["holds"] else "no" for line in found.values()]
    turned = {name: {**line, "holds": not line["holds"]} for name, line in found.items()}
    assert [row[head.index("Met")] for row in rows(speed.results_table(turned))[1:]] != [row[-1] for row in shown]


def test_a_machine_is_listed_once_and_a_busy_one_is_called_so() -> None:
    lines = list(speed.read().values())[:2]
    quiet = {**lines[0]["measured"], "quiet": True, "load": 0.1}
    busy = {**quiet, "quiet": False, "load": 3.0}
    same = speed.machines({"a": {**lines[0], "measured": quiet}, "b": {**lines[1], "measured": quiet}})
    assert len(rows(same)) == 2
    assert "not quiet" not in same.markup
    other = speed.machines({"a": {**lines[0], "measured": quiet}, "b": {**lines[1], "measured": busy}})
    assert len(rows(other)) == 3
    assert "not quiet" in other.markup


def test_a_table_shows_markup_and_does_not_obey_it() -> None:
    found = speed.read()
    line = {**found["stall"], "what": "<script>alert(1)</script>"}
    assert "<script>" not in speed.results_table({"stall": line}).markup


# ------------------------------------------------------------------------------- page


def test_the_page_shows_what_was_kept(page: page_code.Page) -> None:
    found = speed.read()
    full, scale = found["grading_with_feedback"], found["scale_time"]
    assert page.shown["times"] == ratio_text(full["top"]["amount"] / full["bottom"]["amount"])
    assert page.number("class") == full["details"]["submissions"]
    assert page.number("large") == scale["details"]["submissions"]
    assert page.number("loops") == found["stall"]["details"]["loops"]
    assert page.shown["again"] == speed.duration(found["second_run"]["top"]["amount"])
    assert page.shown["notebook"] == speed.duration(found["notebook"]["top"]["amount"])
    assert 0 < page.number("torch-share") <= 1


def test_the_page_shows_every_value_that_it_computes(page: page_code.Page) -> None:
    assert page_code.wanted(page) == set(page.shown)


def test_the_class_that_the_page_speaks_of_has_an_answer_to_each_exercise(page: page_code.Page) -> None:
    assert "thirty students with nine exercises are 270 submissions" in " ".join(page.text.split())
    assert len(catalog.slugs()) == 9
    assert 30 * 9 == 270
    assert "[30, 270, 1000, 10_000]" in page.text


def test_the_measurements_that_the_page_names_are_there(page: page_code.Page) -> None:
    named = re.findall(r"python -m bench ([\w ]+)`", page.text)
    assert {name for names in named for name in names.split()} == {"grading", "isolation"}
    assert {"grading", "isolation", "twenty_thousand"} <= measurements(1).keys()
    text = " ".join(page.text.split())
    assert f"it grades a class of {LARGE:,} and then asks, for a thousand of them" in text
    assert CHUNKS * CHUNK == 1000
