"""Who is at what: a task that is begun in the moment in which it is taken back, and answers that nobody waits for."""

from __future__ import annotations

import errno
import socket
import threading
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, Self

import pytest
import tiny_exercise
from stand_in import Cage, Threads

from autograder import catalog, ordered, pool, worker
from autograder.attempt import ungraded
from autograder.cluster import members
from autograder.cluster.members import Chunk, Graded
from autograder.cluster.run import Cluster
from autograder.models import Cell, Reference, Score, Submission
from autograder.plan import Plan
from autograder.pool import Class, PoolError, Worker, orders_of
from autograder.reference.expectations import Expectations
from autograder.report.rows import row_of
from autograder.tasks import Done, Fault, Layers, Orders, Ready, TakeBack, TakenBack, Task

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
    """What is asked back from the first worker is begun there just before it hears of it.

    It is at ``ada`` until somebody wants ``cy`` back, and the message waits until it is at ``cy``, which ends after it.
    """

    def __init__(self) -> None:
        self.students: list[str] = []
        self.wanted, self.began, self.told = threading.Event(), threading.Event(), threading.Event()

    def grade(self, plan: Plan, submission: Submission, cage: Cage, lost: int = 0) -> Score:
        self.students.append(submission.student)
        if submission.student == "ada":
            assert self.wanted.wait(PATIENCE)
        elif submission.student == "cy":
            self.began.set()
            assert self.told.wait(PATIENCE)
        return scored(plan, submission)

    def send(self, connection: Any, message: Any) -> None:
        if isinstance(message, TakeBack) and not self.told.is_set():
            self.wanted.set()
            assert self.began.wait(PATIENCE)
            connection.send(message)
            self.told.set()
        else:
            connection.send(message)


class Late(Threads):
    """Two threads that are told what ``Begun`` says, when it says so."""

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
    for event in (at_it.wanted, at_it.began, at_it.told):
        event.set()


def student_of(task: Task, done: Done) -> str:
    return done.row.student


# --------------------------------------------------------------------- taken back or begun


def test_what_is_begun_just_when_it_is_asked_back_is_done_by_nobody_else(plan: Plan, begun: Begun):
    with Late(begun) as workers:
        workers.start()
        assert tuple(workers.stream(tasks(*STUDENTS), lambda: orders_of({"halve": plan}), student_of)) == STUDENTS
        assert begun.told.is_set()  # else nothing was shown
        assert sorted(begun.students) == list(STUDENTS)
        assert workers.layers() == ("bubblewrap",)
        again = list(workers.grade((one.work for one in tasks(*STUDENTS)), {"halve": plan}))
        assert [score.student for score in again] == list(STUDENTS)


def test_what_was_begun_when_a_pass_was_stopped_counts(plan: Plan, begun: Begun):
    came: list[str] = []

    def arrived(task: Task, done: Done) -> str:
        came.append(done.row.student)
        if done.row.student == "ben":
            raise KeyboardInterrupt
        return done.row.student

    with Late(begun) as workers:
        workers.start()
        with pytest.raises(KeyboardInterrupt):
            list(workers.stream(tasks(*STUDENTS), lambda: orders_of({"halve": plan}), arrived))
    assert sorted(came) == sorted(begun.students)
    assert "cy" in came


def test_a_disk_that_is_full_when_a_result_comes_is_no_death_of_a_worker(plan: Plan, begun: Begun):
    def arrived(task: Task, done: Done) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    with Threads() as workers:
        results = workers.stream(tasks("ben", "dan"), lambda: orders_of({"halve": plan}), arrived)
        with pytest.raises(OSError, match="No space left"):
            list(results)
    assert sorted(begun.students) == ["ben", "dan"]


