"""What people and programs read: right for honest submissions, and harmless for hostile ones."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.checks import case, differ, each_call, f32, judge_check, with_misconception
from autograder.models import (
    Cell,
    Check,
    CheckResult,
    Exercise,
    Misconception,
    Observation,
    Outcome,
    Raised,
    Reference,
    Score,
)
from autograder.report import terminal
from autograder.report.html import feedback_page, fragment
from autograder.report.junit import junit
from autograder.report.listing import listing
from autograder.report.records import from_record, json_line, read_records, record
from autograder.report.rows import row_of
from autograder.report.tables import COLUMNS, grades_csv
from autograder.report.terminal import feedback_text
from autograder.report.untrusted import cut, one_line, visible

SEE = "book/04_one_scaler_step.html#judge"
BELIEF = Misconception("only_checks_inf", "An overflow is an inf.", "isinf(nan) is False; isfinite refuses both.", SEE)
HOSTILE = "\x1b[31m<script>alert(1)</script>\u202e[bold]x[/bold]\x00\ud800\x9b{{ 7 * 7 }}&amp;"
HINTS = ("Try `isinf(nan)`.", "```python\ntorch.isfinite(g)\n```", "Ask **every** element. <script>alert(2)</script>")
CELLS = (Cell(3, "import torch\n"), Cell(5, 'def step(grads):\n    """Doc."""\n    return grads < 1\n'))


def judged(check_id: str, got: Observation, want: Outcome, *, believed: bool = False) -> CheckResult:
    """Return the result of a check on one case, as grading makes it."""
    tried = case("a nan beside a finite element", grads=[f32(1.0, math.nan)], scale=1024.0)
    judge = each_call(lambda arguments, got, want: differ(got.returned, want.returned))
    check = Check(check_id, "Skips the step on a nan", 1.0, (tried,), judge, "A nan anywhere skips the step.", SEE)
    result, _ = judge_check(check, "step", [(tried, got, Observation((want,)))])
    return with_misconception(result, BELIEF) if believed else result


SKIPPED = Outcome((None, 512.0))
PASSED = judged("divides", Observation((SKIPPED,)), SKIPPED)
FAILED = judged("skips_on_nan", Observation((Outcome((None, 2048.0)),)), SKIPPED, believed=True)
AGAIN = replace(FAILED, id="backs_off", title="Backs off")
RAISED = judged(
    "every_tensor", Observation((Outcome(raised=Raised("ValueError", "no `max`", 5, 3, "return grads < 1")),)), SKIPPED
)
TIMEOUT = judged("one_pass", Observation(ended="timeout", detail="no answer within 5 s"), SKIPPED)
NOT_RUN = judged("pure", Observation(ended="not_run", detail="not run, the process had ended"), SKIPPED)
FORBIDDEN = judged("own_work", Observation(ended="forbidden", detail="`torch.amp` is not accepted"), SKIPPED)
ALL = (PASSED, FAILED, AGAIN, RAISED, TIMEOUT, NOT_RUN, FORBIDDEN)
NO_FUNCTION = judged("divides", Observation(ended="error", detail="there is no `step`", whole=True), SKIPPED)
UNWRITTEN = judged("divides", Observation((Outcome(raised=Raised("NotImplementedError", "")),)), SKIPPED)


def a_score(student: str = "s001", checks: Sequence[CheckResult] = ALL, **changes: object) -> Score:
    score = Score(
        student=student,
        exercise="grad_scaler_step",
        status="graded",
        score=sum(result.earned for result in checks),
        max_score=sum(result.points for result in checks),
        seed_id="course:3f2a",
        checks=tuple(checks),
        reference=Reference("torch.amp.GradScaler", "cpu", "2.13.0"),
        sandbox=("bubblewrap", "seccomp"),
        duration_s=0.012,
        version="9f31c2aa71d0b4",
        content_hash="5e884898da28047151d0e56f8dc62927",
        grader="autograder 1.2.3, Python 3.11.7",
        output="scale 1024.0\n",
        notes=("2 cells hold an answer; the last one counts",),
    )
    return replace(score, **changes)  # type: ignore[arg-type]


MIXED = a_score()
FULL = a_score("s002", (PASSED, replace(PASSED, id="grows")), output="", notes=())
BROKEN = a_score("s003", (NO_FUNCTION, replace(NO_FUNCTION, id="grows", title="Grows")))
UNREADABLE = a_score("s004", (), status="unreadable", score=None, max_score=10.0, reason="s004/x.ipynb: not JSON")
NOT_STARTED = a_score("s005", (UNWRITTEN, UNWRITTEN), status="not_started", reason="step raises NotImplementedError")
EVIL = a_score(
    HOSTILE,
    [replace(RAISED, message=HOSTILE, difference=HOSTILE, returned=HOSTILE, call=HOSTILE, case=HOSTILE), PASSED],
    exercise=HOSTILE, reason=HOSTILE, output=HOSTILE, notes=(HOSTILE,), seed_id=HOSTILE, path=HOSTILE,
    grader=HOSTILE,
)  # fmt: skip
CLASS = (MIXED, FULL, BROKEN, UNREADABLE, NOT_STARTED, EVIL)


def an_exercise() -> Exercise:
    return Exercise(
        slug="grad_scaler_step", folder=Path("exercises/grad_scaler_step"), title="One scaler step", teaches=(),
        practises=(), needs=(), runs_on=("torch",), forbids=(), seconds=10, entry="step",
        statement="Write `step`.\n\n## Examples\n\n| a | b |\n|---|---|\n| 1 | 2 |", hints=HINTS, starter="",
        solution="", checks=(), misconceptions={}, wrong=(), right=(), version="9f31",
    )  # fmt: skip


def page(score: Score, cells: tuple[Cell, ...] = CELLS, book_url: str = "") -> str:
    return feedback_page(score, an_exercise(), cells, book_url=book_url)


def class_table(scores: Sequence[Score], **options: Any) -> str:
    return terminal.class_table(list(map(row_of, scores)), **options)


def summary(scores: Sequence[Score]) -> str:
    return terminal.summary(list(map(row_of, scores)))


VOID = {"meta", "br", "circle"}


class Outline(HTMLParser):
    """The elements and the text of a page; an element that is not closed in order is an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def classes(self, name: str) -> int:
        return sum(name in (attributes.get("class") or "").split() for _, attributes in self.elements)


