"""What is kept of a reader's work, and how it is taken along: reload, two windows, progress as a file, the notebook."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from reading import ANSWER, ROOT, SLUG, START, Reader, by_command

from autograder.models import Exercise

pytestmark = pytest.mark.needs("chromium")


def test_a_reload_keeps_the_code(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    one.put(ANSWER)
    one.until_kept(ANSWER)
    one.open()
    assert one.card.locator(".hp-still").inner_text().strip() == ANSWER.strip()
    one.write()
    assert "Full marks" in one.run()


def test_reset_asks_first_and_can_be_undone(reader: Callable[..., Reader], exercise: Exercise) -> None:
    one = reader().open()
    one.put(ANSWER)
    one.button("Reset").click()
    one.page.get_by_role("button", name="Keep my code").click()
    assert one.written() == ANSWER
    one.button("Reset").click()
    one.page.get_by_role("dialog").get_by_role("button", name="Reset").click()
    one.until_kept("")
    assert one.written().strip() == exercise.starter.strip()
    one.button("Undo").click()
    one.until_kept(ANSWER)
    one.button("Reset").click()
    one.page.get_by_role("dialog").get_by_role("button", name="Reset").click()
    one.write()
    one.page.keyboard.press("ControlOrMeta+z")
    one.until_kept(ANSWER)


def test_progress_goes_out_of_one_browser_and_into_another(reader: Callable[..., Reader], tmp_path: Path) -> None:
    one = reader().open()
    one.put(ANSWER)
    one.run()
    one.open(START)
    with one.page.expect_download() as coming:
        one.page.get_by_role("button", name="Export progress").click()
    file = tmp_path / "progress.json"
    coming.value.save_as(file)

    other = reader().open(START)
    assert other.page.locator(f"td[data-slug={SLUG}]").inner_text() == "Not yet"
    with other.page.expect_file_chooser() as choosing:
        other.page.get_by_role("button", name="Import progress").click()
    choosing.value.set_files(file)
    other.page.get_by_text("Imported: 1 exercise.").wait_for()
    assert other.page.locator(f"td[data-slug={SLUG}]").inner_text() == "✓ Solved"
    other.open()
    assert other.code() == ANSWER

    for number, text in enumerate(
        ['{"format": "else"}', "{", '{"format": "half-precision-progress", "version": 9, "exercises": {}}']
    ):
        bad = tmp_path / f"bad{number}.json"
        bad.write_text(text)
        other.open(START)
        with other.page.expect_file_chooser() as choosing:
            other.page.get_by_role("button", name="Import progress").click()
        choosing.value.set_files(bad)
        other.page.get_by_text("This").and_(other.page.locator(".hp-said-so")).wait_for()
        assert other.code() == ANSWER


def test_the_notebook_holds_the_code_and_gets_the_same_score(
    reader: Callable[..., Reader], exercise: Exercise, tmp_path: Path
) -> None:
    (wrong,) = [answer for answer in exercise.wrong if answer.name == "flushes_subnormals"]
    one = reader().open()
    one.put(wrong.source)
    one.run()
    with one.page.expect_download() as coming:
        one.button("Download my notebook").click()
    assert coming.value.suggested_filename == f"{SLUG}.ipynb"
    coming.value.save_as(tmp_path / "mine.ipynb")
    told_there = by_command((tmp_path / "mine.ipynb").read_text(encoding="utf-8"), tmp_path, ".ipynb")
    assert 0 < told_there["score"] < told_there["max_score"]
    assert f"{told_there['score']:g} of {told_there['max_score']:g} points" in one.results.inner_text()
    released = json.loads((ROOT / f"exercises/{SLUG}/{SLUG}.ipynb").read_text(encoding="utf-8"))
    mine = json.loads((tmp_path / "mine.ipynb").read_text(encoding="utf-8"))
    changed = [a["id"] for a, b in zip(released["cells"], mine["cells"], strict=True) if a != b]
    assert changed == [f"{SLUG}_solution"]
    assert {**released, "cells": []} == {**mine, "cells": []}


def test_where_an_exercise_has_changed_the_code_stays(reader: Callable[..., Reader], exercise: Exercise) -> None:
    old = {"code": "x = 1\n", "version": "old", "saved": 1, "best": {"score": 10, "max": 10, "version": "old"}}
    one = reader().open()
    one.page.evaluate(f"localStorage.setItem('half-precision/1/{SLUG}', {json.dumps(json.dumps(old))})")
    one.open()
    assert one.card.locator(".hp-still").inner_text().strip() == "x = 1"
    assert "This exercise has changed" in one.card.locator(".hp-notice").inner_text()
    assert one.card.locator(".hp-chip").inner_text() == "✓ Solved, as it was before it changed"


@pytest.mark.parametrize("damaged", ["{", "[]", "7", '{"code": 3}', '{"saved": "x", "best": [], "tries": null}'])
def test_a_damaged_record_is_put_aside(reader: Callable[..., Reader], exercise: Exercise, damaged: str) -> None:
    one = reader().open()
    one.page.evaluate(f"localStorage.setItem('half-precision/1/{SLUG}', {json.dumps(damaged)})")
    one.open()
    assert one.card.locator(".hp-still").inner_text().strip() == exercise.starter.strip()
    one.put(ANSWER)
    one.until_kept(ANSWER)


FORBIDDEN: Final = """Object.defineProperty(window, 'localStorage', {
    configurable: true, get() { throw new DOMException('kept from the page', 'SecurityError') } })"""
FULL: Final = "Storage.prototype.setItem = () => { throw new DOMException('kept from the page', 'QuotaExceededError') }"


@pytest.mark.parametrize(
    ("before", "notice", "forgiven"),
    [
        (FORBIDDEN, "lets pages keep nothing", ()),
        (FULL, "storage is full", ("kept from the page",)),  # the theme's own script does not catch it
    ],
)
def test_where_nothing_can_be_kept_that_is_said_and_nothing_is_lost(
    reader: Callable[..., Reader], before: str, notice: str, forgiven: tuple[str, ...]
) -> None:
    one = reader(before=before, forgiven=forgiven).open()
    one.put(ANSWER)
    assert "Full marks" in one.run()
    assert notice in one.card.locator(".hp-notice").inner_text()
    assert one.card.locator(".hp-chip").inner_text() == "✓ Solved"
    with one.page.expect_download() as coming:
        one.button("Download my notebook").click()
    assert "an int, please" in Path(coming.value.path()).read_text(encoding="utf-8")


def test_where_nothing_can_be_kept_the_page_still_changes_its_colors(reader: Callable[..., Reader]) -> None:
    one = reader(before=FORBIDDEN, color_scheme="light").open()
    assert one.page.evaluate("document.documentElement.dataset.theme") == "light"
    button = one.page.locator("button.theme-switch-button:visible").first
    for _ in range(3):
        button.click()
        if one.page.evaluate("document.documentElement.dataset.theme") == "dark":
            return
    raise AssertionError("three clicks, and it is never dark")


def test_of_two_windows_the_newer_code_wins_and_the_older_is_not_lost(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    two = reader(like=one).open()
    one.put("first = 1\n")
    one.until_kept("first = 1\n")
    two.card.locator(".hp-notice").wait_for()
    two.put("second = 2\n")
    two.until_kept("second = 2\n")
    one.card.locator(".hp-notice").get_by_text("This is the newer code").wait_for()
    assert one.written() == "second = 2\n"
    one.button("Take back what stood here").click()
    one.until_kept("first = 1\n")