class Asking:
    """The pool's end of a worker, which a thread serves until the block ends."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        ours, theirs = socket.socketpair()
        self.connection = Connection(ours.detach())
        self._served = threading.Thread(target=self._serve, args=(Connection(theirs.detach()),))

    def _serve(self, connection: Connection) -> None:
        with connection:
            worker.serve(connection, Cage(), [])  # type: ignore[arg-type]

    def __enter__(self) -> Self:
        self._served.start()
        return self

    def __exit__(self, *ending: Any) -> None:
        self.connection.close()
        self._served.join()

    def told(self, *messages: Any) -> None:
        for message in messages:
            self.connection.send(message)

    def said(self) -> Any:
        assert self.connection.poll(PATIENCE)
        return self.connection.recv()


def test_a_worker_gives_back_what_it_has_not_begun_while_it_is_at_another(plan: Plan, begun: Begun):
    ada, cy, ben = (replace(task, number=n) for n, task in enumerate(tasks("ada", "cy", "ben"), start=1))
    with Asking(plan) as asking:
        asking.told(orders_of({"halve": plan}), ada, cy, ben)
        assert asking.said() == Ready()
        asking.told(TakeBack(2))
        assert asking.said() == TakenBack(2)
        begun.wanted.set()
        assert [asking.said().number for _ in range(2)] == [1, 3]
        asking.told(TakeBack(3), Layers())  # which it has answered
        assert asking.said() == Layers(("bubblewrap",))
    assert begun.students == ["ada", "ben"]


def test_a_worker_whose_orders_cannot_be_read_grades_nothing_by_those_of_before(plan: Plan, begun: Begun):
    changed = replace(plan, exercise=replace(plan.exercise, version="0123"))
    (ben,) = tasks("ben")
    with Asking(plan) as asking:
        asking.told(orders_of({"halve": plan}), orders_of({"halve": changed}), ben)
        assert asking.said() == Ready()
        refused = asking.said()
        assert "the exercise was changed while the class was graded" in refused.text
        assert asking.said() == refused
        asking.told(orders_of({"halve": plan}), ben)
        assert asking.said() == Ready()
        assert asking.said().row.student == "ben"
    assert begun.students == ["ben"]


def test_the_layers_are_asked_of_one_that_is_free_and_told_by_that_answer(plan: Plan, begun: Begun):
    with Late(begun) as workers:
        workers.start()
        first, second = workers._workers
        first.tell(orders_of({"halve": plan}))
        (task,) = tasks("ben")
        first.give(replace(task, number=7))
        assert workers.layers() == ("bubblewrap",)
        assert [one.number for one in first.given] == [7]
        second.given.extend([task, task])
        assert workers.layers() == ("bubblewrap",)  # behind an answer to the orders, and that to the task
        assert not first.given
        second.given.clear()


# ------------------------------------------------------------------- whatever happens when


class World:
    """Puppets in the place of processes, and what happens among them: drawn, and without a clock.

    Stands for the pool's selector as well. While the pool waits, one of them after the other begins, ends or dies.
    """

    eager = 3
    """How much happens, at most, before the pool looks whether there is news."""

    def __init__(self, random: Random, deaths: int, faults: int = 0) -> None:
        self._random, self.deaths, self.faults = random, deaths, faults
        self.open: dict[Puppet, Worker] = {}
        self.at: dict[int, Puppet] = {}
        """Who is at which task."""
        self.done: Counter[int] = Counter()
        """How often each was done."""

    def register(self, puppet: Puppet, events: int, worker: Worker) -> None:
        self.open[puppet] = worker

    def unregister(self, puppet: Puppet) -> None:
        del self.open[puppet]

    def close(self) -> None:
        assert not self.open

    def select(self, seconds: float) -> list[tuple[Any, int]]:
        for _ in range(self._random.randint(0, self.eager)):
            self._happens()
        while seconds and not any(puppet.poll() for puppet in self.open):
            assert self._happens(), "the pool waits, and nobody is at anything"
        return [(SimpleNamespace(data=self.open[puppet]), 1) for puppet in self.open if puppet.poll()]

    def _happens(self) -> bool:
        can = [puppet for puppet in self.open if not puppet.is_dead and (puppet.asked or puppet.at)]
        if not can:
            return False
        puppet = self._random.choice(can)
        if self.deaths and self._random.random() < 0.1:
            self.deaths -= 1
            puppet.die()
        elif puppet.at is None:
            puppet.begin()
        else:
            puppet.finish()
        return True


class Puppet:
    """A connection to a worker that does what the world says: what is told is heard at once."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.asked: deque[Task] = deque()
        self.at: Task | None = None
        self.says: deque[Any] = deque()
        self.is_dead = False

    def send(self, message: Any) -> None:
        if self.is_dead:
            raise BrokenPipeError
        if isinstance(message, Task):
            self.asked.append(message)
        elif isinstance(message, TakeBack):
            left = deque(task for task in self.asked if task.number != message.number)
            if len(left) < len(self.asked):
                self.says.append(TakenBack(message.number))
            self.asked = left
        else:
            self.says.append(Ready())

    def recv(self) -> Any:
        if not self.says:
            raise EOFError
        return self.says.popleft()

    def poll(self) -> bool:
        return bool(self.says) or self.is_dead

    def close(self) -> None:
        self.die()

    def begin(self) -> None:
        self.at = self.asked.popleft()
        assert self.at.number not in self._world.at, "two are at the same"
        assert not self._world.done[self.at.number], "it was done"
        self._world.at[self.at.number] = self

    def finish(self) -> None:
        assert self.at is not None
        del self._world.at[self.at.number]
        if self._world.faults:
            self._world.faults -= 1
            self.says.append(Fault("the disk is full"))
            self.at = None
            return
        self._world.done[self.at.number] += 1
        score = scored(PLAN[0], self.at.work)  # type: ignore[arg-type]
        self.says.append(Done(self.at.number, row_of(score), score, b"", ""))
        self.at = None

    def die(self) -> None:
        if self.at is not None:
            del self._world.at[self.at.number]
        self.at, self.is_dead = None, True
        self.asked.clear()


