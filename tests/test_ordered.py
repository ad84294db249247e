"""What the pool and the cluster share: the order of results, what is done once, and a pass that is stopped half-way."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.collect import Handed
from autograder.errors import CourseError
from autograder.models import Submission
from autograder.ordered import OrderedPass
from autograder.tasks import Done, Task


def a_task(student: str) -> Task:
    return Task(Handed(student, "halve", Path(f"{student}/halve/halve.ipynb"), b"", "0123"), record=b"{}")


def done(task: Task) -> Done:
    nothing: Any = None
    return Done(task.number, nothing, nothing, b"", "")


class Picked(OrderedPass[str]):
    """A pass whose workers answer in the order that a test picks, some tasks twice, and that logs what happens."""

    def __init__(
        self,
        jobs: Iterable[Task | str],
        picks: Iterable[int] = (),
        ahead: int = 3,
        fails: Callable[[str], None] = lambda student: None,
    ) -> None:
        super().__init__(iter(jobs), lambda: pytest.fail("nobody asks"), self._note, count(1))
        self.picks, self.ahead, self.fails = iter(picks), ahead, fails
        self.out: list[Task] = []
        self.twice: list[Task] = []
        self.log: list[str] = []
        self.looks = 0

    def run(self) -> Generator[str, None, None]:
        return self.results(lambda: self.log.append("stopped"))

    def _note(self, task: Task, result: Done) -> str:
        assert result.number == task.number
        self.fails(task.work.student)
        self.log.append(f"{task.work.student} came")
        return task.work.student

    def _draw(self) -> None:
        while self._more and len(self.out) < self.ahead and len(self._line) < self.ahead + 2:
            if (task := self._read()) is not None:
                self.out.append(task)

    def _give_out(self) -> None:
        pass

    def _wait(self) -> None:
        assert self.out, "it waits, and nobody is at anything"
        self._hear(1.0)

    def _hear(self, seconds: float) -> None:
        self.looks += not seconds
        if seconds and self.out:
            pick = next(self.picks, 0)
            task = self.out.pop(pick % len(self.out))
            if pick % 2:
                self.twice.append(task)
            self._done(done(task))
        elif self.twice:
            self._done(done(self.twice.pop()))

    def _begin_no_more(self) -> None:
        self.log.append("begins no more")
        del self.out[2:]

    def _is_under_way(self) -> bool:
        return bool(self.out)


@given(st.lists(st.booleans(), max_size=30), st.lists(st.integers(0, 99), max_size=40), st.integers(1, 8))
def test_results_are_in_the_order_of_the_jobs_and_each_comes_once_in_whatever_order_they_are_done(
    are_tasks: list[bool], picks: list[int], ahead: int
):
    names = [f"s{n}" for n in range(len(are_tasks))]
    jobs = [a_task(name) if is_task else name for name, is_task in zip(names, are_tasks, strict=True)]
    one = Picked(jobs, picks, ahead)
    assert list(one.run()) == names
    tasks = [f"{name} came" for name, is_task in zip(names, are_tasks, strict=True) if is_task]
    assert sorted(one.log) == sorted(tasks)


def test_a_result_is_yielded_as_soon_as_those_before_it_are_and_jobs_may_be_endless():
    read: list[int] = []

    def endless() -> Iterator[Task | str]:
        for number in count():
            read.append(number)
            yield a_task(f"s{number}")

    one = Picked(endless(), picks=[2, 0, 0])
    results = one.run()
    assert read == []
    assert next(results) == "s0"
    assert one.log == ["s2 came", "s0 came"]
    assert [job.task is None for job in one._line][:2] == [False, True]  # of s2 nothing is held but its result
    assert list(islice(results, 2)) == ["s1", "s2"]
    assert one.looks == 2  # whoever takes a result may take his time: then there may be news, and somebody free
    assert read == list(range(len(read)))
    assert len(read) <= 3 + 3


def test_a_pass_that_is_left_takes_what_is_under_way_and_then_stops_the_workers():
    one = Picked(map(a_task, "abcdefg"), ahead=4)
    results = one.run()
    assert next(results) == "a"
    results.close()
    assert one.log == ["a came", "begins no more", "b came", "c came", "stopped"]


def test_the_first_trouble_is_the_one_that_is_told_and_the_workers_are_stopped_all_the_same():
    def fails(student: str) -> None:
        if student in "bc":
            raise CourseError(f"no room for {student}")

    one = Picked(map(a_task, "abcd"), fails=fails)
    with pytest.raises(CourseError, match=r"^no room for b$"):
        list(one.run())
    assert one.log == ["a came", "begins no more", "stopped"]


def test_the_workers_are_stopped_though_ctrl_c_is_pressed_again_while_the_last_are_waited_for():
    class Impatient(Picked):
        def _begin_no_more(self) -> None:
            super()._begin_no_more()
            raise KeyboardInterrupt

    one = Impatient(map(a_task, "abcd"))
    results = one.run()
    assert next(results) == "a"
    with pytest.raises(KeyboardInterrupt):
        results.close()
    assert one.log == ["a came", "begins no more", "stopped"]


def test_a_task_of_which_workers_die_is_given_out_again_then_unread_and_then_no_more():
    one = Picked([a_task("ada")])
    task = one._read()
    assert task is not None
    ending = CourseError("the workers end by themselves")
    assert one._lost(task.number, ending) == task
    again = one._lost(task.number, ending)
    assert (again.number, again.record) == (task.number, b"")
    assert isinstance(again.work, Submission)
    assert (again.work.student, again.work.content_hash) == ("ada", "0123")
    assert again.work.unreadable.startswith("the grading process ended twice while this was graded; ")
    assert one._open[task.number].task == again  # that is what its result is of
    with pytest.raises(CourseError) as caught:
        one._lost(task.number, ending)
    assert caught.value is ending
