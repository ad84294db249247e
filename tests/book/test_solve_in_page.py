"""What a reader does in the page: write an answer, run it, read what it says, keep it, take it along. Real Chromium."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from axe_core_python.sync_playwright import Axe

from autograder import catalog
from autograder.models import CheckResult, Exercise, Reference, Score
from autograder.report import words
from autograder.report.html import section_name
from autograder.report.records import record
from autograder.report.untrusted import visible

ROOT: Final = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.needs("chromium")
SLUG: Final = "decode_float16"
PAGE: Final = "01_sixteen_bits.html"
START: Final = "00_start_here.html"
PHONE: Final = {"width": 390, "height": 844}
PATIENCE: Final = 240_000
"""Milliseconds that a busy machine gets for any one thing; nothing is measured by it."""
ANSWER: Final = """\
import math

def decode_float16(bits):
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError("an int, please")
    if not 0 <= bits <= 65535:
        raise ValueError("16 bits, please")
    sign = -1.0 if bits >> 15 else 1.0
    e = bits >> 10 & 31
    f = bits & 1023
    if e == 31:
        return math.nan if f else sign * math.inf
    if e == 0:
        return sign * math.ldexp(f, -24)
    return sign * math.ldexp(1024 + f, e - 25)
"""
BODY: Final = """\
import math
if isinstance(bits, bool) or not isinstance(bits, int):
    raise TypeError("an int, please")
if not 0 <= bits <= 65535:
    raise ValueError("16 bits, please")
sign = -1.0 if bits >> 15 else 1.0
e = bits >> 10 & 31
f = bits & 1023
if e == 31:
    return math.nan if f else sign * math.inf
if e == 0:
    return sign * math.ldexp(f, -24)
