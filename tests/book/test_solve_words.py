"""Does the page say what every report says, in the same words, and show text as safely?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from reading import ROOT, SLUG, Reader

from autograder.models import CheckResult, Reference, Score
from autograder.report import words
from autograder.report.html import section_name
from autograder.report.records import record
from autograder.report.untrusted import visible

pytestmark = pytest.mark.needs("chromium")


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


def test_a_value_is_introduced_in_the_words_of_every_report(reader: Callable[..., Reader]) -> None:
    source = (ROOT / "book/widget/words.js").read_text(encoding="utf-8")
    labels = "async (source) => (await import('data:text/javascript,' + encodeURIComponent(source))).LABELS"
    assert reader().page.evaluate(labels, source) == words.LABELS


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
