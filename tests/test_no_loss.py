"""No end of a run loses a mark: interrupted anywhere, on a full disk, beside another one, without its database."""

from __future__ import annotations

import errno
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import killing
import pytest
import tiny_exercise
from nbgrader.api import Gradebook
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError
from stand_in import Cage, Threads

from autograder import attempt, catalog, earlier, gradebook_db, ordered, pipeline, worker
from autograder.attempt import ungraded
from autograder.collect import handed_in
from autograder.errors import CourseError
from autograder.files import replacing
from autograder.gradebook import read_scores, url_of
from autograder.locks import locked
from autograder.models import Cell, Reference, Score, Submission
from autograder.notebooks import submission_notebook
from autograder.pipeline import Class, Graded, Output, grade_class
from autograder.plan import Plan
from autograder.reference.expectations import Expectations
from autograder.report.records import json_line
from autograder.report.rows import Row
from autograder.report.terminal import look_again_text
from autograder.sandbox.zygote import SandboxError, Zygote
from autograder.tasks import Fault, Layers

RIGHT = "def halve(x):\n    return x / 2\n"
WRONG = "def halve(x):\n    return x // 2\n"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    exercise = catalog.load("halve", tiny_exercise.write(tmp_path_factory.mktemp("course")))
    patient = replace(exercise, seconds=60.0)  # a machine that stands still for seconds costs no mark
    return Plan(patient, Expectations("seed:1", Reference("solutions/halve.py", "cpu", ""), {}))


@pytest.fixture
def workers() -> Iterator[Class]:
    with Threads(Stopped) as started:
        yield started


@pytest.fixture(autouse=True)
def graded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grade by a look at the source; return the list of the students that were graded."""
    students: list[str] = []

    def grade(plan: Plan, submission: Submission, cage: Cage, lost: int = 0) -> Score:
        if submission.unreadable:
            return ungraded(plan, submission, submission.unreadable)
        students.append(submission.student)
        right = submission.cells[0].source == RIGHT
        status: Any = "passed" if right else "timeout"  # which a later run would try again
        checks = tuple(
            replace(check, status=status, earned=check.points if right else 0.0)
            for check in ungraded(plan, submission, "").checks
        )
        blank = ungraded(plan, submission, "")
        earned = sum(check.earned for check in checks)
        return replace(blank, status="graded", score=earned, checks=checks, sandbox=("bubblewrap",))

    monkeypatch.setattr(worker, "grade_one", grade)
    monkeypatch.setattr(pipeline, "BATCH", 2)
    monkeypatch.setattr(ordered, "_LAST_SECONDS", 60.0)  # however busy the machine is, what is begun is waited for
    return students


def hand_in(plan: Plan, folder: Path, **sources: str) -> list[Submission]:
    submissions = []
    for student, source in sources.items():
        path = folder / student / "halve" / "halve.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(submission_notebook(plan.exercise, source))
        submissions.append(Submission(student, "halve", path, (Cell(1, source),), content_hash=source))
    return [*submissions, Submission("zoe", "halve", folder / "gone", unreadable="there is no such file")]


CLASS = {"ada": RIGHT, "ben": WRONG, "cy": RIGHT, "dan": RIGHT, "eve": WRONG}


def out_of(folder: Path) -> Output:
    return Output(folder, url_of(folder / "gradebook.db"))


def run(workers: Class, submissions: list[Submission], plan: Plan, output: Output, **more: Any) -> list[Row]:
    return grade_class(workers, submissions, {"halve": plan}, output, **more)


def state(output: Output) -> dict[str, Any]:
    """Return all that is left, but for the copies' names: when they are made is tested by itself."""
    return {**killing.state(output.folder), "copies": None}


class Stopped(BaseException):
    """Stands for the end of the process."""


# ------------------------------------------------------------------------- interrupted