return sign * math.ldexp(1024 + f, e - 25)
"""


@dataclass
class Reader:
    """A browser's page with the exercise's card, and what must not happen in it."""

    page: Any
    address: str
    slug: str = SLUG
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    @property
    def card(self) -> Any:
        return self.page.locator(f"#exercise-{self.slug}")

    @property
    def results(self) -> Any:
        return self.card.locator(".hp-results")

    def open(self, url: str = PAGE) -> Reader:
        self.page.goto(self.address + url)
        return self

    def button(self, name: str) -> Any:
        return self.card.get_by_role("button", name=name, exact=True)

    def write(self) -> None:
        """Go into the editor, by a click on the code, where it is still text."""
        if self.card.locator(".hp-still").count():
            self.card.locator(".hp-still pre").click()
        self.card.locator(".cm-content").focus()

    def put(self, source: str) -> None:
        """Put a source in place of what stands in the editor, as pasting does."""
        self.write()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(source)

    def run(self) -> str:
        """Run the checks; return the headline."""
        self.button("Run the checks").click()
        return self.finished()

    def finished(self) -> str:
        self.button("Stop").wait_for(state="hidden")
        return str(self.results.locator(".hp-headline").inner_text())

    def code(self) -> str:
        """Return what is kept of the code in this browser."""
        kept = self.kept()
        return str(kept["code"]) if kept else ""

    def kept(self) -> Any:
        return json.loads(self.page.evaluate(f"localStorage.getItem('half-precision/1/{self.slug}')") or "null")

    def until_kept(self, source: str) -> None:
        """Wait until the code in this browser is that one."""
        expect = json.dumps(source)
        self.page.wait_for_function(
            f"JSON.parse(localStorage.getItem('half-precision/1/{self.slug}') ?? '{{}}').code === {expect}"
        )

    def statuses(self) -> dict[str, str]:
        checks = self.results.locator(".hp-check")
        return checks.evaluate_all("all => Object.fromEntries(all.map(e => [e.dataset.check, e.dataset.status]))")


@pytest.fixture
def reader(browser: Any, address: str) -> Iterator[Callable[..., Reader]]:
    """Return a function that makes a reader with a browser of their own; what must not happen is looked at last."""
    readers: list[Reader] = []

    def made(*, like: Reader | None = None, forgiven: tuple[str, ...] = (), before: str = "", **kind: Any) -> Reader:
        context = like.page.context if like else browser.new_context(accept_downloads=True, **kind)
        if before:
            context.add_init_script(before)
        one = Reader(context.new_page(), address)
        one.page.forgiven = forgiven
        readers.append(one)
        return one

    yield made
    for one in readers:
        elsewhere = [url for url in one.requests if not url.startswith((address, "data:", "blob:"))]
        errors = [error for error in one.errors if not any(part in error for part in one.page.forgiven)]
        one.page.context.close()
        assert elsewhere == []
        assert errors == []


@pytest.fixture(scope="module")
def exercise() -> Exercise:
    return catalog.load(SLUG, ROOT)


def by_command(source: str, tmp_path: Path, suffix: str = ".py") -> Any:
    """Return the record that the command line gives."""
    path = tmp_path / f"{SLUG}{suffix}"
    path.write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "autograder", "check", str(path), "--exercise", SLUG, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


# ------------------------------------------------------------------------ before anything is touched


def test_nothing_of_editor_or_python_is_loaded_before_it_is_touched(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    one.page.wait_for_load_state("networkidle")
    heavy = ("editor-", "pyodide", "course.zip", "worker.mjs")
    assert [url for url in one.requests if any(name in url for name in heavy)] == []
    one.write()
    one.page.wait_for_load_state("networkidle")
    assert sum("editor-" in url for url in one.requests) == 1


def test_without_a_script_the_card_reads_as_a_page(reader: Callable[..., Reader], exercise: Exercise) -> None:
    one = reader(java_script_enabled=False).open()
    assert one.card.locator(".hp-solve, textarea, progress").count() == 0
    one.card.locator(".hp-starter summary").click()
    assert one.card.locator(".hp-starter pre").inner_text().strip() == exercise.starter.strip()
    assert one.card.get_by_role("link", name="Download the notebook").is_visible()
    one.card.locator(".hp-hint summary").first.click()
    assert one.card.locator(".hp-hint .hp-body").first.is_visible()


def test_scripts_are_known_by_their_hashes(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    scripts = one.page.locator("script[src*='_static/widget/']")
    assert scripts.count() == 1
    assert scripts.get_attribute("integrity").startswith("sha384-")
    known = json.loads(one.page.locator("script[type=importmap]").inner_text())["integrity"]
    assert [name.rpartition("/")[2].partition("-")[0] for name in known] == ["editor"]


def test_an_exercise_that_needs_torch_says_where_it_runs(reader: Callable[..., Reader]) -> None:
    one = reader().open("02_where_gradients_vanish.html")
    one.slug = "underflow_report"
    assert "needs torch" in one.card.locator(".hp-how").inner_text()
    assert one.card.locator(".hp-solve").count() == 0
    one.card.get_by_role("checkbox").check()
    one.open(START)
    row = one.page.locator(f"td[data-slug={one.slug}]")
    assert row.inner_text() == "✓ Solved"


# ------------------------------------------------------------------------ running


def typed(page: Any, body: str) -> None:
    """Type the lines of a function's body, key by key, in place of the starter's last line."""
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    page.keyboard.press("Shift+Home")
    for number, line in enumerate(body.splitlines()):
        if number:
            page.keyboard.press("Enter")
        text = line.lstrip()
        wanted = 4 + len(line) - len(text)
        there = page.evaluate("document.querySelector('.cm-activeLine').textContent.search(/\\S|$/)")
        for _ in range(max(there - wanted, 0) // 4):
            page.keyboard.press("Backspace")
        for _ in range(max(wanted - there, 0) // 4):
            page.keyboard.press("Tab")
        page.keyboard.type(text)


def test_a_solution_is_typed_from_the_starter_and_gets_full_marks(
    reader: Callable[..., Reader], exercise: Exercise
) -> None:
    one = reader().open()
    assert one.card.locator(".hp-way").is_hidden()
    one.write()
    typed(one.page, BODY)
    one.page.keyboard.press("Control+Enter")
    one.results.wait_for(state="visible")
    assert "Every check passes. Full marks." in one.finished()
    assert one.statuses() == {check.id: "passed" for check in exercise.checks}
    assert one.card.locator(".hp-chip").inner_text() == "✓ Solved"
    one.button("Open the walkthrough").click()
    assert one.page.locator("details.hp-walkthrough[open]").count() == 1
    beside = one.page.locator(".bd-links li.current > a .hp-beside").first
    assert beside.text_content() == "1/2 (1 of 2 exercises solved)"
    one.open(START)
    assert one.page.locator(f"td[data-slug={SLUG}]").inner_text() == "✓ Solved"


def test_the_starter_is_not_started_and_that_is_said_once(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    assert one.run() == "Not started yet"
    assert one.results.locator(".hp-check").count() == 0
    assert one.card.locator(".hp-chip").inner_text() == ""


@pytest.mark.parametrize("name", ["flushes_subnormals", "uses_struct", "four_exponent_bits"])
def test_a_wrong_answer_is_told_what_the_command_line_tells(
    reader: Callable[..., Reader], exercise: Exercise, tmp_path: Path, name: str
) -> None:
    (wrong,) = [answer for answer in exercise.wrong if answer.name == name]
    one = reader().open()
    one.put(wrong.source)
    one.run()
    told_there = by_command(wrong.source, tmp_path)
    whole = one.results.inner_text()
    assert f"{told_there['score']:g} of {told_there['max_score']:g} points" in whole
    if told_there["reason"]:
        assert told_there["reason"].partition(": ")[2].replace("`", "") in whole
        return
    assert one.statuses() == {check["id"]: check["status"] for check in told_there["checks"]}
    told = {check["id"]: check for check in told_there["checks"]}
    caught = told[wrong.caught_by]
    shown = one.results.locator(f"[data-check={wrong.caught_by}]")
    shown_words = shown.inner_text()
    for part in ("rule", "difference", "call", "returned", "expected", "belief", "truth"):
        assert caught[part].replace("`", "") in shown_words, part
    behind = shown.locator(".hp-behind")
    assert behind.get_attribute("data-misconception") == wrong.misconception == caught["misconception"]
    link = shown.locator(".hp-read a").get_attribute("href")
    assert link.endswith(caught["see"].removeprefix("book/"))


def test_three_honest_tries_open_the_way_to_the_walkthrough(reader: Callable[..., Reader], exercise: Exercise) -> None:
    one = reader().open()
    way = one.card.locator(".hp-way")
    for number, source in enumerate(["1.0", "2.0", "2.0", "3.0"]):
        assert way.is_hidden(), number
        one.put(f"def decode_float16(bits):\n    return {source}\n")
        one.run()
    assert "Three honest tries" in way.inner_text()
    assert f"solutions/{SLUG}.py" in way.inner_text()


def test_a_loop_is_stopped_and_the_next_run_is_whole(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    one.put("def decode_float16(bits):\n    while True:\n        pass\n")
    one.button("Run the checks").click()
    one.page.wait_for_function("document.querySelector('.hp-status').textContent === 'Running …'")
    one.button("Stop").click()
    assert one.finished() == "Stopped"
    one.put(ANSWER)
    assert "Full marks" in one.run()


BAD: Final = {
    "a loop at the top": ("while True:\n    pass\n", "Out of time"),
    "print without end": ("def decode_float16(bits):\n    while True:\n        print('again')\n", "Out of time"),
    "calls without end": ("def decode_float16(bits):\n    return decode_float16(bits)\n", ""),
    "a list of a billion": ("def decode_float16(bits):\n    return [0.5] * 10**9\n", ""),
    "builtins replaced": ("import builtins\nbuiltins.len = builtins.isinstance = None\n", ""),
    "an exit": ("import os\ndef decode_float16(bits):\n    os._exit(3)\n", ""),
    "a megabyte": ("x = '" + "a" * 1_000_000 + "'\n", "It cannot be run here"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_code_ends_in_a_clear_state_and_nothing_is_lost(reader: Callable[..., Reader], name: str) -> None:
    source, headline = BAD[name]
    one = reader().open()
    one.put(source)
    assert headline in one.run()
    assert one.results.inner_text().strip()
    one.until_kept(source)
    one.put(ANSWER)
    assert "Full marks" in one.run()


def test_the_line_of_a_syntax_error_is_marked_and_reached(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    one.put("def decode_float16(bits):\n    sign = 1\n    return sign +\n")
    one.run()
    assert "SyntaxError" in one.results.locator(".hp-whole").inner_text()
    marked = one.card.locator(".cm-line.hp-line-marked")
    assert marked.all_inner_texts() == ["    return sign +"]
    one.button("Go to line 3").click()
    assert one.card.locator(".cm-activeLine").inner_text() == "    return sign +"
    one.page.keyboard.press("End")
    one.page.keyboard.type(" 1")
    assert marked.count() == 0


def test_the_line_of_an_exception_is_marked(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    one.put("def decode_float16(bits):\n    if bits > 20000:\n        return 1 / 0\n    return 1.0\n")
    one.run()
    assert one.card.locator(".cm-line.hp-line-marked").all_inner_texts() == ["        return 1 / 0"]
    assert "ZeroDivisionError" in one.results.inner_text()


def test_what_code_prints_is_shown_as_text(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    hostile = "<img src=x onerror='window.hit = 1'><script>window.hit = 1</script>\\x1b[2J\\u202e"
    one.put(f'def decode_float16(bits):\n    print("{hostile}")\n    raise ValueError("{hostile}")\n')
    one.run()
    printed = one.results.locator(".hp-printed").inner_text()
    assert "<img src=x onerror='window.hit = 1'>" in printed
    assert one.results.locator("img, script").count() == 0
    assert not set("\x1b\u202e") & set(one.results.inner_text())
    assert one.page.evaluate("window.hit === undefined")


# ------------------------------------------------------------------------ what is kept


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
    assert one.card.locator(".cm-content").inner_text().startswith("import math")
    one.button("Reset").click()
    one.page.get_by_role("dialog").get_by_role("button", name="Reset").click()
    one.until_kept("")
    assert one.card.locator(".cm-content").inner_text().strip() == exercise.starter.strip()
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
    get() { throw new DOMException('no', 'SecurityError') } })"""