def is_harmless(text: str) -> bool:
    """Return whether no character is obeyed: no control but newline, no format character, no half a pair."""
    return not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c != "\n" for c in text)


# ------------------------------------------------------------------------- untrusted


def test_unseen_characters_become_escapes_and_seen_ones_stay() -> None:
    assert visible("a\x1b[0m\u202eb\x00\ud800\r\n\u2028") == "a\\x1b[0m\\u202eb\\x00\\ud800\n\\u2028"
    assert visible("Ünal 張偉 می\u200cخواهم 👩\u200d🔬\tx\n") == "Ünal 張偉 می\u200cخواهم 👩\u200d🔬\tx\n"


@given(st.text(st.characters(codec=None)))
def test_a_line_is_one_line_and_survives_utf8(text: str) -> None:
    line = one_line(text, 40)
    assert len(line) <= 40
    assert len(line.splitlines()) <= 1
    line.encode("utf-8")


def test_long_texts_are_cut_and_say_by_how_much() -> None:
    assert cut("a" * 1_000_000, 10) == "a" * 10 + "\n… (999,990 more characters)"
    assert cut("1\n2\n3\n4", lines=2) == "1\n2\n… (3 more characters)"
    assert cut("short\n") == "short"


# -------------------------------------------------------------------------- terminal


def test_feedback_shows_rule_call_values_difference_belief_and_one_offer_of_hints() -> None:
    text = feedback_text(MIXED, HINTS)
    for part in (
        "grad_scaler_step  s001", "1/7", "1 of 7 checks pass.", "✓ Skips", "✗ Skips", "…", "0 of 1 point",
        "A nan anywhere skips the step.", "Called       step(grads=[tensor([1.0, nan])], scale=1024.0)",
        "It returned  (None, 2048.0)", "Expected     (None, 512.0)", FAILED.difference, BELIEF.belief,
        "Read: One scaler step, “judge”", "Note: 2 cells hold an answer", "  scale 1024.0",
        "It raised ValueError: no `max`",
        "No answer within 5 s.", "Not run, the process had ended.", "`torch.amp` is not accepted.",
    ):  # fmt: skip
        assert part in text
    assert text.count("hint") == 1
    assert text.count(BELIEF.truth) == 1  # the second time, "as above"
    assert "isinf(nan)`" not in text  # offered, not shown


