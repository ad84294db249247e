"""A class, graded: order, isolation of faults, what is written, what is not done again."""

from __future__ import annotations

import csv
import hashlib
import json
import platform
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
import torch
from nbconvert.exporters import HTMLExporter

from autograder import __version__, catalog
from autograder.collect import collect
from autograder.gradebook import read_scores, url_of
from autograder.models import Cell, Submission
from autograder.notebooks import submission_notebook
from autograder.pipeline import RECORDS, Class, Output, grade_class
from autograder.plan import live_plan
from autograder.reference.device import live_reference
from autograder.reference.expectations import Seed
from autograder.report.records import from_record, read_records
from autograder.report.rows import row_of

STEP = catalog.load("grad_scaler_step")
PATIENT = replace(STEP, seconds=60.0)
"""A machine that stands still for seconds costs no mark."""
pytestmark = pytest.mark.needs("bubblewrap")


@pytest.fixture(scope="module")
def workers():
    with Class(workers=2) as started:
        yield started


@pytest.fixture(scope="module")
def plans():
    return {"grad_scaler_step": live_plan(PATIENT, Seed("seed:7"), live_reference("cpu"))}


def submitted(folder: Path, student: str, source: str) -> Submission:
    path = folder / student / STEP.slug / f"{STEP.slug}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(submission_notebook(STEP, source))
    return Submission(student, STEP.slug, path, (Cell(1, source),), content_hash=student)


def output(folder: Path) -> Output:
    return Output(folder, url_of(folder / "gradebook.db"))


def test_a_class_is_graded_in_order_and_everything_is_written(workers, plans, tmp_path: Path):
    sources = {"right": STEP.solution, "wrong": next(a.source for a in STEP.wrong if a.name == "only_isinf")}
    submissions = [
        submitted(tmp_path / "in", f"{n:02}-{kind}", source) for n, (kind, source) in enumerate(sources.items())
    ]
    lost = Submission("lost", STEP.slug, tmp_path / "gone.ipynb", unreadable="gone.ipynb: there is no such file")
    out = output(tmp_path / "out")
    rows = grade_class(workers, [*submissions, lost], plans, out)
    scores = list(read_records(out.folder / RECORDS).values())
    assert rows == [row_of(score) for score in scores]
    assert [(s.student, s.score) for s in scores] == [("00-right", 10.0), ("01-wrong", 9.0), ("lost", None)]
    belief = next(a.misconception for a in STEP.wrong if a.name == "only_isinf")
    assert [check.misconception for check in scores[1].checks if check.status != "passed"] == [belief]
    for score in scores:
        page = out.feedback(score).read_text()
        assert score.student in page
        assert json.loads(out.autograded(score).read_text())["nbformat"] == 4
    rows = list(csv.DictReader((out.folder / "grades.csv").read_text().splitlines()))
    assert [row["student"] for row in rows] == ["00-right", "01-wrong", "lost"]
    in_book = {row["student"]: row for row in read_scores(out.gradebook)}
    assert in_book["00-right"]["score"] == 10.0
    assert in_book["01-wrong"]["score"] == 9.0
    assert in_book["lost"]["needs_manual_grade"]
    records = [json.loads(line) for line in (out.folder / "records.jsonl").read_text().splitlines()]
    assert [record["student"] for record in records] == ["00-right", "01-wrong", "lost"]


def test_each_record_says_all_that_its_mark_depends_on(workers, plans, tmp_path: Path):
    class_ = tmp_path / "in"
    submitted(class_, "right", STEP.solution)
    submitted(class_, "damaged", "").path.write_bytes(b"{")
    out = output(tmp_path / "out")
    grade_class(workers, collect(class_, [STEP.slug]), plans, out)
    damaged, right = [json.loads(line) for line in (out.folder / "records.jsonl").read_text().splitlines()]
    for record in (damaged, right):
        file = class_ / record["student"] / STEP.slug / f"{STEP.slug}.ipynb"
        assert record["content_hash"] == hashlib.sha256(file.read_bytes()).hexdigest()
        assert record["version"] == STEP.version
        assert record["seed_id"] == "seed:7"
        assert record["reference"]["torch"] == torch.__version__.split("+")[0]
        assert record["grader"] == f"autograder {__version__}, Python {platform.python_version()}"
    assert right["sandbox"] == list(workers.layers()) != []
    assert damaged["sandbox"] == []  # nothing was run
    page = out.feedback(from_record(right)).read_text()
    for shown in (right["content_hash"][:12], right["version"][:12], "seed:7", right["grader"], right["sandbox"][-1]):
        assert shown in page


def test_the_same_work_is_not_run_again_unless_forced_or_changed(workers, plans, tmp_path: Path):
    submission = submitted(tmp_path / "in", "ada", STEP.solution)
    out = output(tmp_path / "out")

    def reused(submission: Submission, **options) -> bool:
        seen = []
        grade_class(workers, [submission], plans, out, on_result=seen.append, **options)
        return seen[0].reused

    assert not reused(submission)
    assert reused(submission)
    assert not reused(submission, force=True)
    assert not reused(replace(submission, content_hash="other"))
    assert reused(replace(submission, content_hash="other"))
    page = out.feedback(grade_class(workers, [submission], plans, out)[0])
    text = page.read_text()
    page.unlink()
    assert reused(submission)  # a lost page is made anew from the record
    assert page.read_text() == text