FULL: Final = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"


@pytest.mark.parametrize(("before", "notice"), [(FORBIDDEN, "lets pages keep nothing"), (FULL, "storage is full")])
def test_where_nothing_can_be_kept_that_is_said_and_nothing_is_lost(
    reader: Callable[..., Reader], before: str, notice: str
) -> None:
    one = reader(before=before).open()
    one.put(ANSWER)
    assert "Full marks" in one.run()
    assert notice in one.card.locator(".hp-notice").inner_text()
    assert one.card.locator(".hp-chip").inner_text() == "✓ Solved"
    with one.page.expect_download() as coming:
        one.button("Download my notebook").click()
    assert "an int, please" in Path(coming.value.path()).read_text(encoding="utf-8")


def test_of_two_windows_the_newer_code_wins_and_the_older_is_not_lost(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    two = reader(like=one).open()
    one.put("first = 1\n")
    one.until_kept("first = 1\n")
    two.card.locator(".hp-notice").wait_for()
    two.put("second = 2\n")
    two.until_kept("second = 2\n")
    one.card.locator(".hp-notice").get_by_text("This is the newer code").wait_for()
    assert one.card.locator(".cm-content").inner_text().strip() == "second = 2"
    one.button("Take back what stood here").click()
    one.until_kept("first = 1\n")


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


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_in_the_card(reader: Callable[..., Reader], state: str, mode: str) -> None:
    axe = Axe.from_file(ROOT / "build/assets/node_modules/axe-core/axe.min.js")
    one = reader(color_scheme=mode, viewport=PHONE if mode == "dark" else None).open()
    STATES[state](one)
    one.page.mouse.move(0, 0)
    found = axe.run(
        one.page, {"include": [[f"#exercise-{SLUG}"], ["dialog"]] if state == "asking" else [[f"#exercise-{SLUG}"]]}
    )
    assert found["passes"]
    assert [
        (each["id"], each["nodes"][0]["html"], each["nodes"][0]["failureSummary"]) for each in found["violations"]
    ] == []
    assert one.page.evaluate("document.documentElement.scrollWidth") <= one.page.viewport_size["width"]


def test_axe_finds_nothing_in_the_start_page_s_progress(reader: Callable[..., Reader]) -> None:
    axe = Axe.from_file(ROOT / "build/assets/node_modules/axe-core/axe.min.js")
    one = reader(viewport=PHONE).open()
    one.put(ANSWER)
    one.until_kept(ANSWER)
    one.open(START)
    assert one.page.locator(f"td[data-slug={SLUG}]").inner_text() == "◐ Begun"
    found = axe.run(one.page, {"include": [[".hp-progress"], ["table:has(.hp-yours)"]]})
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []


def test_the_editor_follows_the_page_s_colors(reader: Callable[..., Reader]) -> None:
    ground = "getComputedStyle(document.querySelector('.cm-editor')).backgroundColor"
    one = reader().open()
    one.write()
    light = one.page.evaluate(ground)
    one.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert one.page.evaluate(ground) != light


# ------------------------------------------------------------------------ the same words as everywhere


def say(status: str, *checks: CheckResult, score: float | None = 0.0, reason: str = "") -> Score:
    """Return a score with those checks."""
    return Score(
        student="", exercise=SLUG, status=status, score=score, max_score=10.0, seed_id="", checks=checks,
        reference=Reference("", "", ""), sandbox=(), duration_s=0.0, reason=reason,
    )  # fmt: skip


def of(number: int, status: str, earned: float = 0.0, points: float = 1.0, **more: str) -> CheckResult:
    return CheckResult(f"check_{number}", "A title", points, earned, status, **more)


SCORES: Final = (
    say("not_started", of(1, "not_run"), reason="the starter, untouched"),
    say("not_started", of(1, "not_run")),
    say("unreadable", score=None, reason="a.py: nothing in it"),
    say("graded", of(1, "passed", 10.0, 10.0), of(2, "passed", 0.5, 0.5), score=10.0),
    say("graded", of(1, "passed", 1.0), of(2, "failed", 0.25, 0.5, call="f()"), score=1.25),
    say("graded", of(1, "timeout", message="Out"), of(2, "timeout", message="Out")),
    say("graded", of(1, "error", message="Ends."), of(2, "error", message="Ends.")),
    say("graded", of(1, "memory", message="a"), of(2, "crashed", message="b"), of(3, "forbidden"), reason="all alike"),
)


@pytest.mark.parametrize("score", SCORES, ids=range(len(SCORES)))
def test_the_page_says_it_in_the_words_of_every_report(reader: Callable[..., Reader], score: Score) -> None:
    source = (ROOT / "book/widget/words.js").read_text(encoding="utf-8")
    said = reader().page.evaluate(
        """async ([source, record]) => {
            const words = await import('data:text/javascript,' + encodeURIComponent(source));
            const checks = record.checks.map(check => [words.mark(record, check), words.earned(record, check)]);
            return [words.headline(record), words.reason(record), words.isFull(record), checks];
        }""",
        [source, {**record(score), "reason": score.reason}],
    )
    marks = [["·" if score.status == "not_started" else words.mark(c), words.earned(score, c)] for c in score.checks]
    assert said == [words.headline(score), words.reason(score), words.is_full(score), marks]


@pytest.mark.parametrize(
    "see", ["book/04_one_scaler_step.html#judge", "book/02_where_gradients_vanish.html", "book/a.html#"]
)
def test_a_section_has_the_name_that_it_has_in_feedback(reader: Callable[..., Reader], see: str) -> None:
    source = (ROOT / "book/widget/words.js").read_text(encoding="utf-8")
    named = """async ([source, see]) =>
        (await import('data:text/javascript,' + encodeURIComponent(source))).sectionName(see)"""
    assert reader().page.evaluate(named, [source, see]) == section_name(see)


def test_text_is_made_visible_as_in_feedback(reader: Callable[..., Reader]) -> None:
    source = (ROOT / "book/widget/dom.js").read_text(encoding="utf-8")
    text = "".join(map(chr, [*range(0x300), *range(0x2000, 0x2100), 0x61C, 0x180E, 0xFEFF, 0xFFF9, 0xFFFF, 0xE0041]))
    shown = """async ([source, text]) =>
        (await import('data:text/javascript,' + encodeURIComponent(source))).visible(text)"""
    assert reader().page.evaluate(shown, [source, text]) == visible(text)
