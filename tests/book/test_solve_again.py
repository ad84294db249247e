"""What comes after a first run: other code, results that are older than it, a file, another window, another page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from axe_core_python.sync_playwright import Axe
from reading import ANSWER, PHONE, SLUG, START, Reader, until

from autograder.models import Exercise

pytestmark = pytest.mark.needs("chromium")
BAD: Final = "def decode_float16(bits):\n    return 0.25\n"
OLDER: Final = "These are the results of an earlier version of your code."
BEFORE: Final = "Solved before; the code above does not pass all checks."


def reset(one: Reader) -> None:
    one.button("Reset").click()
    one.page.get_by_role("dialog").get_by_role("button", name="Reset").click()


# ------------------------------------------------------------------------ what solved it


def test_the_code_that_solved_it_is_kept_and_comes_back(warm: Reader) -> None:
    one = warm
    way = one.card.locator(".hp-way")
    one.put(ANSWER)
    one.run()
    assert way.inner_text().startswith("Solved. ")
    one.put(BAD)
    assert way.inner_text().startswith("Solved before; the code above is not the code that solved it. ")
    one.run()
    assert one.card.locator(".hp-chip").inner_text() == "✓ Solved"
    assert way.inner_text().startswith(BEFORE)
    assert one.kept()["solution"] == ANSWER
    one.button("Bring back the code that solved it").click()
    one.until_kept(ANSWER)
    assert one.written() == ANSWER
    assert way.inner_text().startswith("Solved. ")
    assert one.results.locator(".hp-stale").inner_text() == OLDER
    one.button("Undo").click()
    one.until_kept(BAD)
    assert way.inner_text().startswith(BEFORE)


def test_the_code_that_solved_it_outlives_the_page(reader: Callable[..., Reader]) -> None:
    kept = {"code": BAD, "version": "", "saved": 1, "solution": ANSWER, "best": {"score": 1, "max": 1, "version": ""}}
    one = reader().open()
    one.page.evaluate(f"localStorage.setItem('half-precision/1/{SLUG}', {json.dumps(json.dumps(kept))})")
    one.open()
    one.button("Bring back the code that solved it").click()
    one.until_kept(ANSWER)
    assert one.card.locator(".hp-still").inner_text().strip() == ANSWER.strip()
    long = {**kept, "solution": "x" * 2_000_001}
    one.page.evaluate(f"localStorage.setItem('half-precision/1/{SLUG}', {json.dumps(json.dumps(long))})")
    one.open()
    assert one.card.locator(".hp-still").inner_text().strip() == BAD.strip()
    assert one.button("Bring back the code that solved it").count() == 0


# ------------------------------------------------------------------------ results of earlier code


def test_results_say_that_they_belong_to_earlier_code(warm: Reader) -> None:
    one = warm
    stale = one.results.locator(".hp-stale")
    one.put(BAD)
    one.run()
    assert stale.count() == 0
    one.page.keyboard.press("ControlOrMeta+End")
    one.write()
    one.page.keyboard.type("#")
    assert stale.inner_text() == OLDER
    assert one.results.locator("> *").first.inner_text() == OLDER
    assert one.results.evaluate("each => getComputedStyle(each).opacity") == "1"
    for mode in ("light", "dark"):
        one.page.evaluate(f"document.documentElement.dataset.theme = '{mode}'")
        found = Axe().run(one.page, {"include": [[f"{one.place} .hp-results"]]})
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]] == []
    one.page.keyboard.press("Backspace")
    assert stale.count() == 0, "the code is what it was"
    one.page.keyboard.type("# more")
    one.run()
    assert stale.count() == 0


def test_after_reset_the_results_are_gone_and_undo_is_beside_the_button(warm: Reader) -> None:
    one = warm
    one.put("\n" * 40 + BAD)
    one.run()
    reset(one)
    one.button("Undo").wait_for()
    assert one.results.is_hidden()
    undo, button = one.button("Undo").bounding_box(), one.button("Reset").bounding_box()
    assert 0 < undo["y"] - button["y"] < 120
    one.button("Undo").click()
    one.until_kept("\n" * 40 + BAD)


# ------------------------------------------------------------------------ what was printed


def test_what_the_shown_call_printed_stands_with_it(warm: Reader) -> None:
    one = warm
    one.put("print('read in')\n" + BAD.replace("    return", "    print(f'bits is {bits}')\n    return"))
    one.run()
    printed = one.results.locator("[data-status=failed] .hp-printed")
    assert printed.count() == one.results.locator("[data-status=failed]").count() > 3
    for check in one.results.locator("[data-status=failed]").all()[:3]:
        called = re.findall(r"bits=(\w+)", check.locator("pre").first.inner_text())
        assert check.locator(".hp-printed").inner_text().splitlines() == [f"bits is {int(bits, 0)}" for bits in called]
        label = "This call printed" if len(called) == 1 else "These calls printed"
        assert check.locator(".hp-label").get_by_text(label, exact=True).count() == 1
    above = one.results.locator("> .hp-printed")
    assert above.inner_text() == "read in"
    assert "Printed while your code was read in" in one.results.locator("> .hp-label").text_content()
    kinds = one.results.evaluate("all => [...all.children].map(each => each.className)")
    assert kinds.index("hp-printed") < kinds.index("hp-checks")


def test_where_all_pass_the_first_output_is_under_the_headline(warm: Reader) -> None:
    one = warm
    one.put(ANSWER.replace("    if isinstance", "    print('bits', bits)\n    if isinstance", 1))
    assert "Full marks" in one.run()
    kinds = one.results.evaluate("all => [...all.children].map(each => each.className)")
    assert kinds[:4] == ["hp-headline", "hp-label", "hp-printed", "hp-checks"]
    assert re.match(r"bits \d+", one.results.locator("> .hp-printed").inner_text())
    assert one.results.locator(".hp-printed").count() == 1


# ------------------------------------------------------------------------ tries, names, sections


@pytest.mark.parametrize("kind", ["syntax", "import", "name"])
def test_a_run_in_which_nothing_was_judged_is_no_try(warm: Reader, kind: str) -> None:
    sources = {
        "syntax": "def decode_float16(bits):\n    return {} +\n",
        "import": "import struct\ndef decode_float16(bits):\n    return {}\n",
        "name": "def decode_float16(bits):\n    return missing_{}\n",
    }
    one = warm
    one.page.evaluate("localStorage.clear()")
    for number in range(4):
        one.put(sources[kind].format(number))
        one.run()
    assert one.kept()["tries"] == 0
    one.put(BAD)
    one.run()
    assert one.kept()["tries"] == 1


def test_a_missing_function_is_missed_in_the_page_s_words(warm: Reader) -> None:
    one = warm
    one.put(BAD.replace("decode_float16", "decode"))
    one.run()
    said = one.results.locator(".hp-whole").inner_text()
    assert said == "There is no decode_float16: was it renamed?"
    one.put("decode_float16 = 3\n")
    one.run()
    said = one.results.locator(".hp-whole").inner_text()
    assert said == "The name decode_float16 is defined, but it is not a function."


def test_a_section_is_named_by_its_own_title(warm: Reader, exercise: Exercise) -> None:
    one = warm
    (wrong,) = [answer for answer in exercise.wrong if answer.name == "flushes_subnormals"]
    one.put(wrong.source)
    one.run()
    links = one.results.locator(".hp-read a").evaluate_all("all => all.map(each => [each.textContent, each.href])")
    assert links
    for name, href in links:
        page, _, anchor = href.partition("#")
        html = one.page.request.get(page).text()
        titles = one.page.evaluate(
            """([html, anchor]) => {
                const page = new DOMParser().parseFromString(html, 'text/html');
                const words = (heading) => heading.firstChild.textContent.trim();
                const section = page.getElementById(anchor).closest('section');
                return [page.querySelector('h1'), section.querySelector('h1, h2, h3')].map(words);
            }""",
            [html, anchor],
        )
        assert name == f"{titles[0]}, “{titles[1]}”"


# ------------------------------------------------------------------------ a file


def take(one: Reader, file: Path, records: dict[str, Any]) -> str:
    """Bring records in on the start page, and return what is said of it."""
    file.write_text(json.dumps({"format": "half-precision-progress", "version": 1, "exercises": records}))
    said = one.page.locator(".hp-said-so")
    with one.page.expect_file_chooser() as choosing:
        one.page.get_by_role("button", name="Import progress").click()
    choosing.value.set_files(file)
    until(one.page, "document.querySelector('.hp-said-so').textContent !== ''")
    return str(said.inner_text())


def test_of_a_file_what_is_here_already_is_not_called_older(
    reader: Callable[..., Reader], exercise: Exercise, tmp_path: Path
) -> None:
    one = reader().open()
    one.put(BAD)
    one.until_kept(BAD)
    mine = one.kept()
    file = tmp_path / "progress.json"
    one.open(START)
    assert take(one, file, {SLUG: mine}) == "Already here: 1 exercise."
    one.open(START)
    assert take(one, file, {SLUG: {**mine, "saved": 1}}) == "Already here: 1 exercise."
    one.open(START)
    theirs = {**mine, "code": ANSWER, "saved": 1}
    said = take(one, file, {SLUG: theirs})
    assert said.startswith(f"Of 1 exercise the code in this browser is newer, and stays: {exercise.title}.")
    assert one.code() == BAD
    one.page.get_by_role("button", name="Use the file's code anyway").click()
    one.until_kept(ANSWER)
    one.page.get_by_role("button", name="Undo").click()
    one.until_kept(BAD)
    one.open(START)
    newer = take(one, file, {SLUG: {**theirs, "saved": mine["saved"] + 10**9}, "encode_float16": {"code": "x = 1\n"}})
    assert newer.startswith("Imported: 2 exercises.")
    one.until_kept(ANSWER)
    one.page.get_by_role("button", name="Undo").click()
    one.until_kept(BAD)
    assert one.page.locator("td[data-slug=encode_float16]").inner_text() == "Not yet"


def test_a_file_brings_code_where_there_is_none_and_takes_none_away(
    reader: Callable[..., Reader], tmp_path: Path
) -> None:
    one = reader().open(START)
    file = tmp_path / "progress.json"
    old = {"code": BAD, "saved": 1, "best": {"score": 10, "max": 10, "version": ""}, "solution": ANSWER}
    one.page.evaluate(f"""localStorage.setItem('half-precision/1/{SLUG}', '{{"code": "", "saved": 5}}')""")
    assert take(one, file, {SLUG: old}).startswith("Imported: 1 exercise.")
    assert (one.code(), one.kept()["solution"]) == (BAD, ANSWER)
    one.open(START)
    take(one, file, {SLUG: {"code": "", "saved": 10**15}})
    assert (one.code(), one.kept()["solution"]) == (BAD, ANSWER)


# ------------------------------------------------------------------------ buttons, windows, loading, long lines


@pytest.mark.parametrize("width", [1280, PHONE["width"]])
def test_a_double_click_on_stop_stops_and_nothing_else(warm: Reader, width: int) -> None:
    one = warm
    one.page.set_viewport_size({"width": width, "height": 844})
    one.put("while True:\n    pass\n")
    place = one.button("Reset").bounding_box()
    one.button("Run the checks").click()
    one.card.locator(".hp-status").get_by_text("Running …").wait_for()
    during = one.button("Reset").bounding_box()
    assert (place["x"], place["y"]) == (during["x"], during["y"])
    one.button("Stop").dblclick()
    assert one.finished() == "Stopped"
    assert one.page.get_by_role("dialog").count() == 0
    one.page.set_viewport_size({"width": 1280, "height": 720})


def test_what_is_said_of_the_other_window_goes_with_the_next_key(reader: Callable[..., Reader]) -> None:
    one = reader().open()
    two = reader(like=one).open()
    two.put("first = 1\n")
    two.until_kept("first = 1\n")
    one.card.locator(".hp-notice").get_by_text("This is the newer code").wait_for()
    one.write()
    assert one.card.locator(".hp-notice").count() == 1
    one.page.keyboard.type("# on")
    assert one.card.locator(".hp-notice").count() == 0


def test_what_the_browser_has_already_is_not_said_to_be_loaded(reader: Callable[..., Reader]) -> None:
    listen = f"""() => {{
        const all = window.said = [];
        const hear = () => all.push(document.querySelector('#exercise-{SLUG} .hp-status').textContent);
        new MutationObserver(hear).observe(document.body, {{ subtree: true, childList: true, characterData: true }});
    }}"""
    one = reader().open()
    one.page.evaluate(listen)
    one.put(BAD)
    one.run()
    assert "Loading Python: 6 MB, the first time only …" in one.page.evaluate("window.said")
    two = reader(like=one).open()
    two.page.evaluate(listen)
    two.put(ANSWER)
    two.run()
    words = two.page.evaluate("window.said")
    assert "Starting Python …" in words
    assert [each for each in words if "6 MB" in each or "Loading" in each] == []


@pytest.mark.parametrize("width", [1280, PHONE["width"]])
def test_long_lines_wrap_and_hang(reader: Callable[..., Reader], width: int) -> None:
    one = reader(viewport={"width": width, "height": 844}).open()
    text = one.card.locator(".hp-still pre")
    rows = """(each, words) => {
        const walk = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
        while (walk.nextNode() && !walk.currentNode.data.includes(words));
        const range = document.createRange();
        range.selectNodeContents(walk.currentNode);
        const start = walk.currentNode.data.lastIndexOf('\\n', walk.currentNode.data.indexOf(words)) + 1;
        range.setStart(walk.currentNode, start + walk.currentNode.data.slice(start).search(/\\S/));
        return [each.scrollWidth - each.clientWidth, [...range.getClientRects()].map(each => each.left)];
    }"""
    long = max(one.card.locator(".hp-still pre").text_content().split("\n"), key=len).strip()
    assert len(long) > 80
    before = text.text_content()
    for place in (text, one.card.locator(".cm-scroller")):
        over, lefts = place.evaluate(rows, long[:40])
        assert over <= 0
        assert len(lefts) > 1
        assert {left > lefts[0] + 8 for left in lefts[1:]} == {True}
        if place is text:
            assert text.inner_text().strip() == before.strip()
            one.write()