def test_full_marks_fill_the_bar_and_offer_no_hint() -> None:
    text = feedback_text(FULL, HINTS)
    assert "█" * 40 in text
    assert "hint" not in text
    nearly = feedback_text(replace(FULL, score=1.99), HINTS)
    assert "█" * 40 not in nearly


def test_what_is_the_same_for_all_checks_is_said_once() -> None:
    assert feedback_text(BROKEN).count("There is no `step`") == 1
    text = feedback_text(NOT_STARTED, HINTS)
    assert text.count("Not started yet") == 1
    assert text.count("NotImplementedError") == 1
    assert "✗" not in text
    assert "could not be graded" in feedback_text(UNREADABLE, HINTS)
    assert "not JSON" in feedback_text(UNREADABLE)


def test_color_is_added_only_on_request() -> None:
    assert "\x1b" not in feedback_text(MIXED)
    assert "\x1b[32m" in feedback_text(MIXED, color=True)
    assert "\x1b" not in class_table(CLASS)
    assert "\x1b[32m" in class_table(CLASS, color=True)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_terminal_texts_obey_no_name_and_keep_the_width(width: int) -> None:
    for text in (feedback_text(EVIL, HINTS, width=width), class_table(CLASS, width=width)):
        assert is_harmless(text)
        assert max(map(len, text.split("\n"))) <= width
    assert "[bold]" in feedback_text(EVIL)


def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = feedback_text(MIXED), class_table(CLASS)
    for name, value in {"COLUMNS": "33", "FORCE_COLOR": "1", "TERM": "dumb", "JPY_PARENT_PID": "1"}.items():
        monkeypatch.setenv(name, value)
    assert (feedback_text(MIXED), class_table(CLASS)) == before


def test_class_table_is_sorted_with_a_strip_a_problem_and_a_summary() -> None:
    wide = replace(FULL, student="張" * 60)
    scores = [replace(FULL, student="b"), replace(MIXED, student="a"), UNREADABLE, NOT_STARTED, wide]
    head, _, *rows = class_table(scores, width=120).split("\n")
    assert head.split() == ["student", "exercise", "score", "checks", "look", "at", "first"]
    assert [row.split()[0][:4] for row in rows[:5]] == ["a", "b", "s004", "s005", "張" * 4]
    assert "1/7   ✓✗✗✗……✗   “An overflow is an inf.”" in rows[0]
    assert "–" in rows[2]
    assert "not JSON" in rows[2]
    assert "…" in rows[4]  # cut, and aligned by cells rather than characters
    assert rows[4].index("2/2") == rows[1].index("2/2") - rows[4].count("張")
    assert rows[-1].strip() == summary(scores)


def test_the_problem_to_look_at_first_is_a_belief_else_what_happened_else_the_check() -> None:
    believed = replace(RAISED, misconception=BELIEF.id, belief=BELIEF.belief)
    plain = replace(FAILED, misconception="", belief="")
    for first, said in (
        (believed, "“An overflow is an inf.”"),
        (replace(believed, belief=""), "only checks inf"),
        (TIMEOUT, "No answer within 5 s."),
        (plain, "Skips the step on a nan"),
        (NO_FUNCTION, "There is no `step`."),
    ):
        row = class_table([a_score("s", (PASSED, first, AGAIN))]).split("\n")[2]
        assert row.rstrip().endswith(said)


def test_summary_counts_and_takes_the_mean_of_what_was_graded() -> None:
    ten = [replace(FULL, score=score, max_score=10.0, duration_s=0.25) for score in (10.0, 5.0, 6.0)]
    unreadable = replace(UNREADABLE, duration_s=0.0)
    assert summary([*ten, unreadable]) == "3 graded · mean 7/10 · 1 unreadable · 0.75 s of run time"
    assert "mean 75%" in summary([FULL, replace(FULL, score=5.0, max_score=10.0)])
    assert summary([]) == "0 graded · 0 s of run time"


# --------------------------------------------------------------------------- records


