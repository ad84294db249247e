"""The sample class: as its builder makes it, graded as it is meant to be, and as stock nbgrader grades it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from patient import SECONDS

from autograder import catalog
from autograder.collect import collect
from autograder.pipeline import Class
from autograder.plan import live_plan
from autograder.reference.device import live_reference
from autograder.reference.expectations import Seed
from autograder.stock import stock_scores_of_notebooks

ROOT = Path(__file__).parent.parent
CLASS = ROOT / "examples" / "submissions"
EXERCISES = catalog.load_all()

# (score, status, what is lost: the belief that is named, or the status of every check)
MEANT = {
    "ada": (10.0, "graded", ""),
    "ben": (9.0, "graded", "only_isinf"),
    "chen": (8.0, "graded", "does_not_unscale"),
    "dana": (9.0, "graded", "checks_before_dividing"),
    "emil": (9.0, "graded", "divides_in_place"),
    "fatima": (9.0, "graded", "always_doubles"),
    "goran": (9.0, "graded", "sum_of_sums"),
    "hana": (10.0, "graded", ""),
    "jun": (8.0, "graded", "counts_all_good_steps"),
    "kofi": (9.0, "graded", "records_after_the_update"),
    "lena": (9.0, "graded", "one_step_late"),
    "loop-sam": (0.0, "graded", "timeout"),
    "mei": (9.5, "graded", "floor_of_one"),
    "noor": (9.5, "graded", "keeps_the_int"),
    "omar": (0.0, "not_started", ""),
    "pia": (0.0, "not_started", ""),
    "quinn": (0.0, "graded", "error"),
    "ravi": (10.0, "graded", ""),
    "tara": (0.0, "graded", "forbidden"),
    "vera": (10.0, "graded", ""),
    "damaged-cut": (None, "unreadable", ""),
    "damaged-empty": (None, "unreadable", ""),
    "hostile-forger": (0.0, "graded", "crashed"),
    "hostile-snoop": (0.5, "graded", "failed"),
}
HONEST = [name for name, (_, status, why) in MEANT.items() if status != "unreadable" and name not in (
    "ravi", "tara", "loop-sam", "hostile-forger", "hostile-snoop")]  # fmt: skip


@pytest.fixture(scope="module")
def scores():
    with Class(workers=2) as workers:
        seed, reference = Seed("seed:3"), live_reference("cpu")
        plans = {slug: live_plan(exercise, seed, reference) for slug, exercise in EXERCISES.items()}
        patient = {slug: replace(one, exercise=replace(one.exercise, seconds=SECONDS)) for slug, one in plans.items()}
        graded = []
        for given, loops in ((plans, True), (patient, False)):
            some = [each for each in collect(CLASS, tuple(EXERCISES)) if (each.student == "loop-sam") is loops]
            graded += workers.grade(some, given)
    return {score.student: score for score in graded}


def test_the_class_is_as_its_builder_makes_it():
    done = subprocess.run([sys.executable, ROOT / "examples" / "build.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(MEANT) == 24 == len(list(CLASS.iterdir()))


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("student", MEANT)
def test_each_submission_gets_the_mark_and_the_belief_that_it_is_there_for(student: str, scores):
    points, status, why = MEANT[student]
    score = scores[student]
    lost = [check for check in score.checks if check.status != "passed"]
    assert (score.score, score.status) == (points, status), [(c.id, c.message) for c in lost]
    answers = {answer.name: answer for answer in EXERCISES[score.exercise].wrong}
    if why in answers:
        assert {check.misconception for check in lost} == {answers[why].misconception}
    elif why:
        assert why in {check.status for check in lost}


@pytest.mark.needs("bubblewrap")
def test_what_a_tampered_notebook_says_about_points_does_not_count(scores):
    cells = json.loads((CLASS / "ravi" / "grad_scaler_step" / "grad_scaler_step.ipynb").read_text())["cells"]
    assert 100 in [cell["metadata"].get("nbgrader", {}).get("points") for cell in cells]
    assert scores["ravi"].max_score == 10.0
    assert [check.points for check in scores["ravi"].checks] == [1.0] * 10
    assert any("a cell was probably copied" in note for note in scores["ravi"].notes)


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("slug", ["grad_scaler_step", "dynamic_loss_scale"])  # those of the sample class
def test_stock_nbgrader_gives_every_honest_notebook_the_same_points(slug: str, scores, tmp_path: Path):
    notebooks = {
        student: (CLASS / student / slug / f"{slug}.ipynb").read_text(encoding="utf-8")
        for student in HONEST
        if scores[student].exercise == slug
    }
    course, work = tmp_path / "course", tmp_path / "work"
    for name in ("exercises", "solutions"):
        shutil.copytree(ROOT / name, course / name)
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")  # with time for a machine that stands still
    (course / "nbgrader_config.py").write_text(f"{config}\nc.Execute.timeout = c.Execute.startup_timeout = 300\n")
    work.mkdir()
    stock = stock_scores_of_notebooks(catalog.load(slug, course), notebooks, work)
    for student in notebooks:
        assert dict(stock[student].checks) == {check.id: check.earned for check in scores[student].checks}, student
