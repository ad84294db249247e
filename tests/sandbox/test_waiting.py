"""What a process waited for a processor, and whether it waits now; Linux's own word for it, and a made one."""

from __future__ import annotations

import itertools
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from doubling import RIGHT, Room
from leaping import Leaping

from autograder.sandbox import confined, runner, waiting
from autograder.sandbox.frames import TOO_MANY_FILES
from autograder.sandbox.waiting import NOTICED, Waiting

PROCESS = 7


class Machine:
    """A folder as /proc is, with one process in it."""

    def __init__(self, root: Path) -> None:
        self._folder = root / str(PROCESS)
        self._folder.mkdir(parents=True)
        self.is_at("S", 0.0, 0.0)

    def is_at(self, state: str, ran: float, waited: float) -> None:
        """Say how the process is, and how many seconds it ran and waited."""
        for name, text in (
            ("stat", f"{PROCESS} (a) R (b)) {state} 1 1"),
            ("schedstat", f"{int(ran * 1e9)} {int(waited * 1e9)} 3\n"),
        ):
            new = self._folder / "new"
            new.write_text(text)
            new.replace(self._folder / name)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(waiting, "_PROCESSES", tmp_path)
    return Machine(tmp_path)


class Clock:
    """A clock that goes on where somebody sleeps, and nowhere else; then something happens."""

    def __init__(self) -> None:
        self.now = 100.0
        self.happens: Callable[[], None] = lambda: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.happens()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which processes are looked at."""
    clock = Clock()
    monkeypatch.setattr(waiting, "time", clock)
    return clock


@pytest.fixture
def running(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The machine, where at each look the process has run for longer."""
    machine.is_at("R", 0.0, 0.0)
    ran = itertools.count(1)
    monkeypatch.setattr(waiting, "_counted", lambda process: (next(ran), 0))
    return machine


def test_a_wait_that_goes_on_is_seen_and_counted_once(machine: Machine, clock: Clock) -> None:
    counted = Waiting()
    machine.is_at("R", 0.5, 0.3)
    assert counted.more(PROCESS, 0.0) == pytest.approx(0.3)
    seen = counted.more(PROCESS, 0.0) + counted.more(PROCESS, 0.0)  # it stands in the line all the while
    assert seen > NOTICED
    machine.is_at("R", 0.5, 1.3)  # a second, now that it is over
    assert counted.more(PROCESS, 0.0) == pytest.approx(1.0 - seen)


@pytest.mark.parametrize("state", ["R", "S"])
def test_a_wait_that_ends_while_it_is_looked_at_is_counted(machine: Machine, clock: Clock, state: str) -> None:
    machine.is_at("R", 0.5, 0.3)
    counted = Waiting()
    assert counted.more(PROCESS, 0.0) == pytest.approx(0.3)
    clock.happens = lambda: machine.is_at(state, 0.50001, 0.7)
    assert counted.more(PROCESS, 0.0) == pytest.approx(0.4)


def test_who_is_moved_to_another_line_waits_on(machine: Machine, clock: Clock) -> None:
    machine.is_at("R", 0.5, 0.0)
    moves = itertools.count(1)
    clock.happens = lambda: machine.is_at("R", 0.5, next(moves) * 1e-6)
    assert waiting.waits(PROCESS) > NOTICED