def test_a_run_interrupted_after_any_submission_ends_as_if_it_had_not_been(
    workers: Class, plan: Plan, tmp_path: Path, graded: list[str]
):
    submissions = hand_in(plan, tmp_path / "in", **CLASS)
    run(workers, submissions, plan, out_of(tmp_path / "whole"))
    whole = state(out_of(tmp_path / "whole"))
    assert not (tmp_path / "whole" / "journal.jsonl").exists()
    for stop_at in range(1, 7):
        output = out_of(tmp_path / f"out{stop_at}")
        seen: list[Graded] = []
        graded.clear()

        def stop(one: Graded, seen: list[Graded] = seen, stop_at: int = stop_at) -> None:
            seen.append(one)
            if len(seen) == stop_at:
                raise Stopped

        with pytest.raises(Stopped):
            run(workers, submissions, plan, output, on_result=stop)
        assert (output.folder / "journal.jsonl").exists()
        assert not (output.folder / "grades.csv").exists()
        after: list[Graded] = []
        run(workers, submissions, plan, output, on_result=after.append)
        assert state(output) == whole
        assert sum(one.resumed for one in after) >= min(stop_at, 5)
        assert not any(one.reused for one in after)
        assert sorted(graded) == sorted(CLASS)  # nobody twice, a lost time included