def test_a_mark_that_was_lost_to_time_is_tried_again(workers, plans, tmp_path: Path):
    submission = submitted(
        tmp_path / "in", "ada", "def grad_scaler_step(grads, scale, **factors):\n    while True: pass"
    )
    out = output(tmp_path / "out")
    seen = []
    (plan,) = plans.values()
    short = {STEP.slug: replace(plan, exercise=replace(STEP, seconds=2.0))}
    for _ in range(2):
        grade_class(workers, [submission], short, out, on_result=seen.append)
    assert [graded.reused for graded in seen] == [False, False]
    # Where the machine stands still while the cells run, these are late, and nothing is left that was not run.
    assert {"timeout"} <= {check.status for check in seen[0].score.checks} <= {"timeout", "not_run"}


@pytest.mark.parametrize(
    ("end", "reused"),
    [
        ("os._exit(7)", [False, False, True, True]),
        ("os.abort()", [False, False, True, True]),
        # Another end at every run: chance, as far as anyone can tell.
        ("os._exit(5 + os.urandom(1)[0] % 200)", [False] * 4),
    ],
    ids=["an exit", "a signal", "an exit of another status"],
)
def test_a_crash_is_tried_again_until_it_was_the_very_same_twice(workers, plans, tmp_path: Path, end, reused):
    source = f"import os\ndef grad_scaler_step(grads, scale, **factors):\n    {end}"
    submission = submitted(tmp_path / "in", "ada", source)
    out = output(tmp_path / "out")
    seen = []

    def note(graded):
        seen.append((graded.reused, graded.score))

    for _ in reused:
        grade_class(workers, [submission], plans, out, on_result=note)
    assert {check.status for _, score in seen for check in score.checks} == {"crashed"}
    assert [again for again, _ in seen] == reused
    crashes = [score.crashes for _, score in seen]
    assert crashes == ([1, 2, 2, 2] if any(reused) else [1, 1, 1, 1])
    grade_class(workers, [submission], plans, out, on_result=note, force=True)
    assert (seen[-1][0], seen[-1][1].crashes) == (False, 1)
    grade_class(workers, [replace(submission, content_hash="other")], plans, out, on_result=note)
    assert (seen[-1][0], seen[-1][1].crashes) == (False, 1)


def test_reused_scores_are_those_of_the_first_run(workers, plans, tmp_path: Path):
    submission = submitted(tmp_path / "in", "ada", next(a.source for a in STEP.wrong if a.name == "only_isinf"))
    out = output(tmp_path / "out")
    first = grade_class(workers, [submission], plans, out)
    assert grade_class(workers, [submission], plans, out) == first


def test_another_seed_is_another_run(workers, plans, tmp_path: Path):
    submission = submitted(tmp_path / "in", "ada", STEP.solution)
    out = output(tmp_path / "out")
    grade_class(workers, [submission], plans, out)
    other = {STEP.slug: live_plan(PATIENT, Seed("seed:8"), live_reference("cpu"))}
    seen = []
    grade_class(workers, [submission], other, out, on_result=seen.append)
    assert not seen[0].reused
    assert seen[0].score.seed_id == "seed:8"


def test_a_python_file_is_graded_and_shown_in_the_graded_notebook(workers, plans, tmp_path: Path):
    path = tmp_path / "grad_scaler_step.py"
    path.write_text(STEP.solution)
    submission = Submission("ada", STEP.slug, path, (Cell(1, STEP.solution),), content_hash="x")
    out = output(tmp_path / "out")
    (score,) = grade_class(workers, [submission], plans, out)
    assert score.score == 10.0
    assert "grad / scale" in out.autograded(score).read_text()


def test_what_an_answer_says_is_shown_and_stops_no_export_of_its_graded_notebook(workers, plans, tmp_path: Path):
    said = r"half \ud800 \x00 \x1b[31m \u202e"
    source = f"def grad_scaler_step(grads, scale, **factors):\n    raise ValueError('{said}')\n"
    out = output(tmp_path / "out")
    (row,) = grade_class(workers, [submitted(tmp_path / "in", "ada", source)], plans, out)
    shown = [
        (told["ename"], told["evalue"], *told["traceback"])
        for cell in json.loads(out.autograded(row).read_text())["cells"]
        for told in cell.get("outputs", ())
    ]
    assert len(shown) == len(STEP.checks)
    assert all(text.isprintable() for texts in shown for line in texts for text in line.split("\n"))
    assert any(f"ValueError: {said}" in text for texts in shown for text in texts)
    page, _ = HTMLExporter().from_filename(str(out.autograded(row)))
    assert rb"half \ud800 \x00 " in page.encode()


def links(page: Path) -> set[str]:
    return set(re.findall(r'href="([^"#]+)#', page.read_text()))


def test_pages_link_into_the_book_from_wherever_they_are(workers, plans, tmp_path: Path):
    wrong = next(answer.source for answer in STEP.wrong if answer.name == "only_isinf")
    submission = submitted(tmp_path / "in", "ben", wrong)
    seen: list = []
    out = output(tmp_path / "out")

    def graded(book: str) -> tuple[Path, Path]:
        there = replace(out, book=book)
        (score,) = grade_class(workers, [submission], plans, there, on_result=seen.append)
        return there.feedback(score), there.report

    assert [links(page) for page in graded("")] == [set(), set()]
    for page in graded("the book/"):  # unchanged work, and its pages are new all the same
        (link,) = links(page)
        assert (page.parent / unquote(link)).resolve() == tmp_path / "out/the book/04_one_scaler_step.html"
    for page in graded("https://book.test/x"):
        assert links(page) == {"https://book.test/x/04_one_scaler_step.html"}
    assert [one.reused for one in seen] == [False, True, True]
    written = page.stat().st_mtime_ns
    graded("https://book.test/x")
    assert page.stat().st_mtime_ns == written
