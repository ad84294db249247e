"""What a reader does in the page: write an answer, run it, and read what it says. Real Chromium, real Python in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import pytest
from reading import ANSWER, PAGE, SLUG, START, Reader, by_command

from autograder.models import Exercise

pytestmark = pytest.mark.needs("chromium")
BODY: Final = "import math\n" + dedent(ANSWER.partition("(bits):\n")[2])
"""The answer as it is typed in place of the starter's last line."""


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


def test_an_exercise_that_runs_only_elsewhere_is_ticked_off_by_hand(reader: Callable[..., Reader]) -> None:
    one = reader()

    def without_python(route: Any) -> None:
        html = route.fetch().text()
        assert '"exercises": [' in html
        route.fulfill(body=re.sub(r'"exercises": \[[^]]*\]', '"exercises": []', html), content_type="text/html")

    one.page.route(f"**/{PAGE}", without_python)
    one.open()
    assert one.card.locator(".hp-solve").count() == 0
    assert one.card.locator(".hp-starter").is_visible()
    one.card.get_by_role("checkbox", name="I have solved it there").check()
    one.open(START)
    assert one.page.locator(f"td[data-slug={one.slug}]").inner_text() == "✓ Solved"


# ------------------------------------------------------------------------ running


def typed(page: Any, body: str) -> None:
    """Type the lines of a function's body, key by key, in place of the starter's last line."""
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    page.keyboard.press("Shift+Home")  # to the row's beginning
    page.keyboard.press("Shift+Home")  # and to the line's
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
    warm: Reader, exercise: Exercise, tmp_path: Path, name: str
) -> None:
    (wrong,) = [answer for answer in exercise.wrong if answer.name == name]
    one = warm
    one.put(wrong.source)
    one.run()
    told_there = by_command(wrong.source, tmp_path)
    whole = one.results.inner_text()
    assert f"{told_there['score']:g} of {told_there['max_score']:g} points" in whole
    if told_there["reason"]:
        said = told_there["reason"].partition(": ")[2].replace("`", "")
        assert said.replace("(cell 1, line", "(line") in whole  # here is one piece of code, and no cell
        assert "cell 1" in said
        assert "cell 1" not in whole
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


