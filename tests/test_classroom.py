"""The class report: its numbers are right, its links lead somewhere, and no name is obeyed."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import get_args
from urllib.parse import quote, unquote

import pytest
from test_report import HOSTILE, Outline, is_harmless
from timeless import untimed

from autograder import catalog
from autograder.gradebook import url_of
from autograder.models import (
    Cell,
    Check,
    CheckResult,
    CheckStatus,
    Exercise,
    Misconception,
    Reference,
    Score,
    Submission,
)
from autograder.pipeline import Class, Output, grade_class
from autograder.plan import live_plan
from autograder.reference.device import live_reference
from autograder.reference.expectations import Seed
from autograder.report import words
from autograder.report.class_statistics import ExerciseStatistics, class_statistics
from autograder.report.classroom import BLOCK, _short, class_page
from autograder.report.rows import Row, row_of
from autograder.report.terminal import by_hand_text, summary

SEE = "book/04_one_scaler_step.html#judge"
BELIEFS = tuple(Misconception(name, f"I believe {name}.", f"Not {name}.", SEE) for name in ("early", "middle", "late"))
POINTS = (1.0, 2.0, 1.0)


def an_exercise(slug: str = "step") -> Exercise:
    checks = tuple(
        Check(f"c{n}", f"Does thing {n}", points, (), lambda *_: None, "A rule.", SEE)
        for n, points in enumerate(POINTS)
    )
    return Exercise(
        slug=slug, folder=Path(slug), title=slug.capitalize(), teaches=(), practises=(), needs=(), runs_on=(),
        forbids=(), seconds=10, entry=slug, statement="", hints=(), starter="", solution="", checks=checks,
        misconceptions={belief.id: belief for belief in BELIEFS}, wrong=(), right=(), version="1",
    )  # fmt: skip


EXERCISES = {"step": an_exercise(), "run": an_exercise("run")}
ADDRESS = "../feedback/{}/{}/{}.html"


def address(row: Row) -> str:
    """Return a link as the pipeline makes it, for any name."""
    student, slug = (quote(text.encode("utf-8", "backslashreplace")) for text in (row.student, row.exercise))
    return ADDRESS.format(student, slug, slug)


def result(number: int, status: CheckStatus = "passed", misconception: str = "", message: str = "") -> CheckResult:
    earned = POINTS[number] if status == "passed" else 0.0
    text = message or f"{status} {number}"
    return CheckResult(
        f"c{number}", f"Does thing {number}", POINTS[number], earned, status, text, misconception, call="step()"
    )


def a_score(student: str, signs: Sequence[CheckStatus] = ("passed",) * 3, **changes: object) -> Score:
    checks = tuple(result(n, status) for n, status in enumerate(signs))
    return with_checks(student, checks, **changes)


def with_checks(student: str, checks: tuple[CheckResult, ...], **changes: object) -> Score:
    score = Score(
        student, "step", "graded", sum(check.earned for check in checks), 4.0, "seed:1", checks,
        Reference("torch", "cpu", "2"), ("bubblewrap",), 0.1,
    )  # fmt: skip
    return replace(score, **changes)  # type: ignore[arg-type]


def unreadable(student: str, reason: str = "x.ipynb: not JSON") -> Score:
    return a_score(student, ("not_run",) * 3, status="unreadable", score=None, duration_s=0.0, reason=reason)


def not_started(student: str) -> Score:
    return a_score(student, ("not_run",) * 3, status="not_started", duration_s=0.0, reason="the starter, untouched")


def believing(student: str, *beliefs: str) -> Score:
    """Return the score of one who holds a belief for each check; an empty text is a check that passed."""
    checks = (result(n, "failed" if belief else "passed", belief) for n, belief in enumerate(beliefs))
    return with_checks(student, tuple(checks))


def statistics(*scores: Score) -> ExerciseStatistics:
    (found,) = class_statistics(map(row_of, scores), EXERCISES)
    return found


def page(*scores: Score, book_url: str = "") -> str:
    return "".join(class_page(map(row_of, scores), EXERCISES, address=address, book_url=book_url))


def links(html: str) -> list[str]:
    return [str(attributes["href"]) for tag, attributes in Outline(html).elements if tag == "a"]


# ------------------------------------------------------------------------- statistics

CLASS = (
    a_score("ada"),  # 4 points
    a_score("ben", ("failed", "passed", "passed")),  # 3
    a_score("cem", ("failed", "passed", "error")),  # 2
    a_score("dan", ("passed", "timeout", "not_run"), duration_s=4.0),  # 1
    a_score("eve", ("failed", "failed", "failed")),  # 0
    unreadable("fay"),
    not_started("gus"),
)


def test_counts_mean_and_median_are_of_what_was_graded():
    found = statistics(*CLASS)
    assert (found.graded, found.not_started, found.unreadable, found.out_of_time) == (5, 1, 1, 1)
    assert (found.mean, found.median, found.seconds) == (2.0, 2.0, 0.1)
    assert statistics(*CLASS[:2]).median == 3.5


def test_the_distribution_has_ten_parts_and_full_marks():
    assert [part.count for part in statistics(*CLASS).bins] == [1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1]
    assert [part.low for part in statistics(*CLASS).bins][:3] == [0.0, 0.4, 0.8]


@pytest.mark.parametrize(("mark", "place"), [(0.0, 0), (0.39, 0), (1.2, 3), (2.8, 7), (3.99, 9), (4.0, 10), (5.0, 10)])
def test_a_score_belongs_to_the_part_that_begins_at_or_below_it(mark: float, place: int):
    counts = [part.count for part in statistics(a_score("ada", score=mark)).bins]
    assert counts.index(1) == place


def test_each_check_counts_who_passed_and_what_became_of_the_others():
    found = statistics(*CLASS)
    assert [(tally.number, tally.passed, tally.graded) for tally in found.checks] == [(1, 2, 5), (2, 3, 5), (3, 2, 5)]
    assert [dict(tally.lost) for tally in found.checks] == [
        {"failed": 3}, {"timeout": 1, "failed": 1}, {"error": 1, "not_run": 1, "failed": 1},
    ]  # fmt: skip
    assert [tally.waiting for tally in found.checks] == [0, 1, 1]


def test_the_hardest_are_those_that_fewest_passed_and_none_where_all_are_alike():
    assert [tally.hardest for tally in statistics(*CLASS).checks] == [True, False, True]
    assert not any(tally.hardest for tally in statistics(CLASS[0], CLASS[4]).checks)


def test_beliefs_are_ranked_by_students_and_ties_keep_the_exercises_order():
    scores = [
        believing("d", "late", "late", ""), believing("a", "late", "", ""), believing("b", "", "middle", ""),
        believing("c", "early", "", ""), believing("e", "unknown_one", "", ""),
    ]  # fmt: skip
    found = statistics(*scores).beliefs
    assert [(tally.id, [row.student for row in tally.rows]) for tally in found] == [
        ("late", ["a", "d"]), ("early", ["c"]), ("middle", ["b"]), ("unknown_one", ["e"]),
    ]  # fmt: skip
    assert [[(tally.number, count) for tally, count in belief.checks] for belief in found[:2]] == [
        [(1, 2), (2, 1)], [(1, 1)],
    ]  # fmt: skip
    assert (found[0].belief, found[0].truth, found[0].see) == ("I believe late.", "Not late.", SEE)
    assert found[3].belief == "unknown one"


def test_what_to_look_at_is_sorted_by_kind_then_name():
    same = tuple(replace(result(n, "error", message="There is no `step`."), call="") for n in range(3))
    scores = [
        *(a_score(f"ok{n}") for n in range(9)),
        a_score("slow", duration_s=0.9), a_score("quick", duration_s=0.49),
        a_score("time", ("timeout", "not_run", "not_run"), duration_s=5.0), a_score("mem", ("memory",) * 3),
        a_score("dead", ("crashed",) * 3), a_score("cheat", ("forbidden",) * 3), with_checks("typo", same),
        unreadable("zoe"), unreadable("yan"), not_started("gus"),
    ]  # fmt: skip
    assert [(trouble.row.student, trouble.kinds) for trouble in statistics(*scores).troubles] == [
        ("yan", ("unreadable",)), ("zoe", ("unreadable",)), ("typo", ("does not run",)), ("cheat", ("forbidden",)),
        ("dead", ("crashed",)), ("mem", ("out of memory",)), ("time", ("out of time", "slow")), ("slow", ("slow",)),
    ]  # fmt: skip
    assert statistics(*scores).troubles[-1].times_median == pytest.approx(9.0)


def test_of_several_scores_the_last_counts_and_exercises_keep_their_order():
    other = replace(a_score("ada"), exercise="run")
    found = class_statistics(map(row_of, (other, replace(CLASS[0], score=1.0), CLASS[0])), EXERCISES)
    assert [(one.exercise.slug, one.mean) for one in found] == [("step", 4.0), ("run", 4.0)]


def test_pages_of_a_quiet_and_of_a_busy_machine_differ_in_their_times_alone():
    quiet = [*(a_score(f"ok{n}", duration_s=0.01) for n in range(9)), unreadable("zoe")]
    looping = ("timeout", "not_run", "not_run")
    quiet += [a_score("one", looping, duration_s=0.4), a_score("two", looping, duration_s=5.0)]
    slow = {"ok1": 0.7, "ok3": 612.0, "one": 0.9, "two": 4.1}
    busy = [replace(score, duration_s=slow.get(score.student, 0.02)) for score in quiet]
    assert (page(*quiet).count("slow</strong>"), page(*busy).count("slow</strong>")) == (1, 4)
    assert untimed(page(*quiet)) == untimed(page(*busy))
    assert "612 s" in page(*busy)  # not 6.1e+02
    assert untimed(page(*quiet)) != untimed(page(*quiet[:-1], a_score("two", duration_s=5.0)))


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [(0, 5, "0%"), (5, 5, "100%"), (1, 8, "13%"), (1, 3000, "1%"), (2999, 3000, "99%"), (0, 0, "0%")],
)
def test_only_none_is_0_percent_and_only_all_is_100(part: int, whole: int, said: str):
    assert words.share(part, whole) == said


def test_every_status_has_its_word():
    assert set(words.STATUSES) == set(get_args(CheckStatus))
    assert (words.counted(1, "student"), words.counted(2_000, "student")) == ("1 student", "2,000 students")


# ------------------------------------------------------------------------------- page


def test_page_says_what_the_statistics_found():
    outline = Outline(page(*CLASS, believing("hal", "early", "", "")))
    for part in (
        "8 submissions of 8 students, 6 graded.", "2.17 of 4", "2.5 of 4", "handed in 8", "Does thing 1",
        "33% passed (2) · 4 failed", "67% passed (4) · 1 out of time · 1 failed", "hardest", "2 points",
        "student, 17%", "“I believe early.”", "Not early.", "Shown by check 1, Does thing 0",
        f"Read: {SEE}", "not JSON", "out of time, slow 4 s, 40 × the median", "Not handed in by anyone: Run.",
        "not started", "unreadable",
    ):  # fmt: skip
        assert part in outline.text, part
    pictures = [
        str(attributes["aria-label"]) for tag, attributes in outline.elements if tag == "svg" and "role" in attributes
    ]
    assert pictures == [
        "Scores of 6 graded submissions; from 0 to under 0.4 points: 1; from 0.8 to under 1.2 points: 1; "
        "from 2 to under 2.4 points: 1; from 2.8 to under 3.2 points: 2; full marks, 4 points: 1."
    ]
    strips = [str(attributes["aria-label"]) for _, attributes in outline.elements if attributes.get("class") == "strip"]
    assert strips == [
        "all passed", "not passed: 1", "not passed: 1, 3", "not passed: 2, 3", "none passed", "not passed: 1",
    ]  # fmt: skip


def test_page_is_a_static_document_that_asks_for_nothing():
    html = page(*CLASS, believing("hal", "early", "", ""))
    outline = Outline(html)
    assert html.startswith("<!DOCTYPE html>")
    assert outline.tags.count("h1") == 1
    assert {"header", "main", "title"} <= set(outline.tags)
    assert not {"script", "link", "img", "iframe", "form", "object"} & set(outline.tags)
    assert not re.search(r"url\(|@import|\ssrc=|\son\w+=|https?:", html)
    assert all(attributes.get("scope") in ("row", "col") for tag, attributes in outline.elements if tag == "th")
    levels = [int(tag[1]) for tag in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links(html) if link.startswith("#")} <= set(ids)


def test_several_exercises_have_an_overview_and_a_section_each():
    outline = Outline(page(*CLASS, replace(CLASS[0], exercise="run")))
    assert outline.tags.count("nav") == 1
    assert outline.tags.count("h2") == 2
    assert "nav" not in Outline(page(*CLASS)).tags
    assert "8 submissions of 7 students, 6 graded." in outline.text


def test_the_book_is_linked_only_where_it_is():
    believed = believing("hal", "early", "", "")
    assert "https://b.example/04_one_scaler_step.html#judge" in links(page(believed, book_url="https://b.example"))
    assert not any("04_one" in link for link in links(page(believed)))


def test_the_order_in_which_scores_come_changes_nothing():
    shuffled = list(CLASS)
    random.Random(3).shuffle(shuffled)
    assert page(*shuffled) == page(*CLASS)


def test_parts_with_nothing_to_say_say_so():
    alone = Outline(page(a_score("ada"))).text
    for part in ("1 submission of 1 student, 1 graded.", "No known misconception was seen.", "Nothing stands out"):
        assert part in alone
    none = Outline(page(unreadable("fay"), not_started("gus"))).text
    for part in ("2 submissions of 2 students, 0 graded.", "Nothing was graded", "No check was run.", "mean –"):
        assert part in none
    empty = Outline(page())
    assert "Nothing was handed in." in empty.text
    assert "The exercises: Step, Run." in empty.text
    assert "table" not in empty.tags


def test_many_students_are_folded_into_blocks_and_none_is_lost():
    names = [f"s{n:04}" for n in range(2 * BLOCK + 1)]
    html = page(*(believing(name, "early", "", "") for name in names))
    outline = Outline(html)
    assert outline.tags.count("table") == 3
    assert "s0000 – s0249 (250 students)" in outline.text
    assert outline.tags.count("details") == 4  # the three blocks, and those who hold the belief
    assert links(html).count(ADDRESS.format("s0499", "step", "step")) == 2
    assert len({link for link in links(html) if link.startswith("..")}) == len(names)


def test_many_submissions_to_look_at_are_folded_by_kind():
    lost = [unreadable(f"u{n:03}") for n in range(BLOCK)]
    outline = Outline(page(a_score("ada", ("forbidden",) * 3), *lost))
    assert "unreadable: u000 – u249 (250 students)" in outline.text
    assert "forbidden: ada (1 student)" in outline.text
    assert links(page(*lost)).count(ADDRESS.format("u007", "step", "step")) == 2


def test_a_large_class_is_drawn_as_it_is_asked_for_a_block_at_a_time():
    drawn: list[str] = []

    def noted(row: Row) -> str:
        drawn.append(row.student)
        return address(row)

    rows = [row_of(believing(f"s{n:04}", "early", "", "")) for n in range(8 * BLOCK)]
    parts = class_page(rows, EXERCISES, address=noted)
    sizes = [len(next(parts))]
    assert drawn == []
    for part in parts:
        sizes.append(len(part))
        assert len(drawn) <= 2 * BLOCK * (1 + sum(size > 10_000 for size in sizes))
    assert len(drawn) == 2 * len(rows)
    assert max(sizes) < sum(sizes) / 8


def test_a_few_beliefs_stand_open_and_of_many_the_rarer_are_folded():
    def tags(beliefs: int) -> Outline:
        return Outline(page(*(believing(f"s{n}", f"b{n % beliefs:02}", "", "") for n in range(2 * beliefs))))

    assert "more misconception" not in tags(18).text
    assert tags(18).tags.count("details") == 0
    assert "7 more misconceptions (each of 2 students or fewer)" in tags(19).text
    assert tags(19).classes("held") == 19
    assert tags(19).classes("rarer") == 1


def test_counts_of_thousands_are_written_shorter_where_there_is_no_room():
    texts = Outline(page(*(a_score(f"s{n}") for n in range(1_234)), a_score("z", score=0.0))).texts
    assert {"1,234", "1.2k", "1"} <= set(texts)
    assert [_short(count) for count in (999, 1_000, 9_949, 9_950, 20_000)] == ["", "1.0k", "9.9k", "10k", "20k"]


@pytest.mark.parametrize(
    "name", [HOSTILE, '"><script>alert(1)</script>', "' onmouseover='x", "javascript:x", " ", "ünal 張"]
)
def test_no_name_and_no_message_is_obeyed(name: str):
    broken = tuple(replace(result(n, "crashed", message=name), difference=name, misconception=name) for n in range(3))
    html = page(with_checks(name, broken, reason=name), unreadable(name + "2", reason=name))
    outline = Outline(html)
    assert "script" not in outline.tags
    assert not any(key.startswith("on") for _, attributes in outline.elements for key in attributes)
    assert all(link.startswith(("../feedback/", "#")) for link in links(html))
    assert is_harmless(html)
    html.encode("utf-8")
    assert name.strip() or "(a blank name)" in outline.texts


# ------------------------------------------------------------------------------ a run


@pytest.mark.needs("bubblewrap")
def test_a_graded_class_has_a_report_whose_links_lead_to_the_feedback(tmp_path: Path):
    exercise = catalog.load("grad_scaler_step")
    wrong = next(answer for answer in exercise.wrong if answer.misconception)
    sources = {"ada": exercise.solution, "b & <c> #1 %41?": wrong.source}
    submissions = []
    for student, source in sources.items():
        path = tmp_path / "in" / student / f"{exercise.slug}.py"
        path.parent.mkdir(parents=True)
        path.write_text(source)
        submissions.append(Submission(student, exercise.slug, path, (Cell(1, source),), content_hash=student))
    lost = Submission("lost", exercise.slug, tmp_path / "gone.ipynb", unreadable="gone.ipynb: there is no such file")
    output = Output(tmp_path / "out", url_of(tmp_path / "gradebook.db"))
    with Class(workers=1) as workers:
        plans = {exercise.slug: live_plan(exercise, Seed("seed:7"), live_reference("cpu"))}
        rows = grade_class(workers, [*submissions, lost], plans, output)
    assert output.report == tmp_path / "out" / "report" / "index.html"
    html = output.report.read_text(encoding="utf-8")
    reached = {(output.report.parent / unquote(link)).resolve() for link in links(html) if not link.startswith("#")}
    assert reached == {output.feedback(row).resolve() for row in rows}
    assert all(path.is_file() for path in reached)
    assert exercise.misconceptions[wrong.misconception].belief in Outline(html).text
    assert html == "".join(class_page(rows, {exercise.slug: exercise}, address=output.feedback_address))


def test_code_to_look_at_is_listed_with_its_pointer_whatever_its_mark() -> None:
    pointed = a_score("ada", look=(f"the code names gc (cell 1, line 1){HOSTILE}",))
    scores = [pointed, a_score("ben"), a_score("cem", look=("the code names inspect",), duration_s=50.0)]
    found = statistics(*scores)
    assert [(trouble.row.student, trouble.kinds) for trouble in found.troubles] == [
        ("ada", ("code to look at",)), ("cem", ("code to look at", "slow")),
    ]  # fmt: skip
    html = page(*scores)
    assert is_harmless(html)
    assert "the code names gc (cell 1, line 1)" in html
    assert "the code names inspect" in html
    assert "the code names" not in page(*(replace(score, look=()) for score in scores))


def test_marks_that_the_gradebook_holds_count_in_mean_median_and_picture_and_are_said_to_be_by_hand() -> None:
    rows = [row_of(a_score("ada")), row_of(a_score("ben")), row_of(unreadable("cy"))]
    given = [replace(rows[0], final=5.5), rows[1], replace(rows[2], final=1.0)]
    (before,), (found,) = class_statistics(rows, EXERCISES), class_statistics(given, EXERCISES)
    assert (before.mean, before.by_hand, found.graded) == (4.0, 0, 2)
    assert (found.mean, found.median, found.by_hand) == (4.75, 4.75, 2)
    assert found.bins[-1].count == 2  # with extra credit it is more than full marks
    html = "".join(class_page(given, EXERCISES, address=address))
    assert '5.5/4<br><span class="own">by hand</span><br><span class="own">checks: 4</span>' in html
    assert '1/4<br><span class="own">by hand</span><br><span class="own">checks: –</span>' in html
    assert html.count('"own">by hand<') == 2
    assert "A mark <em>by hand</em> is what the gradebook holds" in html
    assert "by hand" not in "".join(class_page(rows, EXERCISES, address=address))
    assert "mean 4.75/4" in summary(given)
    assert by_hand_text(given[:1]).startswith("1 mark is the gradebook's own")