def test_record_has_the_shape_of_the_contract() -> None:
    data = record(MIXED)
    assert list(data)[:11] == [
        "student", "exercise", "status", "score", "max_score", "seed_id", "checks", "reference", "sandbox",
        "duration_s", "reason",
    ]  # fmt: skip
    assert list(data["checks"][0])[:8] == [
        "id", "title", "points", "earned", "status", "message", "misconception", "see",
    ]  # fmt: skip
    assert data["reason"] is None
    assert data["checks"][0]["misconception"] is None
    assert data["checks"][1]["misconception"] == "only_checks_inf"
    assert record(a_score(checks=[replace(PASSED, see="")]))["checks"][0]["see"] is None
    assert data["reference"] == {"backend": "torch.amp.GradScaler", "device": "cpu", "torch": "2.13.0"}
    assert record(UNREADABLE)["score"] is None
    assert (data["version"], data["grader"]) == (MIXED.version, "autograder 1.2.3, Python 3.11.7")


@pytest.mark.parametrize("score", CLASS, ids=lambda score: score.status)
def test_a_record_is_one_utf8_line_that_reads_back_the_same(score: Score) -> None:
    line = json_line(replace(score, output=score.output + "\u2028\x85\x0c\ud800é"))
    assert len(line.splitlines()) == 1
    assert "é" in line
    again = from_record(json.loads(line.encode("utf-8")))
    assert again == replace(score, output=score.output + "\u2028\x85\x0c\ud800é")


@settings(max_examples=50)
@given(st.text(), st.floats(allow_nan=False, allow_infinity=False), st.lists(st.text()))
def test_any_text_and_number_reads_back(text: str, number: float, notes: list[str]) -> None:
    score = a_score(text, [replace(FAILED, message=text, points=number)], notes=tuple(notes), reason=text)
    assert from_record(json.loads(json_line(score))) == score


def test_a_number_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        json_line(replace(MIXED, duration_s=math.nan))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "unknown field 'extra'"),
        ({"score": True}, "score: not a finite number"),
        ({"score": math.inf}, "score: not a finite number"),
        ({"max_score": None}, "max_score"),
        ({"status": "fine"}, "status: 'fine'"),
        ({"student": 3}, "student: not a text"),
        ({"reason": ""}, "reason"),
        ({"notes": [1]}, "notes"),
        ({"checks": {}}, "checks: not a list"),
        ({"checks": [1]}, "check: not an object"),
        ({"reference": {"backend": "x"}}, "reference: device is missing"),
    ],
)
def test_a_malformed_record_is_refused_by_name(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        from_record({**record(MIXED), **change})


# ------------------------------------------------------------------------ junit, csv


def test_junit_counts_and_names_what_happened() -> None:
    root = ET.fromstring(junit(CLASS).encode("utf-8"))
    assert root.tag == "testsuites"
    suites = root.findall("testsuite")
    assert len(suites) == len(CLASS)
    mixed = {name: suites[0].get(name) for name in ("name", "tests", "failures", "errors", "skipped")}
    assert mixed == {
        "name": "s001: grad_scaler_step", "tests": "7", "failures": "3", "errors": "2", "skipped": "1"
    }  # fmt: skip
    failure = suites[0].findall("testcase")[1].find("failure")
    assert failure is not None
    assert failure.text == FAILED.message
    assert failure.get("message") == FAILED.difference
    assert suites[0].findtext("system-out") == "scale 1024.0"
    unreadable = suites[3].find("testcase/error")
    assert unreadable is not None
    assert unreadable.get("message") == "s004/x.ipynb: not JSON."
    assert root.get("tests") == str(len(root.findall("testsuite/testcase")))
    assert root.get("errors") == str(len(root.findall("testsuite/testcase/error")))


def test_records_read_back_by_student_and_exercise_and_what_is_none_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    lines = [json_line(FULL), "{", "[1]", "", json_line(replace(MIXED, score=0.0)), json_line(MIXED), "[" * 100_000]
    path.write_text("\n".join(lines), encoding="utf-8")
    found = read_records(path)
    assert found == {(score.student, score.exercise): score for score in (FULL, MIXED)}
    first, second = (found[score.student, score.exercise].checks[0] for score in (FULL, MIXED))
    assert first.title is second.title  # held once
    assert read_records(tmp_path / "missing") == {}


def csv_text(scores: Sequence[Score]) -> str:
    return "".join(f"{line}\n" for line in grades_csv(map(row_of, scores)))


def rows_of(scores: Sequence[Score]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_text(scores), newline="")))


