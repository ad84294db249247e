"""Who is at what: a task that is begun in the moment in which it is taken back, and answers that nobody waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tiny_exercise
from stand_in import Cage, Threads

from autograder import catalog, ordered, worker
from autograder.attempt import ungraded
from autograder.cluster.members import Chunk, Graded
from autograder.cluster.run import Cluster
from autograder.models import Cell, Reference, Score, Submission
from autograder.plan import Plan
from autograder.pool import Class, Worker, orders_of
from autograder.reference.expectations import Expectations
from autograder.report.rows import row_of
from autograder.tasks import Done, Orders, TakeBack, Task

PATIENCE = 60.0
STUDENTS = ("ada", "ben", "cy", "dan")
"""The first of two workers is given the first and, ahead, the third; the second one the others."""


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    exercise = catalog.load("halve", tiny_exercise.write(tmp_path_factory.mktemp("course")))
    return Plan(exercise, Expectations("seed:1", Reference("solutions/halve.py", "cpu", ""), {}))


def tasks(*students: str) -> list[Task]:
    return [Task(Submission(one, "halve", Path(one), (Cell(1, ""),), content_hash=one)) for one in students]


def scored(plan: Plan, submission: Submission) -> Score:
    return replace(ungraded(plan, submission, ""), status="graded", score=0.0)


class Begun:
    """What is taken back from the first worker is begun there just before it hears of it.

    It is at ``ada`` until somebody wants ``cy`` back, and the message waits until it is at ``cy``. That ends a moment
    after ``cy`` has come from elsewhere, or was given up.
    """

    def __init__(self) -> None:
        self.students: list[str] = []
        self.wanted, self.began, self.end = threading.Event(), threading.Event(), threading.Event()
        self.first = 0

    def grade(self, plan: Plan, submission: Submission, cage: Cage, lost: int = 0) -> Score:
        self.students.append(submission.student)
        if submission.student == "ada":
            self.first = threading.get_ident()
            assert self.wanted.wait(PATIENCE)
        elif submission.student == "cy" and threading.get_ident() == self.first:
            self.began.set()
            assert self.end.wait(PATIENCE)
            time.sleep(0.3)
        elif submission.student == "cy":
            assert self.began.wait(PATIENCE)
        return scored(plan, submission)

    def send(self, connection: Any, message: Any) -> None:
        if isinstance(message, TakeBack):
            self.wanted.set()
            assert self.began.wait(PATIENCE)
        connection.send(message)


class Late(Threads):
    """Two threads that are told what ``Begun`` says, when it says so."""

    slow_seconds = Class.slow_seconds

    def __init__(self, begun: Begun) -> None:
        super().__init__()
        self._begun = begun

    def _started(self) -> Worker:
        started = super()._started()
        started.connection = Line(started.connection, self._begun)  # type: ignore[assignment]
        return started


class Line:
    """A connection that sends what ``Begun`` says, when it says so."""

    def __init__(self, connection: Any, begun: Begun) -> None:
        self._connection, self._begun = connection, begun

    def send(self, message: Any) -> None:
        self._begun.send(self._connection, message)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[Begun]:
    at_it = Begun()
    monkeypatch.setattr(worker, "grade_one", at_it.grade)
    monkeypatch.setattr(ordered, "_LAST_SECONDS", PATIENCE)
    yield at_it
    for event in (at_it.wanted, at_it.began, at_it.end):
        event.set()


def test_a_pass_ends_when_all_are_free_though_two_did_the_same(plan: Plan, begun: Begun):
    def arrived(task: Task, done: Done) -> str:
        if done.row.student == "cy":
            begun.end.set()
        return done.row.student

    with Late(begun) as workers:
        workers.start()
        assert tuple(workers.stream(tasks(*STUDENTS), lambda: orders_of({"halve": plan}), arrived)) == STUDENTS
        assert sorted(begun.students) == ["ada", "ben", "cy", "cy", "dan"]  # else nothing was shown
        assert [*map(len, (one.given for one in workers._workers))] == [0, 0]
        assert workers.layers() == ("bubblewrap",)
        again = list(workers.grade((one.work for one in tasks(*STUDENTS)), {"halve": plan}))
        assert [score.student for score in again] == list(STUDENTS)


def test_what_was_begun_when_a_pass_was_stopped_counts(plan: Plan, begun: Begun):
    came: list[str] = []

    def arrived(task: Task, done: Done) -> str:
        came.append(done.row.student)
        if done.row.student == "ada":  # by then it is at the next
            begun.end.set()
        elif done.row.student == "ben":
            raise KeyboardInterrupt
        return done.row.student

    with Late(begun) as workers:
        workers.start()
        with pytest.raises(KeyboardInterrupt):
            list(workers.stream(tasks(*STUDENTS), lambda: orders_of({"halve": plan}), arrived))
    assert sorted(came) == sorted(set(begun.students)) == sorted(begun.students)
    assert "cy" in came


def test_the_layers_are_asked_of_one_that_is_free_and_told_by_that_answer(plan: Plan, begun: Begun):
    with Late(begun) as workers:
        workers.start()
        orders: Orders = orders_of({"halve": plan})
        first, second = workers._workers
        first.connection.send(orders)
        (task,) = tasks("ben")
        first.connection.send(replace(task, number=7))
        first.given.append(replace(task, number=7))
        assert workers.layers() == ("bubblewrap",)
        assert [one.number for one in first.given] == [7]
        second.given.extend([task, task])
        until = time.monotonic() + PATIENCE
        while not begun.students:  # from then on it answers for the task first
            assert time.monotonic() < until
            time.sleep(0.01)
        assert workers.layers() == ("bubblewrap",)  # behind an answer to the orders, and that to the task
        assert not first.given
        second.given.clear()


def test_what_a_cluster_did_for_an_earlier_pass_is_not_taken_for_a_later_one(plan: Plan):
    """A worker's answer may come when another has given it, and the pass is over."""
    given: list[Chunk] = []
    news: list[Graded] = []
    member: Any = SimpleNamespace(given=[], hands=1, has_room=True)

    class Members:
        ready, hands = (member,), 1

        def order(self, orders: Orders) -> None: ...

        def give(self, member: Any, chunk: Chunk, seconds: float) -> None:
            given.append(chunk)
            news.append(Graded(member, chunk, [result(number, f"{len(given)}") for number in chunk.numbers]))

        def hear(self, seconds: float) -> list[Graded]:
            return [news.pop(0)]

        def close(self) -> None: ...

    def result(number: int, said: str) -> Done:
        score = scored(plan, tasks(said)[0].work)  # type: ignore[arg-type]
        return Done(number, row_of(score), score, b"", "")

    with Cluster("tcp://127.0.0.1:1", ["halve"]) as cluster:
        cluster._members = Members()  # type: ignore[assignment]
        passed = [tasks("ada"), tasks("ben")]
        for number, jobs in enumerate(passed, start=1):
            (student,) = cluster.stream(jobs, lambda: orders_of({"halve": plan}), lambda task, done: done.row.student)
            assert student == str(number)
            news.append(Graded(member, given[0], [result(given[0].numbers[0], "late")]))
