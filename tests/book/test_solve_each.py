"""Every exercise that runs in a browser is solved in its page, from its starter; a wrong answer is told its belief.

One browser context a page, so that Python is loaded once for all its exercises.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from typing import Any, Final

import pytest
from reading import CLOCK, ROOT, Reader

from autograder import catalog
from autograder.browser import archive
from autograder.models import Answer, Exercise

pytestmark = pytest.mark.needs("chromium")
PAGES: Final = {
    slug: f"{path.stem}.html"
    for path in sorted((ROOT / "book").glob("*.md"))
    for slug in re.findall(r"^```+\{graded\} (\w+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
}
"""Each exercise's page, in the order of the book."""
SLUGS: Final = [slug for slug in PAGES if slug in archive.slugs(ROOT)]
KNOWN: Final = runpy.run_path(str(ROOT / "tests/browser/known.py"))


@pytest.fixture(scope="module")
def desk(browser: Any, address: str) -> Iterator[dict[str, Reader]]:
    """Return the reader of the page that is open, by the page; what must not happen is looked at last."""
    open_pages: dict[str, Reader] = {}
    pasts = []
    yield open_pages
    for one in open_pages.values():
        pasts.append(one.past())
        one.page.context.close()
    assert pasts == [([], [])] * len(pasts)


def at(desk: dict[str, Reader], browser: Any, address: str, slug: str) -> Reader:
    """Return the reader of an exercise's page; there is one at a time, so that one Python is in memory."""
    page = PAGES[slug]
    if page not in desk:
        for name in list(desk):
            left = desk.pop(name)
            assert left.past() == ([], [])
            left.page.context.close()
        context = browser.new_context()
        context.add_init_script(CLOCK)
        desk[page] = Reader(context.new_page(), address).open(page)
    desk[page].slug = slug
    return desk[page]


def recognized(exercise: Exercise) -> Answer:
    """Return a wrong answer that the page can judge, with a belief behind it."""
    for answer in exercise.wrong:
        key = exercise.slug, f"wrong/{answer.name}"
        if (
            answer.caught_by != "forbids"
            and answer.misconception
            and key not in {*KNOWN["ELSEWHERE"], *KNOWN["ENDLESS"]}
        ):
            return answer
    raise AssertionError(f"no wrong answer of {exercise.slug} can be judged in the page")


def test_every_exercise_of_the_browser_has_a_page() -> None:
    assert set(archive.slugs(ROOT)) == set(SLUGS)
    assert {"grad_scaler_step", "dynamic_loss_scale", "stochastic_round_bf16"} <= set(SLUGS)


@pytest.mark.parametrize("slug", SLUGS)
def test_it_is_solved_from_its_starter_and_a_wrong_answer_is_told(
    desk: dict[str, Reader], browser: Any, address: str, slug: str
) -> None:
    exercise = catalog.load(slug, ROOT)
    one = at(desk, browser, address, slug)

    one.write()
    assert one.written().strip() == exercise.starter.strip()
    assert one.card.locator(".hp-chip").inner_text() == ""
    wrong = recognized(exercise)
    one.put(wrong.source)
    assert "Full marks" not in one.run()
    shown = one.results.locator(f"[data-check={wrong.caught_by}]")
    behind = shown.locator(".hp-behind")
    assert behind.get_attribute("data-misconception") == wrong.misconception
    assert exercise.misconceptions[wrong.misconception].belief.replace("`", "") in behind.inner_text()

    one.page.keyboard.press("Escape")
    one.put(exercise.solution)
    one.page.keyboard.press("Control+Enter")
    one.results.get_by_text("Every check passes. Full marks.").wait_for()
    assert one.statuses() == {check.id: "passed" for check in exercise.checks}
    assert f"{exercise.max_score:g} of {exercise.max_score:g} points" in one.results.inner_text()
    assert one.card.locator(".hp-chip").inner_text() == "✓ Solved"
    one.until_kept(exercise.solution)
    assert one.kept()["best"] == {"score": exercise.max_score, "max": exercise.max_score, "version": exercise.version}