def test_a_run_interrupted_at_any_file_ends_as_if_it_had_not_been(
    workers: Class, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = hand_in(plan, tmp_path / "in", **CLASS)
    second = hand_in(plan, tmp_path / "in2", **{**CLASS, "ben": RIGHT, "cy": WRONG})
    real = os.replace

    def outcome(folder: Path, stop_at: int) -> tuple[bool, Output]:
        output = out_of(folder)
        run(workers, first, plan, output)
        left = [stop_at]

        def stop(source: Any, target: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Stopped
            real(source, target)

        monkeypatch.setattr(os, "replace", stop)
        try:
            run(workers, second, plan, output)
        except (Stopped, CourseError):  # of this process, or of a worker, whose end is met with another try
            return True, output
        finally:
            monkeypatch.setattr(os, "replace", real)
        return False, output

    stopped, output = outcome(tmp_path / "whole", 10_000)
    assert not stopped
    whole, moment = state(output), 0
    while True:
        stopped, output = outcome(tmp_path / f"out{moment}", moment)
        if not stopped:
            break
        for name in ("feedback", "autograded"):  # nothing is half written
            for page in (output.folder / name).rglob("halve.*"):
                assert page.stat().st_size
        run(workers, second, plan, output)
        assert state(output) == whole
        moment += 1
    # Two pages of two students, the copy, report, two stamps, marks, records, index, and what is kept in mind.
    assert moment == 12


def test_what_is_kept_is_said_however_often_ctrl_c_is_pressed(
    workers: Class, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def press(one: Graded) -> None:
        raise KeyboardInterrupt

    say, left = pipeline._kept, [None] * 3

    def impatient(journal: Any) -> str:
        if left:
            left.pop()
            raise KeyboardInterrupt
        return say(journal)

    monkeypatch.setattr(pipeline, "_kept", impatient)
    with pytest.raises(pipeline.Halted, match=r"^interrupted; \d scores? (is|are) kept in \S+: the same "):
        run(workers, hand_in(plan, tmp_path / "in", **CLASS), plan, out_of(tmp_path / "out"), on_result=press)
    assert not left


def test_pages_of_work_that_was_taken_back_are_not_left_over(workers: Class, plan: Plan, tmp_path: Path):
    output = out_of(tmp_path / "out")
    run(workers, hand_in(plan, tmp_path / "in", ada=RIGHT), plan, output)
    before = state(output)

    def stop(one: Graded) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        run(workers, hand_in(plan, tmp_path / "in", ada=WRONG), plan, output, on_result=stop)
    assert state(output)["files"] != before["files"]
    run(workers, hand_in(plan, tmp_path / "in", ada=RIGHT), plan, output)
    assert state(output) == before


def test_what_was_half_written_is_swept_up(workers: Class, plan: Plan, tmp_path: Path):
    output = out_of(tmp_path / "out")
    submissions = hand_in(plan, tmp_path / "in", **CLASS)
    with pytest.raises(Stopped):
        run(workers, submissions, plan, output, on_result=lambda one: (_ for _ in ()).throw(Stopped))
    for folder in (output.folder, output.folder / "feedback" / "ada" / "halve", output.folder / "report"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".writing-x").write_text("ha")
    run(workers, submissions, plan, output)
    assert not list(output.folder.rglob(".writing-*"))


def test_force_goes_on_with_what_force_began(workers: Class, plan: Plan, tmp_path: Path, graded: list[str]):
    output = out_of(tmp_path / "out")
    submissions = hand_in(plan, tmp_path / "in", **CLASS)
    run(workers, submissions, plan, output)
    graded.clear()
    seen: list[Graded] = []

    def stop(one: Graded) -> None:
        seen.append(one)
        if len(seen) == 3:
            raise Stopped

    with pytest.raises(Stopped):
        run(workers, submissions, plan, output, force=True, on_result=stop)
    run(workers, submissions, plan, output, force=True)
    assert sorted(graded) == sorted(CLASS)


# ------------------------------------------------------------------- what goes wrong


def test_a_database_that_goes_away_costs_no_score(workers: Class, plan: Plan, tmp_path: Path, graded: list[str]):
    submissions = hand_in(plan, tmp_path / "in", **CLASS)
    output = out_of(tmp_path / "out")

    def gone(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if "INSERT INTO grade " in statement:
            raise OperationalError(statement, {}, Exception("server closed the connection unexpectedly"))

    event.listen(Engine, "before_cursor_execute", gone)
    try:
        with pytest.raises(CourseError) as caught:
            run(workers, submissions, plan, output)
    finally:
        event.remove(Engine, "before_cursor_execute", gone)
    said = str(caught.value)
    assert "server closed the connection unexpectedly" in said
    assert f"kept in {output.folder / 'journal.jsonl'}: the same command goes on from there" in said
    assert "\n" not in said
    run(workers, submissions, plan, output)
    assert sorted(graded) == sorted(CLASS)
    assert [row["student"] for row in read_scores(output.gradebook)] == [*CLASS, "zoe"]


def test_a_locked_gradebook_costs_no_score(
    workers: Class, plan: Plan, tmp_path: Path, graded: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(gradebook_db, "WAIT_S", 0.05)
    submissions = hand_in(plan, tmp_path / "in", **CLASS)
    output = out_of(tmp_path / "out")
    others: list[sqlite3.Connection] = []

    def lock(one: Graded) -> None:
        if not others:
            others.append(sqlite3.connect(output.folder / "gradebook.db", isolation_level=None))
            others[0].execute("BEGIN IMMEDIATE")

    with pytest.raises(CourseError, match=r"another program has been writing to this gradebook for .* goes on from"):
        run(workers, submissions, plan, output, on_result=lock)
    others[0].close()
    run(workers, submissions, plan, output)
    assert sorted(graded) == sorted(CLASS)


def test_a_gradebook_that_cannot_be_written_is_refused_before_anything_is_graded(
    workers: Class, plan: Plan, tmp_path: Path, graded: list[str]
):
    submissions = hand_in(plan, tmp_path / "in", **CLASS)
    output = out_of(tmp_path / "out")
    run(workers, submissions, plan, output)
    graded.clear()
    before = state(output)
    read_only = replace(output, gradebook=f"sqlite:///file:{output.folder / 'gradebook.db'}?mode=ro&uri=true")
    with pytest.raises(CourseError, match=r"gradebook\.db: the gradebook cannot be written"):
        run(workers, submissions, plan, read_only, force=True)
    assert graded == []
    assert state(output) == before


@pytest.mark.parametrize("name", ["halve.html", "halve.ipynb", "grades.csv", "index.html", "records.jsonl"])
def test_a_full_disk_is_named_and_the_marks_of_before_are_whole(
    workers: Class, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    output = out_of(tmp_path / "out")
    run(workers, hand_in(plan, tmp_path / "in", **CLASS), plan, output)
    ends = ("grades.csv", "records.jsonl")
    before = {each: (output.folder / each).read_bytes() for each in ends}
    second = hand_in(plan, tmp_path / "in", **{**CLASS, "ada": WRONG})
    real = os.fdopen

    def full(descriptor: int, *more: Any) -> Any:
        stream = real(descriptor, *more)
        if path_of(descriptor).startswith(str(output.folder)) and wanted.get(threading.get_ident()) == name:
            stream.write(b"half")
            stream.close()
            raise OSError(errno.ENOSPC, "No space left on device")
        return stream

    wanted: dict[int, str] = {}

    def noting(path: Path, **more: Any) -> Any:
        wanted[threading.get_ident()] = path.name
        return replacing(path, **more)

    monkeypatch.setattr("autograder.files.replacing", noting)
    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(CourseError) as caught:
        run(workers, second, plan, output)
    monkeypatch.undo()
    said = str(caught.value)
    assert f"{name}: the disk is full (No space left on device); make room, then run this again" in said
    assert "\n" not in said
    assert not list(output.folder.rglob(".writing-*"))
    if name != "records.jsonl":  # of which grades.csv may be written
        assert {each: (output.folder / each).read_bytes() for each in ends} == before
    assert all(path.stat().st_size for path in output.folder.rglob("halve.*"))


def path_of(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")


def test_two_graders_are_kept_apart_by_folder_and_by_gradebook(
    workers: Class, plan: Plan, tmp_path: Path, graded: list[str]
):
    submissions = hand_in(plan, tmp_path / "in", **CLASS)
    output = out_of(tmp_path / "out")
    elsewhere = replace(output, folder=tmp_path / "elsewhere")
    output.folder.mkdir()
    for lock in (".grading.lock", ".gradebook.db.lock"):
        with (
            locked(output.folder / lock, "x"),
            pytest.raises(CourseError, match=rf"another grader \(process {os.getpid()}\) is writing to it"),
        ):
            run(workers, submissions, plan, output)
    with locked(output.folder / ".gradebook.db.lock", "x"), pytest.raises(CourseError, match=r"gradebook\.db: another"):
        run(workers, submissions, plan, elsewhere)
    assert graded == []
    assert not (output.folder / "journal.jsonl").exists()
    assert not elsewhere.folder.exists()
    run(workers, submissions, plan, output)


@pytest.mark.parametrize("existing", ["", "out", "out/below"])
def test_a_run_that_is_refused_leaves_no_folder_and_no_lock(
    workers: Class, plan: Plan, tmp_path: Path, graded: list[str], existing: str
):
    submissions = hand_in(plan, tmp_path / "in", **CLASS)
    (tmp_path / existing).mkdir(parents=True, exist_ok=True)
    (tmp_path / "gradebook.db").write_bytes(b"SQLite format 3\0 and then something else" * 100)
    before = sorted(tmp_path.rglob("*"))
    output = Output(tmp_path / "out" / "below", url_of(tmp_path / "gradebook.db"))
    with pytest.raises(CourseError, match=r"gradebook\.db: "):
        run(workers, submissions, plan, output)
    assert sorted(tmp_path.rglob("*")) == before
    assert graded == []
    run(workers, submissions, plan, out_of(output.folder))
    locks = sorted(path.name for path in output.folder.glob(".*.lock"))
    assert locks == [".gradebook.db.lock", ".grading.lock"]
    with pytest.raises(CourseError, match=r"gradebook\.db: "):
        run(workers, submissions, plan, output, force=True)
    assert sorted(path.name for path in output.folder.glob(".*.lock")) == locks  # those of before stay


def test_the_gradebook_is_copied_before_a_run_that_changes_it(workers: Class, plan: Plan, tmp_path: Path):
    output = out_of(tmp_path / "out")
    backups = output.folder / "backups"

    def copies() -> dict[str, list[float | None]]:
        return {path.name: [row["score"] for row in read_scores(url_of(path))] for path in sorted(backups.glob("*.db"))}

    run(workers, hand_in(plan, tmp_path / "in", ada=RIGHT), plan, output)
    run(workers, hand_in(plan, tmp_path / "in", ada=RIGHT), plan, output)
    assert copies() == {}
    second = hand_in(plan, tmp_path / "in", ada=WRONG, ben=WRONG, cy=WRONG)
    seen: list[Graded] = []

    def stop(one: Graded) -> None:
        seen.append(one)
        if len(seen) == 3:  # after a batch was written
            raise Stopped

    with pytest.raises(Stopped):
        run(workers, second, plan, output, on_result=stop)
    assert copies() == {"gradebook.1.db": [3.0, None]}
    run(workers, second, plan, output)  # the same run goes on: its copy is there
    assert copies() == {"gradebook.1.db": [3.0, None]}
    run(workers, hand_in(plan, tmp_path / "in", ada=RIGHT), plan, output)
    assert copies() == {"gradebook.1.db": [3.0, None], "gradebook.2.db": [0.0, 0.0, 0.0, None]}


# -------------------------------------------------------------------- a lost zygote


def lose(times: int, status: str) -> tuple[list[int], Any]:
    calls: list[int] = []

    def grade(plan: Plan, submission: Submission, cage: Cage, lost: int = 0) -> Score:
        calls.append(1)
        blank = ungraded(plan, submission, "")
        loses = len(calls) <= times
        if loses:
            cage.drop()
        state: Any = status if loses else "passed"
        return replace(
            blank, status="graded", score=1.0, checks=tuple(replace(check, status=state) for check in blank.checks)
        )

    return calls, grade


@pytest.mark.parametrize(
    ("times", "status", "tries", "end"),
    [
        (1, "crashed", 2, "passed"),
        (2, "crashed", 2, "crashed"),
        (9, "timeout", 1, "timeout"),
        (0, "", 1, "passed"),
        (1, "failed", 2, "passed"),
        (1, "passed", 1, "passed"),
    ],
)
def test_a_submission_whose_confined_process_was_lost_is_tried_once_more(
    workers: Class, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    times: int, status: str, tries: int, end: str,
):  # fmt: skip
    calls, grade = lose(times, status)
    monkeypatch.setattr(worker, "grade_one", grade)
    (submission, _) = hand_in(plan, tmp_path / "in", ada=RIGHT)
    (row,) = run(workers, [submission], plan, out_of(tmp_path / "out"))
    assert len(calls) == tries
    assert {check.status for check in row.checks} == {end}
    sentence = "the confined process ended twice while this ran, so it counts as crashed"
    assert row.reason.startswith(sentence) is (times == 2)
    assert (sentence in row.notes) is (times == 2)


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("when", [(1,), (1, 4), (2,), (2, 4)])
def test_a_right_answer_stays_one_whatever_ends_the_process_that_is_to_run_it(
    plan: Plan, tmp_path: Path, when: tuple[int, ...]
):
    class Unlucky(attempt.Cage):
        taken = 0

        def take(self) -> Zygote:
            zygote = super().take()
            self.taken += 1
            if self.taken in when:  # just before it is handed over, as where memory is short
                signal.pidfd_send_signal(zygote._handles[0], signal.SIGKILL)
            return zygote

    (submission, _) = hand_in(plan, tmp_path / "in", ada=RIGHT)
    cage = Unlucky(walled=True)
    try:
        score = worker._tried(plan, submission, cage)
    finally:
        cage.drop()
    assert (score.score, {check.status for check in score.checks}, score.notes) == (3.0, {"passed"}, ())


@pytest.mark.parametrize(
    ("status", "ends", "again"),
    [
        ("graded", ("passed", "not_run", "not_run"), True),
        ("graded", ("passed", "timeout", "not_run"), True),
        ("graded", ("passed", "failed", "passed"), False),
        ("not_started", ("not_run", "not_run", "not_run"), False),
    ],
)
def test_what_was_not_run_for_want_of_time_or_of_a_process_is_tried_again(
    plan: Plan, tmp_path: Path, status: Any, ends: tuple[Any, ...], again: bool
):
    (submission, _) = hand_in(plan, tmp_path / "in", ada=RIGHT)
    blank = ungraded(plan, submission, "")
    checks = tuple(replace(check, status=end) for check, end in zip(blank.checks, ends, strict=True))
    line = json_line(replace(blank, status=status, score=1.0, checks=checks)).encode()
    found = earlier.Reader().known(line, 0)
    assert found is not None
    assert found[1].lasts is not again


def test_that_not_all_was_run_is_said(workers: Class, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    calls, grade = lose(2, "not_run")
    monkeypatch.setattr(worker, "grade_one", grade)
    (submission, _) = hand_in(plan, tmp_path / "in", ada=RIGHT)
    (row,) = run(workers, [submission], plan, out_of(tmp_path / "out"))
    sentence = "the confined process ended more than once while this ran, so not all was run; the next run does"
    assert (len(calls), row.reason, row.notes) == (2, sentence, sentence)


def test_what_loses_two_confined_processes_in_one_try_is_not_tried_again(
    workers: Class, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seen: list[int] = []

    def grade(plan: Plan, submission: Submission, cage: Cage, lost: int = 0) -> Score:
        seen.append(lost)
        for _ in range(2):
            cage.drop()
        blank = ungraded(plan, submission, "")
        ends: Any = ["crashed", *["not_run"] * (len(blank.checks) - 1)]
        checks = tuple(replace(check, status=end) for check, end in zip(blank.checks, ends, strict=True))
        return replace(blank, status="graded", score=0.0, checks=checks)

    monkeypatch.setattr(worker, "grade_one", grade)
    (submission, _) = hand_in(plan, tmp_path / "in", ada=RIGHT)
    (row,) = run(workers, [submission], plan, out_of(tmp_path / "out"))
    assert seen == [0]
    assert row.reason.startswith("the confined process ended twice while this ran")


def test_a_second_try_begins_with_the_process_that_was_lost(
    workers: Class, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seen: list[int] = []
    calls, grade = lose(1, "crashed")

    def noted(plan: Plan, submission: Submission, cage: Cage, lost: int = 0) -> Score:
        seen.append(lost)
        return grade(plan, submission, cage)

    monkeypatch.setattr(worker, "grade_one", noted)
    (submission, _) = hand_in(plan, tmp_path / "in", ada=RIGHT)
    run(workers, [submission], plan, out_of(tmp_path / "out"))
    assert (len(calls), seen) == (2, [0, 1])


def test_a_confined_process_that_does_not_start_is_tried_once_more(
    workers: Class, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graded: list[str]
):
    real, calls = worker.grade_one, []

    def grade(plan: Plan, submission: Submission, cage: Any, lost: int = 0) -> Score:
        calls.append(submission.student)
        if len(calls) == 1:
            raise SandboxError("the confined process is gone")
        return real(plan, submission, cage, lost)

    monkeypatch.setattr(worker, "grade_one", grade)
    (submission, _) = hand_in(plan, tmp_path / "in", ada=RIGHT)
    (score,) = run(workers, [submission], plan, out_of(tmp_path / "out"))
    assert (calls, score.score) == (["ada", "ada"], 3.0)


@pytest.mark.parametrize("ends", [1, 2])
def test_a_confined_process_that_ends_before_it_is_warm_is_started_once_more(ends: int):
    class Ends(Cage):
        def layers(self) -> tuple[str, ...]:
            if self.dropped < ends:
                raise SandboxError("the confined process did not start: it ended with status 137")
            return super().layers()

    cage: Any = Ends()
    answer = worker._answer(Layers(), cage, [])
    assert answer == (
        Layers(("bubblewrap",))
        if ends == 1
        else Fault("the confined process did not start: it ended with status 137", sandbox=True)
    )


@pytest.mark.parametrize("place", ["grade_one", "read_handed", "feedback_page", "graded_notebook"])
def test_a_fault_of_the_grader_costs_one_submission(
    workers: Class, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
):
    hand_in(plan, tmp_path / "in", **CLASS)
    real, left = getattr(worker, place), [1]

    def faulty(*args: Any, **more: Any) -> Any:
        if "cy" in repr(args) and left.pop() if left else False:
            raise RuntimeError("a bug")
        return real(*args, **more)

    monkeypatch.setattr(worker, place, faulty)
    rows = grade_class(workers, handed_in(tmp_path / "in", ["halve"]), {"halve": plan}, out_of(tmp_path / "out"))
    assert [row.student for row in rows] == list(CLASS)
    assert [row.student for row in rows if row.status == "unreadable"] == ["cy"]
    assert rows[2].reason == "the grader failed on it: RuntimeError: a bug"
    assert {"cy", "dan"} <= {path.name for path in (tmp_path / "out/feedback").iterdir()}


# -------------------------------------------------------------------- marks by hand


def test_marks_by_hand_stay_and_are_listed_where_the_code_changed(workers: Class, plan: Plan, tmp_path: Path):
    output = out_of(tmp_path / "out")
    run(workers, hand_in(plan, tmp_path / "in", **CLASS), plan, output)
    with Gradebook(output.gradebook) as gradebook:
        for student in ("ada", "ben"):
            grade = gradebook.find_grade("halves", "halve", "halve", student)
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 0.5, 0.25, False
            gradebook.find_comment("halve_solution", "halve", "halve", student).manual_comment = "Seen."
        gradebook.db.commit()
    found: dict[Any, Any] = {}
    run(workers, hand_in(plan, tmp_path / "in", **CLASS), plan, output, force=True, on_look_again=found.update)
    assert found == {}
    assert "marked by hand" not in output.report.read_text()
    changed = {**CLASS, "ada": RIGHT + "# again\n", "cy": WRONG}
    submissions = hand_in(plan, tmp_path / "in", **changed)
    submissions[0] = replace(submissions[0], cells=(Cell(1, changed["ada"]),))
    run(workers, submissions, plan, output, on_look_again=found.update)
    assert found == {("ada", "halve"): ("halves",)}
    report = output.report.read_text()
    assert "marked by hand" in report
    assert "the code or the automatic score changed since a mark was given by hand (halves)" in report
    assert "  ada: halve (halves)" in look_again_text(found)
    with Gradebook(output.gradebook) as gradebook:
        for student in ("ada", "ben"):
            grade = gradebook.find_grade("halves", "halve", "halve", student)
            assert (grade.manual_score, grade.extra_credit, grade.needs_manual_grade) == (0.5, 0.25, student == "ada")
            assert gradebook.find_comment("halve_solution", "halve", "halve", student).manual_comment == "Seen."


def test_a_new_copy_of_the_same_code_asks_for_nothing(workers: Class, plan: Plan, tmp_path: Path):
    output = out_of(tmp_path / "out")
    (submission, _) = hand_in(plan, tmp_path / "in", ada=RIGHT)
    run(workers, [submission], plan, output)
    with Gradebook(output.gradebook) as gradebook:
        gradebook.find_grade("halves", "halve", "halve", "ada").manual_score = 0.5
        gradebook.db.commit()
    found: dict[Any, Any] = {}
    saved_again = replace(submission, content_hash="the outputs are others")
    run(workers, [saved_again], plan, output, on_look_again=found.update)
    assert found == {}
    damaged = replace(submission, cells=(), content_hash="", unreadable="the file is empty")
    run(workers, [damaged], plan, output, on_look_again=found.update)
    assert found == {("ada", "halve"): ("halves",)}


def test_a_long_list_for_the_terminal_is_cut_and_counted():
    found = {(f"s{number:03}\x1b[2J", "halve"): ("halves",) for number in range(40)}
    lines = look_again_text(found).split("\n")
    assert len(lines) == 32
    assert lines[-1] == "  and 10 more, which the class report lists"
    assert "\x1b" not in "".join(lines)
    assert look_again_text({}) == ""


# ------------------------------------------------------------------------------ kills


def killed(kills: int, seed: int, folder: Path) -> dict[str, Any]:
    command = [sys.executable, str(Path(killing.__file__)), str(kills), str(seed), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.needs("bubblewrap")
def test_a_run_that_is_killed_a_few_times_ends_as_if_it_had_not_been(tmp_path: Path):
    found = killed(5, 2, tmp_path)
    assert found["difference"] == ""
    assert found["equal"] == found["rounds"]
    assert sum(found["kills"].values()) >= 5


@pytest.mark.long
@pytest.mark.needs("bubblewrap")
def test_a_run_that_is_killed_a_hundred_times_ends_as_if_it_had_not_been(tmp_path: Path):
    found = killed(100, 7, tmp_path)
    assert found["difference"] == ""
    assert found["equal"] == found["rounds"]
    assert sum(found["kills"].values()) >= 100
    assert all(found["kills"].values())
