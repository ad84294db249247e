"""Solving in the page for everybody: keyboard, screen reader, colors, phones, browsers that lack something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from axe_core_python.sync_playwright import Axe
from reading import ANSWER, PHONE, ROOT, SLUG, START, Reader

from autograder.models import Exercise

pytestmark = pytest.mark.needs("chromium")


# ------------------------------------------------------------------------ where something is missing


def test_without_webassembly_it_says_so_and_shows_the_notebook(reader: Callable[..., Reader]) -> None:
    one = reader(before="delete window.WebAssembly").open()
    one.put(ANSWER)
    assert one.run() == "It cannot be run here"
    assert "no WebAssembly" in one.results.inner_text()
    assert one.results.get_by_role("link", name="Download the notebook").is_visible()


def test_without_the_editor_a_text_field_does(reader: Callable[..., Reader]) -> None:
    one = reader(forgiven=("Failed to load resource", "ERR_FAILED", "dynamically imported")).open()
    one.page.route("**/editor-*.js", lambda route: route.abort())
    one.card.locator(".hp-still pre").click()
    one.card.get_by_role("textbox").fill(ANSWER)
    one.page.keyboard.press("Control+Enter")
    one.results.wait_for(state="visible")
    assert "Full marks" in one.finished()
    one.until_kept(ANSWER)


def test_without_a_network_it_says_so_and_works_when_it_is_back(reader: Callable[..., Reader]) -> None:
    one = reader(forgiven=("Failed to load resource", "ERR_FAILED", "dynamically imported", "Failed to fetch")).open()
    one.page.context.route("**/course.zip", lambda route: route.abort())
    one.put(ANSWER)
    assert one.run() == "Python could not be loaded"
    one.page.context.unroute("**/course.zip")
    assert "Full marks" in one.run()


OFFLINE: Final = ("ERR_INTERNET_DISCONNECTED", "Failed to load resource", "dynamically imported", "Failed to fetch")


def test_offline_before_anything_is_touched_the_code_is_kept_and_runs_later(reader: Callable[..., Reader]) -> None:
    one = reader(forgiven=OFFLINE).open()
    one.page.context.set_offline(True)
    one.card.locator(".hp-still pre").click()
    one.card.get_by_role("textbox").fill(ANSWER)
    assert one.run() == "Python could not be loaded"
    assert "Is the network there? Your code is kept" in one.results.inner_text()
    one.until_kept(ANSWER)
    one.button("Download my notebook").click()
    one.card.get_by_text("The notebook could not be fetched").wait_for()
    one.page.context.set_offline(False)
    assert "Full marks" in one.run()


def test_offline_after_python_is_there_runs_go_on_and_a_stop_loses_nothing(reader: Callable[..., Reader]) -> None:
    one = reader(forgiven=OFFLINE).open()
    one.write()
    assert one.run() == "Not started yet"
    one.page.context.set_offline(True)
    one.put(ANSWER)
    assert "Full marks" in one.run()
    one.put("while True:\n    pass\n")
    one.button("Run the checks").click()
    one.card.locator(".hp-status").get_by_text("Running …").wait_for()
    one.button("Stop").click()
    assert one.finished() == "Stopped"
    one.put(ANSWER)
    assert one.run() in ("Python could not be loaded", "Every check passes. Full marks. 10 of 10 points")
    one.until_kept(ANSWER)
    one.page.context.set_offline(False)
    assert "Full marks" in one.run()


def test_without_workers_it_says_so(reader: Callable[..., Reader]) -> None:
    one = reader(before="delete window.Worker").open()
    one.put(ANSWER)
    assert one.run() == "It cannot be run here"
    assert "no web workers" in one.results.inner_text()


# ------------------------------------------------------------------------ everybody


def test_everything_is_done_with_the_keyboard(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    key = one.page.keyboard
    one.card.get_by_role("button", name="Write here").focus()
    key.press("Enter")
    one.card.locator(".cm-content:focus").wait_for()
    key.press("ControlOrMeta+a")
    key.press("Tab")  # indents
    assert one.card.locator(".cm-line").first.inner_text().startswith("    from")
    key.press("ControlOrMeta+z")
    key.press("ControlOrMeta+a")
    key.insert_text("def decode_float16(bits):\n    return 1 / 0\n")
    key.press("Escape")
    key.press("Tab")
    assert one.page.evaluate("document.activeElement.textContent") == "Run the checks"
    key.press("Space")
    one.results.wait_for(state="visible")
    one.finished()
    seen = []
    for _ in range(4):
        key.press("Tab")
        seen.append(one.page.evaluate("document.activeElement.textContent"))
    assert seen[:2] == ["Reset", "Download my notebook"]
    assert any("Go to line 2" in text for text in seen)
    key.press("Shift+Tab")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert one.page.evaluate(outline) == "solid"


def reach(one: Reader, words: str) -> None:
    """Press Tab until what has the focus begins with those words."""
    for _ in range(60):
        one.page.keyboard.press("Tab")
        if one.page.evaluate("document.activeElement.textContent").strip().startswith(words):
            return
    raise AssertionError(f"Tab never comes to {words!r}")


def test_an_exercise_is_gone_through_with_the_keyboard_alone(reader: Callable[..., Reader], exercise: Exercise) -> None:
    one = reader().open()
    key = one.page.keyboard
    one.page.evaluate(f"document.querySelector('{one.place} .hp-links a').focus()")
    reach(one, "Write here")
    key.press("Enter")
    one.card.locator(".cm-content:focus").wait_for()
    key.press("ControlOrMeta+a")
    key.insert_text("while True:\n    pass\n")
    key.press("ControlOrMeta+Enter")
    one.card.locator(".hp-status").get_by_text("Running …").wait_for()
    key.press("Escape")
    reach(one, "Stop")
    key.press("Enter")
    assert one.finished() == "Stopped"
    assert one.page.evaluate("document.activeElement.textContent") == "Run the checks"  # not lost with its button
    reach(one, "Reset")
    key.press("Enter")
    one.page.get_by_role("dialog").wait_for()
    assert one.page.evaluate("document.activeElement.textContent") == "Keep my code"
    key.press("Tab")
    key.press("Enter")
    one.until_kept("")
    reach(one, "Hint 1 of")
    key.press("Enter")
    assert one.card.locator(".hp-hint .hp-body").first.is_visible()
    reach(one, "Hint 2 of")
    one.page.evaluate(f"document.querySelector('{one.place} .hp-links a').focus()")
    one.card.locator(".cm-content").wait_for()
    for _ in range(60):
        key.press("Tab")
        if one.page.evaluate("document.activeElement.classList.contains('cm-content')"):
            break
    key.press("ControlOrMeta+a")
    key.insert_text(ANSWER)
    key.press("ControlOrMeta+Enter")
    one.results.get_by_text("Every check passes. Full marks.").wait_for()
    key.press("Escape")
    reach(one, "Open the walkthrough")
    key.press("Enter")
    assert one.page.locator("details.hp-walkthrough[open] > summary:focus").count() == 1


def test_the_editor_is_a_labelled_text_box(reader: Callable[..., Reader], exercise: Exercise) -> None:
    one = reader().open()
    one.write()
    box = one.card.get_by_role("textbox", name=f"your code for “{exercise.title}”")
    assert box.get_attribute("aria-multiline") == "true"
    help_text = one.page.locator(f"#{box.get_attribute('aria-describedby')}").inner_text()
    assert "Escape, then Tab leaves the editor" in help_text


def test_brackets_match_and_lines_are_indented(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    one.put("")
    key = one.page.keyboard
    key.type("def f(a):")
    key.press("Enter")
    key.type("return (a)")
    assert one.card.locator(".cm-line").all_inner_texts() == ["def f(a):", "    return (a)"]
    assert one.card.locator(".cm-matchingBracket").count() == 2


STATES: Final[dict[str, Callable[[Reader], object]]] = {
    "still": lambda one: None,
    "editor": lambda one: one.write(),
    "not started": lambda one: one.run(),
    "solved": lambda one: (one.put(ANSWER), one.run()),
    "wrong": lambda one: (one.put((ROOT / f"exercises/{SLUG}/wrong/flushes_subnormals.py").read_text()), one.run()),
    "stopped": lambda one: (
        one.put("while True:\n    pass\n"),
        one.button("Run the checks").click(),
        one.button("Stop").click(),
        one.finished(),
    ),
    "syntax error": lambda one: (one.put("def f(:\n"), one.run()),
    "running": lambda one: (
        one.put("print('so far')\nwhile True:\n    pass\n"),
        one.button("Run the checks").click(),
        one.card.locator(".hp-printing").wait_for(),
    ),
    "ended after printing": lambda one: (one.card.locator(".hp-stop").evaluate("stop => stop.click()"), one.finished()),
    "exception": lambda one: (one.put("def decode_float16(bits):\n    print(1)\n    return 1 / 0\n"), one.run()),
    "asking": lambda one: (one.put("x = 1\n"), one.button("Reset").click()),
    "a notice": lambda one: (
        one.put("x = 1\n"),
        one.button("Reset").click(),
        one.page.get_by_role("dialog").get_by_role("button", name="Reset").click(),
        one.button("Undo").wait_for(),
    ),
}


def found_by_axe(page: Any, *selectors: str) -> list[tuple[str, str, str]]:
    """Return what axe finds there, by all its rules: the rule, the element, what to mend."""
    axe = Axe.from_file(ROOT / "build/assets/node_modules/axe-core/axe.min.js")
    found = axe.run(page, {"include": [[selector] for selector in selectors]})
    assert found["passes"]
    return [
        (each["id"], node["html"], node["failureSummary"]) for each in found["violations"] for node in each["nodes"]
    ]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_axe_finds_nothing_in_the_card_in_any_state(reader: Callable[..., Reader], mode: str) -> None:
    size = PHONE if mode == "dark" else {"width": 1280, "height": 900}
    one = reader(color_scheme=mode, viewport=size).open()
    violations, wide = {}, []
    for state, bring_about in STATES.items():
        bring_about(one)
        one.page.mouse.move(0, 0)
        dialog = ("dialog",) if state == "asking" else ()
        violations[state] = found_by_axe(one.page, one.place, *dialog)
        if one.page.evaluate("document.documentElement.scrollWidth") > size["width"]:
            wide.append(state)
        if dialog:
            one.page.keyboard.press("Escape")
    assert {state: found for state, found in violations.items() if found} == {}
    assert wide == []


FINGER: Final = 44
"""Pixels that a finger needs, each way."""


def test_a_finger_has_room_on_a_phone(reader: Callable[..., Reader]) -> None:
    one = reader(viewport=PHONE, has_touch=True).open()
    tall = "all => all.filter(e => e.offsetParent).map(e => [e.textContent.trim(), e.getBoundingClientRect().height])"
    pressed = ".hp-run, .hp-quiet, .hp-open, .hp-links a, .hp-hint > summary, .hp-same > summary"
    before = one.card.locator(pressed).evaluate_all(tall)
    one.put("def decode_float16(bits):\n    if bits > 20000:\n        return 1 / 0\n    return 1.0\n")
    one.run()
    after = one.card.locator(pressed).evaluate_all(tall)
    assert {"Write here: your code for “Sixteen bits, read by hand”", "Run the checks"} <= {text for text, _ in before}
    assert {"The same as above, in this call", "Reset"} <= {text for text, _ in after}
    assert [(text, height) for text, height in (*before, *after) if height < FINGER] == []

    line = one.button("Go to line 3").first  # inside a sentence: more room than is seen
    line.scroll_into_view_if_needed()
    box = line.bounding_box()
    middle = box["y"] + box["height"] / 2
    for y in (middle - FINGER / 2 + 1, middle + FINGER / 2 - 1):
        hit = "([x, y]) => document.elementFromPoint(x, y).textContent"
        assert one.page.evaluate(hit, [box["x"] + box["width"] / 2, y]) == "Go to line 3"


def test_axe_finds_nothing_in_the_start_page_s_progress(reader: Callable[..., Reader]) -> None:
    one = reader(viewport=PHONE).open()
    one.put(ANSWER)
    one.until_kept(ANSWER)
    one.open(START)
    assert one.page.locator(f"td[data-slug={SLUG}]").inner_text() == "◐ Begun"
    assert found_by_axe(one.page, ".hp-progress", "table:has(.hp-yours)") == []


def test_the_editor_follows_the_page_s_colors(reader: Callable[..., Reader]) -> None:
    ground = "getComputedStyle(document.querySelector('.cm-editor')).backgroundColor"
    one = reader().open()
    one.write()
    light = one.page.evaluate(ground)
    one.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert one.page.evaluate(ground) != light