def test_who_looks_late_has_seen_nothing(machine: Machine, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    # Between reading the figures and the clock, whoever looks had no processor for a second.
    machine.is_at("R", 0.5, 0.0)
    counted = waiting._counted

    def slow(process: int) -> tuple[int, int]:
        found = counted(process)
        clock.now += 1.0
        return found

    monkeypatch.setattr(waiting, "_counted", slow)
    clock.happens = lambda: machine.is_at("R", 0.6, 0.0)
    assert waiting.waits(PROCESS) == 0.0


class Busy:
    """A machine on which a process waits and runs in turn, with a clock of its own; waits are counted at their end."""

    def __init__(self, wait: float, run: float, held: float, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self._wait, self._run, self._held = 0.0, wait, run, held
        self._looks = 0
        monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: self.now, sleep=self.sleep))
        monkeypatch.setattr(waiting, "_could_run", lambda process: True)
        monkeypatch.setattr(waiting, "_counted", lambda process: (int(1e6 + self.ran * 1e9), int(self._waited * 1e9)))

    def passes(self, seconds: float) -> None:
        self.now += seconds

    def sleep(self, seconds: float) -> None:
        """Sleep as one who looks; every seventh time others go before."""
        self._looks += 1
        self.passes(seconds if self._looks % 7 else seconds + self._held)

    @property
    def ran(self) -> float:
        turns, rest = divmod(self.now, self._wait + self._run)
        return turns * self._run + max(0.0, rest - self._wait)

    @property
    def _waited(self) -> float:
        turns, rest = divmod(self.now, self._wait + self._run)
        return (turns + (rest >= self._wait)) * self._wait

    def late_after(self, allowed: float, work: float = math.inf) -> float:
        """Return what it had run when it was late; what it had to run, ``work``, where it was not."""
        deadline, counted = allowed, Waiting()
        while True:
            while self.now < deadline:
                self.passes(0.001)
                if self.ran >= work:
                    return work
            self.passes(0.0001)  # until the deadline is found to be over
            more = counted.more(PROCESS, self.now - deadline)
            if not more:
                return self.ran
            deadline += more


# Seconds in the line, and then on the processor: an idle machine, a busy one, and one whose sessions go in turn.
TURNS = [(0.0, 1.0), (0.02, 0.004), (0.1, 0.1), (0.3, 0.004), (0.7, 0.05), (1.6, 0.01)]


HELD = [0.0, 0.06, 0.3, 1.6]
"""Seconds for which, now and then, whoever looks has no processor."""


@pytest.mark.parametrize(("wait", "run"), TURNS)
@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("work", [0.001, 0.1, 0.25, 0.45])
def test_what_a_machine_makes_slow_is_not_late(
    monkeypatch: pytest.MonkeyPatch, wait: float, run: float, held: float, work: float
) -> None:
    assert Busy(wait, run, held, monkeypatch).late_after(0.5, work) == work


@pytest.mark.parametrize(("wait", "run"), TURNS)
@pytest.mark.parametrize("held", HELD)
def test_what_runs_without_an_end_is_late_once_it_had_its_time(
    monkeypatch: pytest.MonkeyPatch, wait: float, run: float, held: float
) -> None:
    assert 0.49 < Busy(wait, run, held, monkeypatch).late_after(0.5) < 0.6 + 2 * held


def test_no_more_is_granted_than_there_is(machine: Machine, clock: Clock) -> None:
    counted = Waiting()
    machine.is_at("R", 0.5, 0.3)
    assert counted.more(PROCESS, 0.0, 0.1) == pytest.approx(0.1)
    assert counted.more(PROCESS, 0.0, 0.0) == 0.0
    assert counted.more(PROCESS, 0.0, 0.015) == pytest.approx(0.015)


@pytest.mark.parametrize("state", ["S", "D", "T", "Z", "t"])
def test_who_sleeps_is_stopped_or_has_ended_waits_for_nothing(machine: Machine, state: str) -> None:
    machine.is_at(state, 0.5, 0.0)
    assert waiting.waits(PROCESS) == 0.0


def test_a_process_may_call_itself_what_it_likes(machine: Machine, clock: Clock, tmp_path: Path) -> None:
    (tmp_path / str(PROCESS) / "schedstat").write_text("500000000 0 3\n")
    (tmp_path / str(PROCESS) / "stat").write_bytes(b"7 (\xff) S 1) R 1 1")
    assert waiting.waits(PROCESS) > NOTICED
    (tmp_path / str(PROCESS) / "stat").write_bytes(b"")
    assert waiting.waits(PROCESS) == 0.0


def test_who_runs_does_not_wait(running: Machine, clock: Clock) -> None:
    assert Waiting().more(PROCESS, 0.0) == 0.0