PLAN: list[Plan] = []
"""The module's, for the puppets."""


class Puppets(Class):
    slow_seconds = 1e-9

    def __init__(self, world: World, workers: int) -> None:
        super().__init__(workers=workers)
        self._selector.close()
        self._world = self._selector = world  # type: ignore[assignment]

    def _started(self) -> Worker:
        return Worker(Puppet(self._world))  # type: ignore[arg-type]


@pytest.mark.parametrize("deaths", [0, 2])
def test_each_is_done_once_and_comes_in_order_whoever_is_slow_and_whoever_dies(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, deaths: int
):
    PLAN[:] = [plan]
    monkeypatch.setattr(pool, "WINDOW", 6)
    monkeypatch.setattr(pool, "_LINE_A_WORKER", 1)
    students = [f"s{n:02}" for n in range(20)]
    for seed in range(150):
        random = Random(seed)
        world = World(random, deaths)
        with Puppets(world, random.choice([1, 2, 3, 5])) as workers:
            if random.random() < 0.5:
                workers.start()
            came = list(workers.stream(tasks(*students), lambda: orders_of({"halve": plan}), student_of))
            assert came == students
            assert not any(one.given or one.is_asked for one in workers._workers)
            assert set(world.done.values()) == {1}  # one that dies takes no result along


@pytest.mark.parametrize("deaths", [0, 1])
def test_all_that_was_done_or_begun_counts_when_a_pass_is_stopped_anywhere(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, deaths: int
):
    PLAN[:] = [plan]
    students = [f"s{n:02}" for n in range(12)]
    for seed in range(150):
        random = Random(seed)
        world = World(random, deaths)
        came: list[int] = []

        def arrived(task: Task, done: Done, came: list[int] = came) -> str:
            came.append(task.number)
            return done.row.student

        with Puppets(world, random.choice([1, 2, 3])) as workers:
            results = workers.stream(tasks(*students), lambda: orders_of({"halve": plan}), arrived)
            for _ in range(random.randrange(1, 12)):
                next(results)
            results.close()
        assert sorted(came) == sorted(world.done)
        assert not world.at


def test_what_was_begun_counts_however_many_faults_end_a_pass(plan: Plan):
    PLAN[:] = [plan]
    for seed in range(150):
        random = Random(seed)
        world = World(random, 0, faults=random.randint(1, 4))
        came: list[int] = []

        def arrived(task: Task, done: Done, came: list[int] = came) -> str:
            came.append(task.number)
            return done.row.student

        with Puppets(world, 4) as workers, pytest.raises(PoolError, match=r"^the disk is full$"):
            list(workers.stream(tasks(*"abcdefghijkl"), lambda: orders_of({"halve": plan}), arrived))
        assert sorted(came) == sorted(world.done)
        assert not world.at


