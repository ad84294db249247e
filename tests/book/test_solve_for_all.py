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