def test_loading_is_shown_until_it_is_over(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    held: list[Any] = []
    one.page.context.route("**/course.zip", lambda route: held.append(route))  # a bound method will not do
    bar = one.card.locator("progress")
    assert bar.is_hidden()
    one.put(ANSWER)
    one.button("Run the checks").click()
    one.card.locator(".hp-status").get_by_text("Loading Python: 6 MB, the first time only …").wait_for()
    assert bar.is_visible()
    while not held:
        one.page.wait_for_timeout(20)
    assert one.button("Stop").is_visible()
    held[0].continue_()
    assert "Full marks" in one.finished()
    assert bar.is_hidden()
    assert one.card.locator(".hp-status:not(.hp-unseen)").count() == 0


def test_stop_while_python_is_loading_leaves_the_next_run_whole(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    held: list[Any] = []
    one.page.context.route("**/course.zip", lambda route: held.append(route))
    one.put(ANSWER)
    one.button("Run the checks").click()
    while not held:  # else the next run's would be held
        one.page.wait_for_timeout(20)
    one.button("Stop").click()
    assert one.finished() == "Stopped"
    one.page.context.unroute("**/course.zip")
    assert "Full marks" in one.run()


def test_of_two_exercises_of_a_page_one_runs_at_a_time(warm: Reader) -> None:
    one, other = warm, replace(warm, slug="encode_float16")
    one.put("while True:\n    pass\n")
    one.button("Run the checks").click()
    one.card.locator(".hp-status").get_by_text("Running …").wait_for()
    other.button("Run the checks").click()
    assert other.card.locator(".hp-status").inner_text() == "Another exercise of this page is running: stop that first."
    assert other.results.is_hidden()
    one.button("Stop").click()
    assert one.finished() == "Stopped"
    assert other.run() == "Not started yet"


@pytest.mark.parametrize("line", ["pass", "print('again')"])
def test_a_loop_is_stopped_and_the_next_run_is_whole(warm: Reader, line: str) -> None:
    one = warm
    one.put(f"def decode_float16(bits):\n    while True:\n        {line}\n")
    one.button("Run the checks").click()
    one.card.locator(".hp-status").get_by_text("Running …").wait_for()
    one.button("Stop").click()
    assert one.finished() == "Stopped"
    one.put(ANSWER)
    assert "Full marks" in one.run()


COUNT: Final = "def decode_float16(bits):\n    n = 0\n    while True:\n        n += 1\n        print('line', n)\n"


def test_an_endless_print_leaves_the_page_alive_and_its_first_lines_are_shown(warm: Reader) -> None:
    one = warm
    one.put("print('read in')\n" + COUNT)
    one.button("Run the checks").click()
    so_far = one.card.locator(".hp-printing")
    so_far.get_by_text("line 17\n").wait_for()
    so_far.get_by_text("this is the beginning").wait_for()
    hints = one.card.locator(".hp-hint > summary")
    hints.first.click()  # the page answers meanwhile
    assert one.card.locator(".hp-hint .hp-body").first.is_visible()
    hints.first.click()
    one.button("Stop").click()
    assert one.finished() == "Stopped"
    assert so_far.is_hidden()
    printed = one.results.locator(".hp-printed").inner_text().splitlines()
    assert printed[:3] == ["read in", "line 1", "line 2"]
    assert printed[-1] == "… (this is the beginning; what came after it is not kept)"
    assert len(printed) == 401
    one.put(ANSWER)
    assert "Full marks" in one.run()
    assert one.card.locator(".hp-printed:visible").count() == 0


def test_what_was_printed_before_the_time_was_up_is_shown(warm: Reader, exercise: Exercise) -> None:
    one = warm
    one.put("def decode_float16(bits):\n    print('before', end='')\n    while True:\n        pass\n")
    one.button("Run the checks").click()
    one.card.locator(".hp-printing").get_by_text("before").wait_for()
    for number in (1, 2):
        one.until_tried(number, len(exercise.checks))
        one.time_is_up(exercise.seconds / 2**number)
    assert "No check passes yet." in one.finished()
    assert one.results.locator(".hp-printed").inner_text() == "before"
    statuses = list(one.statuses().values())
    # The loop is in the function, whatever it is called with: two time-outs are enough to say so.
    assert statuses == ["timeout"] * 2 + ["not_run"] * (len(exercise.checks) - 2)
    untried = one.results.locator("[data-status=not_run] .hp-why")
    others = f"The same in {len(exercise.checks) - 3} other checks."
    assert untried.all_inner_texts() == [f"Not tried: neither of the first two checks came to its end.\n\n{others}"]
    one.put(ANSWER)
    assert "Full marks" in one.run()


def test_one_loop_costs_one_check(warm: Reader, exercise: Exercise) -> None:
    one = warm
    checks = [check.id for check in exercise.checks]
    late = "refuses_other_types"  # the one check that asks for True
    loop = "    if bits is True:\n        print('on and on')\n        while True:\n            pass\n"
    one.put(ANSWER.replace("    ", loop + "    ", 1))
    one.button("Run the checks").click()
    one.card.locator(".hp-printing").get_by_text("on and on").wait_for()
    one.until_tried(1 + checks.index(late), len(checks))
    one.time_is_up(exercise.seconds / 2)
    one.finished()
    assert one.statuses() == {check: "timeout" if check == late else "passed" for check in checks}
    told = one.results.locator(f"[data-check={late}]").inner_text()
    assert f"o answer within {exercise.seconds / 2:.3g} s" in told


def test_the_same_exception_is_told_once(warm: Reader, exercise: Exercise) -> None:
    one = warm
    one.put("def decode_float16(bits):\n    if bits > 20000:\n        return 1 / 0\n    return 1.0\n")
    one.run()
    ended = [check for check, status in one.statuses().items() if status == "error"]
    told = one.results.locator(".hp-others")
    assert told.count() == 1
    same = one.results.locator("details.hp-same")
    first = one.results.locator(f"[data-check={ended[0]}]")
    assert first.locator(".hp-others").inner_text() == f"The same in {same.count()} other checks."
    assert "ZeroDivisionError: division by zero" in first.inner_text()
    assert 2 <= same.count() < len(exercise.checks)
    again = same.first
    assert again.locator("pre").is_hidden()
    again.locator("summary").click()
    assert "decode_float16(bits=" in again.locator("pre").inner_text()
    assert "ZeroDivisionError" not in again.inner_text()


BAD: Final = {
    "calls without end": ("def decode_float16(bits):\n    return decode_float16(bits)\n", ""),
    "a list of a hundred million": ("def decode_float16(bits):\n    return [0.5] * 10**8\n", ""),
    "a list of a billion": ("def decode_float16(bits):\n    return [0.5] * 10**9\n", ""),
    "builtins replaced": ("import builtins\nbuiltins.len = builtins.isinstance = None\n", ""),
    "an exit": ("import os\ndef decode_float16(bits):\n    os._exit(3)\n", ""),
    "a megabyte": ("x = '" + "a" * 1_000_000 + "'\n", "It cannot be run here"),
}


def test_a_loop_at_the_top_is_out_of_time_and_nothing_is_lost(warm: Reader, exercise: Exercise) -> None:
    one = warm
    source = "while True:\n    pass\n"
    one.put(source)
    one.button("Run the checks").click()
    one.time_is_up(exercise.seconds / 2)
    assert one.finished() == "Out of time"
    assert f"did not come to its end within {exercise.seconds / 2:.3g} s" in one.results.inner_text()
    one.until_kept(source)
    one.put(ANSWER)
    assert "Full marks" in one.run()


MADE_WORKER: Final = """(() => {
    const all = [];
    window.Worker = class extends EventTarget {
        constructor() {
            super();
            all.push(this);
        }
        postMessage() {}
        terminate() {}
    };
    window.say = (data) => all.at(-1).dispatchEvent(new MessageEvent("message", { data }));
})()"""
"""A worker that says what a test lets it say."""


def test_what_the_worker_has_said_in_time_is_heard_before_time_is_up(reader: Callable[..., Reader]) -> None:
    one = reader(before=MADE_WORKER).open()
    one.put(ANSWER)
    one.button("Run the checks").click()
    one.page.evaluate("""() => {
        const trying = { type: "trying", id: 1, check: "", number: 0, of: 9, case: 0, allowed: 6 };
        for (const each of [{ type: "ready" }, { type: "started", id: 1, seconds: 12 }, trying]) say(each);
        setTimeout(() => say({ type: "failed", id: 1, message: "this was said" }));
        pageClock.strike(6000);  // where a page has stood still, not every browser begins with the message
    }""")
    assert one.finished() == "Python broke off"
    assert "this was said" in one.results.inner_text()


@pytest.mark.parametrize("name", BAD)
def test_bad_code_ends_in_a_clear_state_and_nothing_is_lost(warm: Reader, name: str) -> None:
    source, headline = BAD[name]
    one = warm
    one.put(source)
    one.page.evaluate("pageClock.pace = 1")  # time ends some of it
    assert headline in one.run()
    one.page.evaluate("pageClock.pace = 30")
    assert one.results.inner_text().strip()
    one.until_kept(source)
    one.put(ANSWER)
    assert "Full marks" in one.run()


def test_the_line_of_a_syntax_error_is_marked_and_reached(warm: Reader) -> None:
    one = warm
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


def test_the_line_of_an_exception_is_marked(warm: Reader) -> None:
    one = warm
    one.put("def decode_float16(bits):\n    if bits > 20000:\n        return 1 / 0\n    return 1.0\n")
    one.run()
    assert one.card.locator(".cm-line.hp-line-marked").all_inner_texts() == ["        return 1 / 0"]
    assert "ZeroDivisionError" in one.results.inner_text()


def test_what_code_prints_is_shown_as_text(warm: Reader) -> None:
    one = warm
    hostile = "<img src=x onerror='window.hit = 1'><script>window.hit = 1</script>\\x1b[2J\\u202e"
    one.put(f'def decode_float16(bits):\n    print("{hostile}")\n    raise ValueError("{hostile}")\n')
    one.run()
    printed = one.results.locator(".hp-printed").first.inner_text()
    assert "<img src=x onerror='window.hit = 1'>" in printed
    assert one.results.locator("img, script").count() == 0
    assert not set("\x1b\u202e") & set(one.results.inner_text())
    assert one.page.evaluate("window.hit === undefined")