def test_one_that_was_interrupted_in_mid_answer_is_not_listened_to_again(plan: Plan):
    """What it says next is no answer, but the rest of one."""
    PLAN[:] = [plan]

    class Torn(Puppet):
        heard = 0

        def recv(self) -> Any:
            if isinstance(self.says[0], Done):
                assert not self.heard
                self.heard += 1
                raise KeyboardInterrupt
            return super().recv()

    class Breaking(Puppets):
        def _started(self) -> Worker:
            return Worker(Torn(self._world))  # type: ignore[arg-type]

    world = World(Random(0), 0)
    with Breaking(world, 1) as workers, pytest.raises(KeyboardInterrupt):
        list(workers.stream(tasks("ada", "ben"), lambda: orders_of({"halve": plan}), student_of))
    assert not world.open


def test_one_that_cannot_be_told_is_hung_up_on(monkeypatch: pytest.MonkeyPatch):
    """As where memory is short: it lives, and would be waited for without an end."""
    ours, theirs = socket.socketpair()
    one = Worker(Connection(ours.detach()))

    def refused(message: Any) -> None:
        raise OSError(errno.ENOBUFS, "No buffer space available")

    monkeypatch.setattr(one.connection, "send", refused, raising=False)
    one.tell(Layers())
    with theirs, pytest.raises(EOFError):
        one.answer()
    one.end()


def test_one_that_is_at_what_it_was_asked_for_is_not_waited_for_with_it(plan: Plan):
    PLAN[:] = [plan]
    puppet = Puppet(World(Random(0), 0))
    one = Worker(puppet)  # type: ignore[arg-type]
    ada, ben = (replace(task, number=n) for n, task in enumerate(tasks("ada", "ben"), start=1))
    one.give(ada)
    one.give(ben)
    puppet.begin()
    puppet.finish()
    puppet.begin()
    one.ask_back(ben)
    assert one.is_asked
    one.answer()
    assert [task.number for task in one.given] == [2]
    assert not one.is_asked


def test_what_waits_behind_the_slowest_is_done_though_no_more_may_be_read(plan: Plan, monkeypatch: pytest.MonkeyPatch):
    PLAN[:] = [plan]
    monkeypatch.setattr(pool, "WINDOW", 6)
    monkeypatch.setattr(pool, "_LINE_A_WORKER", 1)

    class FirstIsSlow(World):
        eager = 0

        def _happens(self) -> bool:
            first = next(iter(self.open))
            others = [puppet for puppet in self.open if puppet is not first and (puppet.asked or puppet.at)]
            can = others or [first]
            if first.asked and first.at is None:
                first.begin()
            elif can[0].at is None:
                can[0].begin()
            else:
                can[0].finish()
            return True

    world = FirstIsSlow(Random(0), 0)
    with Puppets(world, 2) as workers:
        workers.start()
        results = workers.stream(tasks(*"abcdefghijkl"), lambda: orders_of({"halve": plan}), student_of)
        assert next(results) == "a"
        assert len(world.done) == 6  # all that may stand in line: what the first had ahead as well
        assert list(results) == list("bcdefghijkl")


# ---------------------------------------------------------------------------- a cluster


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


def test_a_worker_that_has_read_the_orders_of_an_earlier_pass_is_not_ready_for_a_later_one(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
):
    asked: list[Any] = []

    class Link:
        def __init__(self, *_: Any) -> None: ...

        def ask(self, tag: Any, *_: Any) -> None:
            asked.append(tag)

    monkeypatch.setattr(members, "Link", Link)
    monkeypatch.setattr(members, "standing", lambda slugs: {})
    all_of_them = members.Members("tcp://127.0.0.1:1", None, [], walled=False, wait=1.0, say=lambda text: None)
    all_of_them._present({"tcp://127.0.0.1:2": 1})
    all_of_them._answered(asked.pop(), {"trouble": "", "layers": [], "count": 1}, "")
    for version in ("first", "second"):
        changed = replace(plan, exercise=replace(plan.exercise, version=version))
        all_of_them.order(orders_of({"halve": changed}))
    first, second = asked
    all_of_them._answered(first, "", "")
    assert not all_of_them.ready
    all_of_them._answered(second, "", "")
    assert len(all_of_them.ready) == 1