def test_of_what_is_gone_or_not_known_nothing_is_granted(
    machine: Machine, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Waiting().more(None, 0.0) == 0.0
    assert Waiting().more(PROCESS + 1, 0.0) == 0.0
    machine.is_at("R", 0.0, 0.0)
    monkeypatch.setattr(waiting, "figures", lambda: False)
    for figures in ("", "1", "x y z", "0 0 0\n"):  # as of a kernel without them
        (tmp_path / str(PROCESS) / "schedstat").write_text(figures)
        assert Waiting().more(PROCESS, 0.0) == 0.0


def test_one_that_was_just_born_may_wait_as_well(
    machine: Machine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "figures", lambda: True)
    machine.is_at("R", 0.0, 0.0)
    assert Waiting().more(PROCESS, 0.0) > NOTICED


LOOP = [sys.executable, "-c", "while True: pass"]


def pinned() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def last() -> None:
    pinned()
    os.setpriority(os.PRIO_PROCESS, 0, 19)


def test_linux_says_so_of_a_process_behind_another() -> None:
    hog = subprocess.Popen(LOOP, preexec_fn=pinned)
    waiter = subprocess.Popen(LOOP, preexec_fn=last)  # a slice in a quarter of a second
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if waiting.waits(waiter.pid) > NOTICED:
                break
            time.sleep(0.01)
        else:
            raise AssertionError("it was never seen waiting")
        while Path(f"/proc/{sleeper.pid}/stat").read_text().split()[2] != "S":
            time.sleep(0.01)
        assert [waiting.waits(sleeper.pid) for _ in range(20)] == [0.0] * 20
    finally:
        for process in (hog, waiter, sleeper):
            process.kill()
            process.wait()


# ------------------------------------------------------------ what comes of it


@pytest.fixture
def room(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """A room whose child is taken for the process of the made machine."""
    room = Room(walled=False)
    try:
        room.cage.take().ready()
        monkeypatch.setattr(waiting, "descendant", lambda process, generations: PROCESS)
        yield room
    finally:
        room.cage.drop()


SLEEPS = "import time\ndef f(x):\n    time.sleep(0.5)\n    return x * 2"


def test_one_wait_longer_than_the_check_may_take_does_not_end_it(
    room: Room, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "MOST_WAITING", 1000)
    machine.is_at("R", 0.1, 0.0)  # and so it stays, while f sleeps in its place: a second, of the 0.3 s that there are
    assert room.grade(SLEEPS, seconds=0.6, checks=1).statuses == ["passed"]


def test_one_that_runs_all_the_while_ends(room: Room, running: Machine, leaping: Leaping) -> None:
    graded = room.grade(leaping.cell, "def f(x):\n    loops()", seconds=60, checks=1)
    assert (graded.statuses, graded.message.split(":")[0]) == (["timeout"], "No answer within 30 s")


def test_what_was_waited_before_a_check_is_not_the_check_s(
    room: Room, machine: Machine, leaping: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted = []
    real = Waiting.more

    def more(self: Waiting, process: int | None, late: float, most: float = math.inf) -> float:
        granted.append(real(self, process, late, most))
        return granted[-1]

    monkeypatch.setattr(Waiting, "more", more)
    machine.is_at("S", 0.1, 2.0)  # by the end of the cells
    loops = "def f(x):\n    if x[0] == 0:\n        return x * 2\n    loops()"
    assert room.grade(leaping.cell, loops, checks=2).statuses == ["passed", "timeout"]
    assert granted == [0.0]


def test_what_the_cells_waited_is_not_taken_from_the_first_check(
    room: Room, machine: Machine, leaping: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted = iter([40.0])  # while the cells run, and never after
    monkeypatch.setattr(Waiting, "more", lambda self, process, late, most=0.0: next(granted, 0.0))
    graded = room.grade(leaping.cell + "is_late()", RIGHT, seconds=60, checks=1)  # 30 s are allowed
    assert graded.statuses == ["passed"]
    assert next(granted, None) is None


class Of(Waiting):
    """The wait of the made machine's process, whichever is asked for."""

    def counted(self, process: int | None, most: float = math.inf) -> float:
        return super().counted(PROCESS, most)

    def more(self, process: int | None, late: float, most: float = math.inf) -> float:
        return super().more(PROCESS, late, most)


def ended_with(command: list[str], grace: float) -> int | None:
    """Return how a process ends that is waited for so long; None where it did not."""
    process = subprocess.Popen(command)
    status, _ = confined._wait(process.pid, grace)
    if status is None:
        process.kill()
        process.wait()
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode


@pytest.fixture
def ending(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The machine, whose process is what the confined process waits for, and is granted a minute."""
    monkeypatch.setattr(confined, "Waiting", Of)
    monkeypatch.setattr(confined, "ENDING", 60.0)
    return machine


def test_how_a_process_ended_is_learned_although_it_waited_to_end(ending: Machine) -> None:
    ending.is_at("R", 0.1, 5.0)
    assert ended_with(["sh", "-c", "sleep 0.4; exit 5"], 0.1) == 5


def test_one_that_does_not_end_is_given_up_whatever_it_waited_before(ending: Machine) -> None:
    ending.is_at("S", 0.1, 1000.0)
    assert ended_with(["sleep", "60"], 0.1) is None


def test_one_that_is_to_be_ended_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Never(Waiting):
        def more(self, process: int | None, late: float, most: float = math.inf) -> float:
            raise AssertionError("it was looked whether it waits")

    monkeypatch.setattr(confined, "Waiting", Never)
    assert ended_with(["sleep", "60"], 0.0) is None


def test_one_that_ends_while_it_is_looked_at_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Waiting):
        def more(self, process: int | None, late: float, most: float = math.inf) -> float:
            assert process is not None
            os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
            return 0.0

    monkeypatch.setattr(confined, "Waiting", Slow)
    assert ended_with(["sh", "-c", "sleep 0.3; exit 5"], 0.05) == 5


class Lives:
    """A child of this process that does nothing, and the confined process's clocks.

    One goes on at each look; the other, of what the child waited for a processor, only where a test says so: what it
    really waits on a busy machine is no part of what is expected.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looks, self.now = 0, 0.0
        self.happens: Callable[[], None] = lambda: None
        self.waits: Callable[[], float] = lambda: 0.0
        self.process = subprocess.Popen(["sleep", "600"])
        monkeypatch.setattr(confined, "time", self)
        monkeypatch.setattr(confined, "waited", lambda process: self.waits())
        monkeypatch.setattr(waiting, "waited", lambda process: self.waits())

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.looks += 1
        self.now += 0.5
        self.happens()

    def waited_for(self, grace: float, is_full: Callable[[], bool] | None = None) -> tuple[int | None, float]:
        status, lived = confined._wait(self.process.pid, grace, is_full)
        self.process.returncode = status if status is not None else None
        return status, lived


@pytest.fixture
def lives(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lives]:
    one = Lives(monkeypatch)
    yield one
    if one.process.returncode is None:
        one.process.kill()
        one.process.wait()


def test_how_long_it_lived_on_is_said_and_what_it_waited_for_a_processor_is_no_part_of_it(lives: Lives) -> None:
    def ends() -> None:
        if lives.looks == 4:  # seconds 0, 0.5, 1 and 1.5 saw it
            lives.process.kill()
            os.waitid(os.P_PID, lives.process.pid, os.WEXITED | os.WNOWAIT)

    lives.happens, lives.waits = ends, lambda: 0.25 * (lives.now >= 1.0)
    assert lives.waited_for(3.0) == (signal.SIGKILL, 1.25)


def test_for_as_long_as_the_kernel_is_at_its_end_it_did_not_live(lives: Lives, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "is_ending", lambda process: True)
    assert lives.waited_for(3.0) == (None, 0.0)


def test_one_that_lives_on_makes_no_more_files_than_others(lives: Lives) -> None:
    assert lives.waited_for(3.0, lambda: lives.looks >= 2) == (TOO_MANY_FILES, 1.0)


@pytest.mark.parametrize("flags", [0x4, 0x40014C])
def test_who_is_ending_is_known_by_its_flags(flags: int, tmp_path: Path) -> None:
    process = tmp_path / "7"
    process.mkdir()
    (process / "stat").write_text(f"7 (a) b) R 1 7 7 0 -1 {flags} 5 0")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(waiting, "_PROCESSES", tmp_path)
        assert waiting.is_ending(7)
        (process / "stat").write_text(f"7 (a) b) R 1 7 7 0 -1 {flags & ~4} 5 0")
        assert not waiting.is_ending(7)
        assert waiting.is_ending(8)
