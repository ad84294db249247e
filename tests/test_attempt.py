"""Grading one submission: whatever it is or does becomes a record, the same one every time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from autograder import catalog
from autograder.attempt import Cage, grade_one, ungraded
from autograder.grading import TEXT_LIMIT, grade_function
from autograder.models import Cell, Reference, Score, Submission
from autograder.plan import Plan
from autograder.reference.expectations import Seed, expect
from autograder.report.html import feedback_page
from autograder.report.records import from_record, json_line
from autograder.report.terminal import feedback_text
from autograder.sandbox import walls
from autograder.sandbox.runner import Runner
from autograder.sandbox.zygote import SandboxError

RIGHT = "def double(x):\n    return x * 2\n"
HOSTILE = {
    "a loop": "def double(x):\n    while True: pass",
    "an exit": "import os\nos._exit(0)",
    "a bomb": "def double(x):\n    return [0] * 10**10",
    "a false message": (
        "import os\nfor fd in range(3, 64):\n"
        "    try: os.write(fd, b'\\0\\0\\0\\x10{\"passed\": true}')\n    except OSError: pass"
    ),
    "a wish to end the grader": "import os\nos.kill(1, 9)\nos.kill(0, 9)",
    "lower limits for the next": "import resource\nresource.prlimit(1, resource.RLIMIT_DATA, (2**27, 2**27))",
    "a text that breaks pages and terminals": (
        "def double(x):\n    print('<script>alert(1)</script>\\x1b[2J\\0\\ud800\\u202e')\n"
        "    raise ValueError('<script>alert(1)</script>\\x1b[2J\\0\\ud800\\u202e')"
    ),
    "a note that is long": "\n".join(f"!echo {number} {'x' * 500}" for number in range(50)),
    "a huge answer": "def double(x):\n    return {str(n): n for n in range(10**4)}",
}

GradeOne = Callable[..., Score]


@pytest.fixture
def plan(course: Path) -> Plan:
    exercise = replace(catalog.load("double", course), seconds=20.0)
    return Plan(exercise, expect(exercise, Seed("seed:1"), Reference("solutions/double.py", "cpu", "2")))


@pytest.fixture(scope="module")
def cages() -> Iterator[dict[bool, Cage]]:
    cages: dict[bool, Cage] = {}
    yield cages
    for cage in cages.values():
        cage.drop()


@pytest.fixture
def grade(plan: Plan, cages: dict[bool, Cage]) -> GradeOne:
    """Grade cells: ``grade("a = 1", "b = 2", walled=True)``; without walls where nothing else is asked for."""

    def run(*sources: str, walled: bool = False, **changes: object) -> Score:
        if walled not in cages:
            cages[walled] = Cage(walled=walled)
        return grade_one(plan, replace(submission(*sources), **changes), cages[walled])

    return run


def submission(*sources: str) -> Submission:
    cells = tuple(Cell(number, dedent(source)) for number, source in enumerate(sources, 1))
    return Submission("s001", "double", Path("s001/double/double.ipynb"), cells, content_hash="c0ffee")


@contextmanager
def soon(source: str) -> Iterator[None]:
    """Let the checks of what loops end soon; what it takes to read it in is as long as ever."""
    with pytest.MonkeyPatch.context() as patch:
        if "while True" in source:
            patch.setattr(Runner, "allowance", lambda runner: 0.5)
        yield


def statuses(score: Score) -> list[str]:
    return [check.status for check in score.checks]


def same(one: Score, other: Score) -> bool:
    return replace(one, duration_s=0.0) == replace(other, duration_s=0.0)


# ----------------------------------------------------------------------------- honest


def test_full_marks(grade: GradeOne, plan: Plan) -> None:
    score = grade(RIGHT)
    assert (score.status, score.score, score.max_score, score.reason) == ("graded", 3.0, 3.0, "")
    assert statuses(score) == ["passed", "passed"]
    assert (score.student, score.exercise, score.seed_id) == ("s001", "double", "seed:1")
    assert (score.version, score.content_hash) == (plan.exercise.version, "c0ffee")
    assert score.reference == plan.expectations.reference
    assert score.path == "s001/double/double.ipynb"


def test_partial_credit(grade: GradeOne) -> None:
    score = grade("def double(x):\n    return x.mul_(2)")
    assert (score.status, score.score) == ("graded", 2.0)
    assert statuses(score) == ["passed", "failed"]
    assert score.reason == ""


def test_without_walls_the_record_says_so(grade: GradeOne) -> None:
    assert grade(RIGHT).sandbox == ("rlimits",)


@pytest.mark.needs("bubblewrap")
def test_with_walls_the_record_names_them(grade: GradeOne) -> None:
    assert {"bubblewrap", "namespaces", "rlimits"} <= set(grade(RIGHT, walled=True).sandbox)


def test_what_is_printed_is_kept_once(grade: GradeOne) -> None:
    assert grade("def double(x):\n    print('here')\n    return x * 2").output == "here\n"
    assert grade("print('first')", "def double(x):\n    print('here')\n    return x * 2").output == "first\n"


def test_notes_say_what_was_skipped_and_what_failed(grade: GradeOne) -> None:
    score = grade("%matplotlib inline", "1 / 0", RIGHT, notes=("two cells have one id",))
    assert score.score == 3.0
    assert score.notes == (
        "two cells have one id",
        "skipped %matplotlib: magics and shell commands do not run here",
        "cell 2, line 1: ZeroDivisionError: division by zero (1 / 0); the cells after it ran",
    )


def test_code_that_looks_around_is_pointed_at_and_loses_nothing(grade: GradeOne, plan: Plan) -> None:
    score = grade("import sys, gc\nprint(len(sys.modules))", RIGHT)
    assert (score.score, score.reason, score.notes) == (3.0, "", ())
    (pointer,) = score.look
    assert pointer.startswith("the code names gc (cell 1, line 1), sys.modules (cell 1, line 2): ")
    assert from_record(json.loads(json_line(score))) == score
    assert "Worth a look: the code names gc" in feedback_text(score)
    assert grade(RIGHT).look == ()
    assert "Worth a look" not in feedback_text(grade(RIGHT))


# ------------------------------------------------------------------- one thing to say


def test_one_reason_for_all_checks_is_said_once(grade: GradeOne) -> None:
    assert grade("def triple(x): pass").reason == (
        "double.ipynb: There is no `double`; its cell may have been deleted or renamed."
    )
    assert grade("def double(x):\n  retrun x").reason.startswith(
        "double.ipynb: There is no `double`, because cell 1, line 2: SyntaxError"
    )


def test_one_cause_of_every_failure_is_said_once(grade: GradeOne) -> None:
    assert grade("def double(x):\n    return None").reason == ""
    reason = grade("def double(x):\n    1 / 0").reason
    assert reason.startswith("double.ipynb: Every check fails for the same reason. It raised ZeroDivisionError")


# ------------------------------------------------------------------ nothing to grade


def test_an_unreadable_submission_is_a_record_and_runs_nothing(plan: Plan) -> None:
    class NoCage(Cage):
        def __init__(self) -> None:
            raise AssertionError("it must not start anything")

    score = grade_one(plan, replace(submission(RIGHT), unreadable="double.ipynb: not JSON"), object.__new__(NoCage))
    assert (score.status, score.score, score.reason) == ("unreadable", None, "double.ipynb: not JSON")
    assert statuses(score) == ["not_run", "not_run"]
    assert score == ungraded(plan, submission(), "double.ipynb: not JSON")


def test_the_starter_untouched_is_not_started(grade: GradeOne, plan: Plan) -> None:
    score = grade(plan.exercise.starter)
    assert (score.status, score.score, score.reason) == ("not_started", 0.0, "the starter, untouched")
    assert statuses(score) == ["not_run", "not_run"]


def test_a_starter_with_new_comments_is_not_started_either(grade: GradeOne, plan: Plan) -> None:
    score = grade("x = 3", plan.exercise.starter.replace("raise", "y = x\n    raise"))
    assert (score.status, score.score) == ("not_started", 0.0)
    assert score.reason == "double still raises NotImplementedError"


def test_no_cells_are_graded_and_earn_nothing(grade: GradeOne) -> None:
    score = grade()
    assert (score.status, score.score) == ("graded", 0.0)
    assert "There is no `double`" in score.reason


# ------------------------------------------------------------------------ the same twice


@pytest.mark.parametrize(
    "source",
    [
        RIGHT,
        "def double(x):\n    return x * 3",
        "def double(x):\n    print(object(), double)\n    return object()",
        "def double(x):\n    raise ValueError(f'{object()}')",
        "import random, torch\ndef double(x):\n    return x * random.random() + torch.rand(1)",
        "def double(x):\n    return {'a', 'b', 'c'}",
        "def double(x):\n    while True: pass",
    ],
    ids=["right", "wrong", "an object", "its address", "random", "a set", "a loop"],
)
def test_the_same_submission_gives_the_same_record(grade: GradeOne, source: str) -> None:
    with soon(source):
        assert same(grade(source), grade(source))


@pytest.mark.needs("bubblewrap")
def test_walls_change_nothing_in_the_verdict(grade: GradeOne) -> None:
    for source in (RIGHT, "def double(x):\n    return x * 3", "1 / 0", "def double(x):\n    x[9]"):
        without, within = grade(source), grade(source, walled=True)
        assert same(without, replace(within, sandbox=without.sandbox))


# ----------------------------------------------------------------------------- hostile


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_submission_is_graded_and_the_next_is_graded_right(grade: GradeOne, plan: Plan, source: str) -> None:
    with soon(source):
        score = grade(source, walled=True)
    assert score.status == "graded"
    assert score.checks[0].earned == 0  # that x is left alone is true of some of them
    assert grade(RIGHT, walled=True).score == 3.0

    line = json_line(score)
    assert len(line) < 20 * TEXT_LIMIT
    assert from_record(json.loads(line)) == score
    page = feedback_page(score, plan.exercise, submission(source).cells)
    page.encode("utf-8")
    assert "<script>alert" not in page
    text = feedback_text(score, ())
    text.encode("utf-8")
    assert "\x1b[2J" not in text


@pytest.mark.needs("bubblewrap")
def test_a_crash_is_the_same_every_time(grade: GradeOne) -> None:
    records = [grade("import os\ndef double(x):\n    os._exit(3 + len(x))", walled=True) for _ in range(4)]
    assert all(same(records[0], other) for other in records)
    assert statuses(records[0]) == ["crashed", "crashed"]


# -------------------------------------------------------------------------------- cage


def test_a_cage_starts_again_after_it_was_dropped() -> None:
    cage = Cage(walled=False)
    first = cage.take()
    assert cage.take() is first
    cage.drop()
    cage.drop()
    second = cage.take()
    assert second is not first
    assert second.ready()["torch"]
    cage.drop()


def test_a_cage_without_bubblewrap_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls, "bubblewrap", lambda: None)
    with pytest.raises(SandboxError, match="bubblewrap is not installed"):
        Cage(walled=True)


def test_a_module_can_be_loaded_ahead() -> None:
    cage = Cage(walled=False, preload=("colorsys",))
    source = "import sys\nassert 'colorsys' in sys.modules"
    try:
        session = cage.take().session()
        assert session.load([Cell(1, source)], "f", (), time.monotonic() + 30).errors == ()
        session.end()
    finally:
        cage.drop()


# ------------------------------------------------------------- in the student's process


def test_a_function_of_this_process_is_judged_by_the_same_rules(plan: Plan, grade: GradeOne) -> None:
    def double(x: object) -> object:
        print("here")
        return x.mul_(2)  # type: ignore[attr-defined]

    here = grade_function(plan.exercise, plan.expectations, {}, double)
    there = grade("def double(x):\n    print('here')\n    return x.mul_(2)")
    assert (here.checks, here.score, here.output) == (there.checks, there.score, there.output)
    assert here.sandbox == ()


def test_one_check_alone_can_be_judged(plan: Plan) -> None:
    score = grade_function(plan.exercise, plan.expectations, {}, lambda x: x * 2, "leaves_x")
    assert [check.id for check in score.checks] == ["leaves_x"]
    assert (score.score, score.max_score) == (1.0, 1.0)


def test_a_function_that_is_not_written_yet_is_not_started(plan: Plan) -> None:
    def double(x: object) -> object:
        raise NotImplementedError

    score = grade_function(plan.exercise, plan.expectations, {}, double)
    assert (score.status, score.reason) == ("not_started", "double still raises NotImplementedError")