def test_csv_has_one_row_a_student_and_exercise_sorted_the_last_score_winning() -> None:
    rows = rows_of([FULL, replace(MIXED, score=0.0), UNREADABLE, MIXED])
    assert tuple(rows[0]) == COLUMNS
    assert [row["student"] for row in rows] == ["s001", "s002", "s004"]
    assert (rows[0]["score"], rows[0]["max_score"], rows[0]["checks_passed"], rows[0]["checks"]) == ("1", "7", "1", "7")
    assert rows[0]["failed"] == "skips_on_nan backs_off every_tensor one_pass pure own_work"
    assert rows[0]["misconceptions"] == "only_checks_inf"
    assert (rows[2]["score"], rows[2]["reason"]) == ("", "s004/x.ipynb: not JSON")


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "＝1"])
def test_csv_runs_no_formula(name: str) -> None:
    (row,) = rows_of([replace(MIXED, student=name, reason=name, notes=(name,))])
    for column in ("student", "reason", "notes"):
        assert row[column].startswith("'")
    assert row["score"] == "1"


def test_csv_keeps_a_hostile_row_one_line() -> None:
    text = csv_text([replace(EVIL, reason='a,"b"\nc')])
    assert is_harmless(text)
    assert len(text.splitlines()) == 2
    assert rows_of([replace(EVIL, reason='a,"b"\nc')])[0]["reason"] == 'a,"b"\\nc'


# ------------------------------------------------------------------------------ html


def test_page_is_a_static_document_that_asks_for_nothing() -> None:
    html = page(MIXED)
    outline = Outline(html)
    assert html.startswith("<!DOCTYPE html>")
    assert ("html", {"lang": "en"}) in outline.elements
    metas = [attributes for tag, attributes in outline.elements if tag == "meta"]
    policy = next(meta["content"] for meta in metas if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    (style,) = re.findall("<style>(.*?)</style>", html, re.DOTALL)
    known = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{known}'; base-uri 'none'; form-action 'none'"
    assert not re.search(r"<[^>]*\sstyle=", html)
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in metas
    assert {"title", "main", "h1", "footer", "svg"} <= set(outline.tags)
    assert outline.tags.count("h1") == 1
    assert not {"script", "link", "img", "iframe", "form"} & set(outline.tags)
    assert not re.search(r"url\(|@import|//|\son\w+=", html)


def test_page_headings_step_down_one_level_at_a_time() -> None:
    levels = [int(tag[1]) for tag in Outline(page(MIXED)).tags if re.fullmatch(r"h[1-6]", tag)]
    # The statement's own headings are folded away above the sections.
    assert levels[0] == 1
    assert set(levels) == {1, 2, 3, 4}


def test_page_opens_what_failed_and_keeps_the_rest_compact() -> None:
    outline = Outline(page(MIXED))
    assert (outline.classes("check"), outline.classes("open"), outline.classes("passed")) == (7, 6, 2)  # a card, an arc
    assert outline.classes("belief") == 2
    for part in (
        "1 of 7", "1 of 7 checks pass. Start with Skips the step on a nan .", "Called (a nan beside a finite element)",
        "(None, 2048.0)", "(None, 512.0)", FAILED.difference, "The same belief is behind this", "Hint 3 of 3",
        "What your code printed scale 1024.0", "2 cells hold an answer", "seed course:3f2a", "bubblewrap, seccomp",
        "torch.amp.GradScaler on cpu, torch 2.13.0", "9f31c2aa71d0", "sha256 5e884898da28",
    ):  # fmt: skip
        assert part in outline.text
    assert outline.text.count(BELIEF.truth) == 1
    assert "5e884898da280" not in outline.text
    assert "<th>a</th>" in page(MIXED)
    assert "<strong>every</strong>" in page(MIXED)


def test_page_links_the_book_only_where_it_is() -> None:
    links = [a.get("href") for tag, a in Outline(page(MIXED, book_url="https://b.example/x")).elements if tag == "a"]
    assert "https://b.example/x/04_one_scaler_step.html#judge" in links
    assert "One scaler step, “judge”" in Outline(page(MIXED, book_url="https://b.example/x/")).text
    plain = Outline(page(MIXED))
    assert f"Read: {SEE}" in plain.text
    hrefs = [attributes["href"] for tag, attributes in plain.elements if tag == "a"]
    assert hrefs == ["#check-2"]
    assert "check-2" in [attributes.get("id") for _, attributes in plain.elements]


def test_page_numbers_the_code_and_marks_the_line_that_raised() -> None:
    outline = Outline(page(MIXED))
    numbers = [attributes["data-n"] for _, attributes in outline.elements if "data-n" in attributes]
    assert numbers == ["1", "1", "2", "3"]
    assert [attributes["data-n"] for tag, attributes in outline.elements if tag == "mark"] == ["3"]
    assert '<span class="k">return</span> grads &lt; <span class="m">1</span>' in page(MIXED)
    assert "mark" not in Outline(page(FULL)).tags


def test_pages_of_what_was_not_graded_say_so_once() -> None:
    for score, say in ((UNREADABLE, "not JSON"), (NOT_STARTED, "Not started yet"), (BROKEN, "There is no step")):
        for html in (page(score), fragment(score, HINTS)):
            outline = Outline(html)
            assert outline.text.count(say) == 1
            assert outline.classes("open") == 0
    assert "svg" not in Outline(page(UNREADABLE)).tags
    assert "What will be checked" in Outline(page(NOT_STARTED)).text
    assert "hint" not in Outline(page(FULL)).text.lower()


@pytest.mark.parametrize("cells", [CELLS, (Cell(1, HOSTILE + "</code></pre>\n" + HOSTILE),)])
def test_html_puts_nothing_of_a_submission_on_the_page_but_text(cells: tuple[Cell, ...]) -> None:
    for html in (page(EVIL, cells), fragment(EVIL, HINTS)):
        outline = Outline(html)
        assert "script" not in outline.tags
        assert "<script>alert(1)</script>" in outline.text
        assert "{{ 7 * 7 }}" in outline.text
        assert is_harmless(html)
        html.encode("utf-8")
    assert "<script>alert(2)</script>" in Outline(fragment(EVIL, HINTS)).text  # raw HTML in our own Markdown


def test_fragment_is_one_scoped_element_for_both_themes() -> None:
    html = fragment(MIXED, HINTS)
    outline = Outline(html)
    assert outline.elements[0] == ("div", {"class": "hp-feedback hp-fragment"})
    assert html.rstrip().endswith("</div>")
    assert not {"h1", "h2", "h3", "main", "html", "script"} & set(outline.tags)
    assert all("id" not in attributes for _, attributes in outline.elements)
    style = html.partition("<style>")[2].partition("</style>")[0]
    for theme in ("prefers-color-scheme: dark", '[data-jp-theme-light="false"]', 'html[theme="dark"]'):
        assert theme in style
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]+\{", "", style))
    assert selectors
    for selector in ",".join(selectors).split(","):
        assert ".hp-f" in selector


def test_a_huge_submission_makes_a_small_page() -> None:
    cells = tuple(Cell(number, "x = 1\n" * 50_000) for number in range(1, 301))
    html = page(replace(MIXED, output="A" * 5_000_000), cells)
    assert len(html) < 8_000_000
    assert "… and 200 more" in html
    assert "more characters" in html


def test_listing_keeps_every_line_and_its_number() -> None:
    source = "'''a\n\nb'''\n" + "\n" * 30 + "\tx = 1  \nf('é', \x0c)\n\n"
    lines = listing(source)
    assert [line.number for line in lines] == list(range(1, 36))
    assert [line.html.striptags() for line in lines if line.html] == ["'''a", "b'''", "x = 1", "f('é', \\x0c)"]
    assert str(lines[-1].html).startswith("f(")


def luminance(color: str) -> float:
    channels = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_pair_of_text_and_ground_has_enough_contrast(theme: int) -> None:
    style = page(MIXED).partition("<style>")[2]
    palettes = re.findall(r":root \{ ?(?:color-scheme: light dark;)?\s*(--paper.*?)\}", style, re.DOTALL)
    colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", palettes[theme]))
    tokens = [name for name in colors if name.startswith("t-")]
    pairs = [("paper", n) for n in ("ink", "soft", "link")]
    pairs += [("card", n) for n in ("ink", "soft", "link", "good", "bad", "wait", *tokens)]
    pairs += [("code", n) for n in ("ink", *tokens)] + [("mark", n) for n in ("ink", *tokens)]
    pairs += [(f"{n}-wash", "ink") for n in ("good", "bad", "wait", "belief")] + [("belief-wash", "belief")]
    for ground, ink in pairs:
        low, high = sorted((luminance(colors[ground]), luminance(colors[ink])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ground, ink)
