"""A submission's run: its budget, what each way of misbehaving costs, and that the next submission pays nothing."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from doubling import PATIENT, RIGHT, Room, cells, exercise, expected
from leaping import Leaping

from autograder.checks import Check, case, f32
from autograder.limits import MOST_WAITING, STUDENT
from autograder.models import Exercise, Raised
from autograder.reference.expectations import Expected
from autograder.sandbox import frames, waiting
from autograder.sandbox.questions import questions
from autograder.sandbox.runner import MAX_LOST, MAX_TIMEOUTS, Runner, place
from autograder.sandbox.waiting import Waiting
from autograder.sandbox.zygote import SandboxError, Session, Zygote

NEVER_PASSED = {"error", "failed", "timeout", "memory", "crashed", "forbidden", "not_run"}


def honest(room: Room) -> None:
    graded = room.grade(RIGHT)
    assert graded.statuses == ["passed"] * 3, graded.message


# ----------------------------------------------------------------------------- honest


def test_a_right_answer_earns_everything(plain_room: Room) -> None:
    graded = plain_room.grade(RIGHT)
    assert (graded.statuses, graded.points) == (["passed"] * 3, 3)


def test_a_wrong_answer_is_shown_its_smallest_failing_case(plain_room: Room) -> None:
    graded = plain_room.grade("def f(x):\n    return x * 2 if len(x) == 1 else x")
    assert graded.statuses == ["passed", "failed", "failed"]  # the double of 0 is 0
    assert graded.results[1].case == "two"
    assert graded.results[1].call == "f(x=tensor([1.0, -1.0]))"
    assert graded.results[1].returned == "tensor([1.0, -1.0])"


def test_the_same_answer_gets_the_same_results(plain_room: Room) -> None:
    source = """\
        class Mine: pass
        def f(x):
            print(Mine(), f, x)
            if x[0] == 1:
                raise ValueError(f"not {Mine()} but {f}")
            return Mine() if x[0] == 0 else {"a", "b", "c", "d"}
    """
    first = plain_room.grade(source)
    assert [plain_room.grade(source) for _ in range(3)] == [first] * 3
    fresh = Room(walled=False)
    try:
        assert fresh.grade(source) == first
    finally:
        fresh.cage.drop()


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([], "There is no `f`; its cell may have been deleted or renamed."),
        (["def g(x): return x"], "There is no `f`; its cell may have been deleted or renamed."),
        (["f = 3"], "The name `f` is defined, but it is not a function; its cell may have been deleted or renamed."),
        (
            ["", "def f(x):\n  retrun x"],
            "There is no `f`, because cell 2, line 2: SyntaxError: invalid syntax (retrun x).",
        ),
        (
            ["import nowhere\ndef f(x): return x"],
            "There is no `f`, because cell 1, line 1: ModuleNotFoundError: No module named 'nowhere' (import nowhere).",
        ),
    ],
    ids=["empty", "renamed", "no function", "syntax", "import"],
)
def test_where_there_is_no_function_every_check_says_why(plain_room: Room, sources: list[str], message: str) -> None:
    graded = plain_room.grade(*sources)
    assert graded.statuses == ["error"] * 3
    assert {result.message for result in graded.results} == {message}
    assert {result.call for result in graded.results} == {""}


def test_an_exception_is_shown_with_cell_line_and_text(plain_room: Room) -> None:
    graded = plain_room.grade("def helper(x):\n    return 1 / 0", "def f(x):\n    return helper(x)")
    assert graded.statuses == ["error"] * 3
    assert "ZeroDivisionError: division by zero (line 2 of cell 1: return 1 / 0)" in graded.message


def test_a_cell_that_fails_does_not_cost_the_others(plain_room: Room) -> None:
    graded = plain_room.grade("1 / 0", RIGHT, "y y")
    assert graded.points == 3
    assert [error.cell for error in graded.loaded.errors] == [1, 3]


def test_what_one_call_leaves_is_there_in_the_next(plain_room: Room) -> None:
    # As in a notebook: a wrong answer that keeps state between calls shows itself.
    graded = plain_room.grade("calls = []\ndef f(x):\n    calls.append(1)\n    return x * 2 if len(calls) < 4 else x")
    assert graded.statuses == ["passed", "failed", "failed"]


# ----------------------------------------------------------------------------- time

LOOPS = {
    "in a cell": "while True:\n    pass\n" + RIGHT,
    "in a call": "def f(x):\n    while True:\n        pass",
    "in C": "def f(x):\n    return sum(range(10**12))",
    "in a regular expression": "import re\ndef f(x):\n    return re.match('(a+)+$', 'a' * 40 + 'b')",
    "asleep": "import time\ndef f(x):\n    time.sleep(60)",
    "in the repr of what it returns": (
        "class Mine:\n    def __repr__(self):\n        while True: pass\ndef f(x):\n    return Mine()"
    ),
    "in the text of what it raises": (
        "class Mine(Exception):\n    def __str__(self):\n        while True: pass\ndef f(x):\n    raise Mine"
    ),
    "swallowing every exception": (
        "def f(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass"
    ),
    "deaf to every signal": (
        "import signal\nfor number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:\n"
        "    signal.signal(number, lambda *_: None)\ndef f(x):\n    while True: pass"
    ),
    "with all signals blocked": (
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))\ndef f(x):\n    while True: pass"
    ),
    "stopped": "import os, signal\ndef f(x):\n    os.kill(os.getpid(), signal.SIGSTOP)",
    "in what it returns": "def f(x):\n    y = [1.5]\n    for _ in range(11):\n        y = [y] * 50\n    return y",
    "in a destructor": (
        "class Mine:\n    def __del__(self):\n        while True: pass\ndef f(x):\n    Mine()\n    return x * 2"
    ),
}


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("source", LOOPS.values(), ids=LOOPS.keys())
def test_a_loop_ends_with_the_budget(room: Room, source: str) -> None:
    graded = room.grade(source, seconds=0.6, checks=1)
    assert graded.statuses == ["timeout"]
    honest(room)


def test_a_loop_in_one_check_leaves_time_for_the_others(plain_room: Room, leaping: Leaping) -> None:
    source = "def f(x):\n    if x[0] == 1:\n        loops()\n    return x * 2"
    graded = plain_room.grade(leaping.cell, source, seconds=60, checks=6)
    assert graded.statuses == ["passed", "timeout", "passed", "passed", "passed", "passed"]
    assert graded.results[1].message.startswith("No answer within 30 s: an endless loop, or far too slow.")


def test_loops_everywhere_cost_no_more_than_the_budget(plain_room: Room, leaping: Leaping) -> None:
    began = leaping.monotonic()
    graded = plain_room.grade(leaping.cell, "def f(x):\n    loops()", seconds=400, checks=12)
    assert 375 <= leaping.monotonic() - began < 400
    assert graded.statuses == ["timeout"] * MAX_TIMEOUTS + ["not_run"] * (12 - MAX_TIMEOUTS)
    assert [result.message.split(":")[0] for result in graded.results[:4]] == [
        "No answer within 200 s", "No answer within 100 s", "No answer within 50 s", "No answer within 25 s",
    ]  # fmt: skip
    assert graded.results[-1].message == "Not run, because the time for this submission was used up before."


def test_each_timeout_halves_what_the_next_check_may_take(plain_room: Room, leaping: Leaping) -> None:
    chosen = exercise(seconds=64)
    loop = [leaping.cell, "def f(x):\n    loops()"]
    runner = Runner(plain_room.cage.take, plain_room.cage.drop, cells(loop), chosen)
    try:
        allowed = []
        for check in chosen.checks:
            allowed.append(runner.allowance())
            runner.observe(check, check.cases[0])
    finally:
        runner.close()
    assert allowed == [32.0, 16.0, 8.0]


def test_a_loop_in_a_cell_is_said_once_for_all(plain_room: Room) -> None:
    graded = plain_room.grade("while True:\n    pass", seconds=0.6)
    assert graded.statuses == ["timeout"] * 3
    assert {result.message for result in graded.results} == {"Your cells did not finish within 0.3 s."}


def slowed(method: Callable[..., object], leaping: Leaping, seconds: float) -> Callable[..., object]:
    """Return the method, as it is where it takes so many seconds."""

    def slow(*args: object, **kwargs: object) -> object:
        done = method(*args, **kwargs)
        leaping.ahead += seconds
        return done

    return slow


def test_reading_the_cells_in_anew_has_a_time_of_its_own(
    plain_room: Room, leaping: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    # After three loops a check may take 15 s; these cells take longer, and were never the reason.
    monkeypatch.setattr(Session, "load", slowed(Session.load, leaping, 20.0))
    source = "def f(x):\n    if x[0] < 3:\n        loops()\n    return x * 2"
    graded = plain_room.grade(leaping.cell, source, seconds=240, checks=6)
    assert graded.statuses == ["timeout"] * 3 + ["passed"] * 3


def test_waiting_for_a_warm_process_is_not_the_students_time(
    plain_room: Room, leaping: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It takes longer to start than the submission may.
    monkeypatch.setattr(plain_room.cage, "take", slowed(plain_room.cage.take, leaping, 1000.0))
    assert plain_room.grade(RIGHT, seconds=60).points == 3


@pytest.fixture
def busy_room() -> Iterator[Room]:
    """A room on a processor that five others want as well: its code gets a sixth of it."""
    before = os.sched_getaffinity(0)
    with contextlib.ExitStack() as after:
        after.callback(os.sched_setaffinity, 0, before)
        os.sched_setaffinity(0, {min(before)})  # what is started now stays there
        room = Room(walled=True)
        after.callback(room.cage.drop)
        room.cage.take().ready()
        for _ in range(5):  # Linux may share a processor out among sessions, and the room is one
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
            after.callback(other.wait)
            after.callback(other.kill)
        os.sched_setaffinity(0, before)
        assert room.look("import os\ndef f(): return list(os.sched_getaffinity(0))") == [min(before)]
        yield room


WORKS = """\
    import time
    def work(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
"""


@pytest.mark.needs("bubblewrap")
def test_waiting_for_a_processor_is_not_the_students_time(busy_room: Room) -> None:
    # Some 7.2 s of wall clock each time, of the 6 s that there are; 4.8 s are left for a machine that stands still.
    works = "def f(x):\n    work(0.6)\n    return x * 2"
    assert busy_room.grade(WORKS, works, seconds=12, checks=1).statuses == ["passed"]
    assert busy_room.grade(WORKS, "work(1.2)", RIGHT, seconds=12, checks=1).statuses == ["passed"]


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("source", ["while True: pass", "time.sleep(9)", "work(0.1)\n        time.sleep(0.6)"])
def test_on_a_busy_machine_too_a_loop_ends_and_sleeping_costs_time(busy_room: Room, source: str) -> None:
    late = f"if True:\n    def f(x):\n        {source}\n        return x * 2"
    assert busy_room.grade(WORKS, late, seconds=2, checks=1).statuses == ["timeout"]


def ended_of_four_seconds(room: Room, *sources: str, checks: int) -> list[str]:
    """Return how the checks' first cases ended, where there are 4 s for them all and each may take more."""
    chosen = exercise(checks=checks)
    known = expected(chosen).checks
    one = asked(room, *sources, chosen=chosen)
    one._end = time.monotonic() + 4.0
    try:
        return [ends(one, check, known)[0] for check in chosen.checks]
    finally:
        one.close()


@pytest.mark.needs("bubblewrap")
def test_time_without_a_processor_is_not_the_end_of_a_submission(busy_room: Room) -> None:
    # 0.8 s of the 4 s that there are, in parts none of which is near its own limit.
    source = "def f(x):\n    work(0.004)\n    return x * 2"
    assert ended_of_four_seconds(busy_room, WORKS, source, checks=100) == [""] * 100


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("ends", ["os._exit(7)", "os.write(fd, b'zzzzzz')"])
def test_what_a_process_that_crashed_had_waited_costs_the_others_nothing(busy_room: Room, ends: str) -> None:
    channel = "import os\nfd = next(n for n in range(3, 64) if os.path.exists(f'/proc/self/fd/{n}'))\n"
    source = f"work(0.1)\ndef f(x):\n    if x[0] < 8:\n        {ends}; os._exit(7)\n    return x * 2"
    assert ended_of_four_seconds(busy_room, WORKS, channel, source, checks=10) == ["crashed"] * 8 + [""] * 2


def test_how_long_its_process_takes_to_end_is_not_the_students_time(
    plain_room: Room, leaping: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "end", slowed(Session.end, leaping, 100.0))  # twice that is more than there is
    source = "import os\ndef f(x):\n    if x[0] < 2:\n        os._exit(7)\n    return x * 2"
    assert plain_room.grade(source, seconds=60, checks=4).statuses == ["crashed"] * 2 + ["passed"] * 2


def test_one_that_closes_its_socket_and_lives_on_has_used_its_time(
    plain_room: Room, leaping: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Session.end

    def lived_on(session: Session, grace: float = 0.0) -> tuple[int | None, float]:
        status, _ = real(session, grace)
        leaping.ahead += 50.0
        return status, 50.0

    monkeypatch.setattr(Session, "end", lived_on)
    source = "import os\ndef f(x):\n    if x[0] < 9:\n        os._exit(7)\n    return x * 2"
    assert plain_room.grade(source, seconds=60, checks=10).statuses == ["crashed"] * 3 + ["not_run"] * 7


def test_an_end_is_put_off_once_where_what_was_answered_is_nonsense(
    plain_room: Room, leaping: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "end", slowed(Session.end, leaping, 100.0))
    chosen = exercise(seconds=20, checks=2)
    one = asked(plain_room, "def f(x):\n    return [0] * 25_000 if x[0] == 0 else x * 2", chosen=chosen)
    began, known = leaping.monotonic(), expected(chosen).checks
    try:
        assert ends(one, chosen.checks[0], known)[0] == "crashed"
        assert ends(one, chosen.checks[1], known) == ["", ""]
        assert began + 40 + 100 <= one._end < began + 40 + 190
    finally:
        one.close()


def answers_here(session: Session) -> int:
    """Return how many of a submission's answers have come and were not read yet."""
    session._sock.settimeout(0.0)
    try:
        data = session._sock.recv(2**20, socket.MSG_PEEK)
    except BlockingIOError:
        data = b""
    data, count = bytes(session._reader._buffer) + data, 0
    while len(data) > 4 and len(data) >= (size := 4 + int.from_bytes(data[:4], "big")):
        data, count = data[size:], count + 1
    return count


def test_what_was_answered_in_time_counts_however_late_it_is_read(
    plain_room: Room, leaping: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Session.next_answer
    answered = 12

    def held_up(session: Session, check: str, number: int, deadline: float) -> tuple[bytes, str]:
        if (check, number) == ("0", 1):
            while answers_here(session) < answered - 1:
                time.sleep(0.01)
            leaping.ahead += 1000.0  # the grader, not the submission
        return real(session, check, number, deadline)

    monkeypatch.setattr(Session, "next_answer", held_up)
    assert plain_room.grade(RIGHT, seconds=60, checks=6).statuses == ["passed"] * 6
    late = "import time\ndef f(x):\n    if x[0] == 3:\n        time.sleep(600)\n    return x * 2"
    answered = 6
    monkeypatch.setattr(Waiting, "more", lambda *_: 0.0)  # nothing is put off
    monkeypatch.setattr(Waiting, "counted", lambda *_: 0.0)
    graded = plain_room.grade(late, seconds=60, checks=6)
    assert graded.statuses == ["passed"] * 3 + ["not_run"] * 3
    assert {result.message for result in graded.results[3:]} == {
        "Not run, because the time for this submission was used up before."
    }


def test_once_the_time_is_used_up_nothing_is_run_any_more(plain_room: Room) -> None:
    chosen = exercise(checks=4)
    runner = asked(plain_room, RIGHT, chosen=chosen)
    known = expected(chosen).checks
    try:
        assert ends(runner, chosen.checks[0], known) == ["", ""]
        end, runner._end, runner._asked = runner._end, 0.0, ()
        assert ends(runner, chosen.checks[1], known)[0] == "not_run"
        runner._end = end  # as where the clock was read twice
        assert [ends(runner, check, known)[0] for check in chosen.checks[2:]] == ["not_run"] * 2
    finally:
        runner.close()


def test_waiting_is_granted_for_ten_budgets_of_a_submission_in_all(
    plain_room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = iter(range(1, 10**6))
    monkeypatch.setattr(waiting, "waited", lambda process: float(next(waited)))  # a second more at each look
    granted, left = [], []
    real = Session._put

    def put(session: Session, more: float) -> float:
        granted.append(real(session, more))
        left.append(session.patience)
        return more

    monkeypatch.setattr(Session, "_put", put)
    source = "import os\ndef f(x):\n    while x[0] < 3:\n        pass\n    os._exit(0)"
    # What comes after that has no patience left: how it fares is up to the machine.
    assert plain_room.grade(source, seconds=0.4, checks=6).statuses[0] == "timeout"
    assert sum(granted) <= MOST_WAITING * 0.4
    assert left[-1] < waiting.NOTICED  # the rest of it is what the ending of processes took


@pytest.mark.parametrize(
    ("cells_too", "said"),
    [
        (False, "no answer before the 40 s for the whole submission were over: it, or what ran before, is"),
        (True, "your cells did not finish before the 40 s for the whole submission were over"),
    ],
)
def test_what_is_too_slow_as_a_whole_is_said_so(plain_room: Room, tmp_path: Path, cells_too: bool, said: str) -> None:
    begun = f"import os, time\nbegun = os.path.exists({str(tmp_path / 'begun')!r})\n"
    begun += f"open({str(tmp_path / 'begun')!r}, 'w').close()\n"
    slow = "def f(x):\n    time.sleep(float(x[0]) * 9)\n    return x * 2"  # from the second check on
    sources = [begun, "time.sleep(9 * begun)\ndef f(x):\n    os._exit(1)"] if cells_too else [begun, slow]
    chosen = exercise(seconds=20, checks=3)
    known = expected(chosen).checks
    one = asked(plain_room, *sources, chosen=chosen)
    try:
        one.answers(chosen.checks[0], known["0"]).read(0)
        one._end = time.monotonic() + 1.0  # as if 39 s of the 40 had been used
        late = one.answers(chosen.checks[1], known["1"]).read(0)
        assert (late.ended, late.detail[: len(said)]) == ("timeout", said)
        last = one.answers(chosen.checks[2], known["2"]).read(0)
        assert last.ended == ("timeout" if cells_too else "not_run")
    finally:
        one.close()


def test_a_large_notebook_is_sent_to_one_that_has_no_processor(
    plain_room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = RIGHT + f"text = '{'x' * 2**22}'\n"
    monkeypatch.setattr(waiting, "waited", lambda process: 60.0)
    monkeypatch.setattr(Waiting, "_goes_on", lambda *_: 0.0)
    session = plain_room.cage.take().session()
    try:  # the deadline is over before anything can be sent
        assert session.load(cells([source]), "f", (), time.monotonic()).callable
        with pytest.raises(frames.Late):
            session.load(cells([source]), "f", (), time.monotonic())
    finally:
        session.end()


# --------------------------------------------------------------------------- memory

BOMBS = {
    "a list": "def f(x):\n    return [0] * 10**9",
    "a list that grows": "def f(x):\n    y = []\n    while True:\n        y.extend([None] * 10**6)",
    "many small objects": "def f(x):\n    y = []\n    while True:\n        y.append(bytes(5000))",
    "a tensor": "import torch\ndef f(x):\n    return torch.ones(10**9)",
    "tensors": "import torch\ndef f(x):\n    y = []\n    while True:\n        y.append(torch.ones(10**6))",
    "an array": "import numpy\ndef f(x):\n    return numpy.ones(10**9)",
    "a text": "def f(x):\n    y = 'x'\n    while True:\n        y += y",
    "an integer": "def f(x):\n    return 1 << 10**10",
    "a shared mapping": "import mmap\ndef f(x):\n    y = mmap.mmap(-1, 3 * 2**30)\n    return y.size()",
    "in a cell": "y = [0] * 10**9\n" + RIGHT.replace("x * 2", "y"),
    "an exception with a huge text": "def f(x):\n    raise ValueError('x' * (300 * 2**20))",
    "a return that does not fit": "def f(x):\n    return [str(n) * 30 for n in range(10**6)]",
}


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("source", BOMBS.values(), ids=BOMBS.keys())
def test_memory_is_limited(room: Room, source: str) -> None:
    graded = room.grade(source, seconds=120, checks=1)
    assert graded.statuses[0] in {"memory", "error", "crashed", "failed"}
    assert graded.points == 0
    honest(room)


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("name", ["a list", "a tensor", "an array", "many small objects", "a text"])
def test_running_out_of_memory_is_said(room: Room, name: str) -> None:
    graded = room.grade(BOMBS[name], seconds=120, checks=1)
    assert graded.statuses == ["memory"]
    assert graded.message.startswith("It ran out of memory (line ")


@pytest.mark.needs("bubblewrap")
def test_an_answer_that_does_not_fit_is_said(room: Room) -> None:
    graded = room.grade("def f(x):\n    return [str(n) * 30 for n in range(2 * 10**5)]", seconds=120, checks=1)
    assert graded.message.startswith("It returned more than can be compared: over 16 MiB.")


def test_what_is_shown_of_a_huge_value_is_bounded(plain_room: Room) -> None:
    graded = plain_room.grade("def f(x):\n    return {str(n): n for n in range(10**4)}", checks=1)
    assert graded.statuses == ["failed"]
    assert len(graded.message) <= 8_000
    assert len(graded.results[0].returned) <= 8_000


# ------------------------------------------------------------------------------ ends

ENDS = {
    "exit 3, as after an error": ("import os\ndef f(x):\n    os._exit(3)", "with status 3"),
    "exit 0 in a call": ("import os\ndef f(x):\n    os._exit(0)", "exited by itself, with status 0"),
    "exit 7 in a call": ("import os\ndef f(x):\n    os._exit(7)", "exited by itself, with status 7"),
    "exit in a cell": ("import os\nos._exit(5)", "exited by itself, with status 5 while your cells ran"),
    "a segmentation fault": ("import ctypes\ndef f(x):\n    ctypes.string_at(0)", "ended by SIGSEGV"),
    "an abort": ("import os\ndef f(x):\n    os.abort()", "ended by SIGABRT"),
    "a signal": ("import os\ndef f(x):\n    os.kill(os.getpid(), 9)", "ended by SIGKILL"),
    "a signal to its group": ("import os\ndef f(x):\n    os.kill(0, 15)", "ended by SIGTERM"),
    "an interrupt": ("import os\ndef f(x):\n    os.kill(os.getpid(), 2)\n    while True: pass", "ended by SIGINT"),
    "a limit of its own": (
        "import resource\ndef f(x):\n    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\n    while True: pass", "SIG",
    ),
    "closing its socket": ("import os\ndef f(x):\n    os.closerange(3, 64)\n    while True: pass", "cut its conn"),
    "a system call of an attack": ("import ctypes\ndef f(x):\n    ctypes.CDLL(None).ptrace(0, 0, 0, 0)", "by SIGSYS"),
}  # fmt: skip


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(("source", "words"), ENDS.values(), ids=ENDS.keys())
def test_a_process_that_ends_earns_nothing_and_it_is_said_how(room: Room, source: str, words: str) -> None:
    graded = room.grade(source, seconds=60, checks=2)
    assert graded.statuses == ["crashed"] * 2
    assert words in graded.message
    honest(room)


@pytest.mark.needs("bubblewrap")
def test_a_process_that_ends_in_one_check_is_there_for_the_others(room: Room) -> None:
    graded = room.grade("import os\ndef f(x):\n    if x[0] == 1:\n        os._exit(0)\n    return x * 2")
    assert graded.statuses == ["passed", "crashed", "passed"]


@pytest.mark.needs("bubblewrap")
def test_how_a_process_ended_does_not_depend_on_luck(room: Room) -> None:
    messages = {room.grade(ENDS["exit 7 in a call"][0], checks=4).message for _ in range(5)}
    assert len(messages) == 1


RAISED = {
    "sys.exit": ("import sys\ndef f(x):\n    sys.exit('done')", "SystemExit: done"),
    "recursion": ("def f(x):\n    return f(x)", "RecursionError"),
    "a text that fails": (
        "class Mine(Exception):\n    def __str__(self):\n        raise ValueError\ndef f(x):\n    raise Mine", "Mine",
    ),
    "a text that is no text": (
        "class Mine(Exception):\n    def __str__(self):\n        return 5\ndef f(x):\n    raise Mine", "Mine",
    ),
    "a BaseException": ("class Mine(BaseException): pass\ndef f(x):\n    raise Mine('m')", "Mine: m"),
    "a group": ("def f(x):\n    raise ExceptionGroup('g', [ValueError('a')])", "ExceptionGroup: g (1 sub-exception)"),
    "half a character": ("def f(x):\n    raise ValueError('\\ud800')", "ValueError: \ud800"),
    "control characters": ("def f(x):\n    raise ValueError('\\x1b[2J\\0')", "ValueError: \x1b[2J\0"),
    "a class with a long name": ("Mine = type('M' * 10**5, (Exception,), {})\ndef f(x):\n    raise Mine", "M" * 100),
}  # fmt: skip


@pytest.mark.parametrize(("source", "words"), RAISED.values(), ids=RAISED.keys())
def test_what_it_raises_is_an_error_of_that_check(plain_room: Room, source: str, words: str) -> None:
    graded = plain_room.grade(source)
    assert graded.statuses == ["error"] * 3
    assert words in graded.message
    assert len(graded.message) < 1_000


VANDALISM = {
    "no builtins": "del __builtins__",
    "no len": "import builtins\ndel builtins.len",
    "builtins that lie": "import builtins\nbuiltins.isinstance = lambda *_: True",
    "no json": "import json\njson.dumps = json.loads = None",
    "no socket": "import socket\nsocket.socket.sendall = socket.socket.recv = None",
    "no modules": "import sys\nsys.modules.clear()",
    "a profiler that exits": "import os, sys\nsys.setprofile(lambda *_: os._exit(0))",
    "a deep stack": "import sys\nsys.setrecursionlimit(10**9)\ndef g(n):\n    return [g(n + 1)]\ng(0)",
    "a deep stack in C": "import sys\nsys.setrecursionlimit(10**9)\nx = []\nfor _ in range(10**6): x = [x]\nrepr(x)",
    "no exit": "import os\nos._exit = lambda status: None\nraise SystemExit",
    "other streams": "import sys\nsys.stdout = sys.stderr = None",
    "no garbage collection": "import gc\ngc.disable(); gc.freeze()",
}


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("cell", VANDALISM.values(), ids=VANDALISM.keys())
def test_breaking_the_process_helps_nobody(room: Room, cell: str) -> None:
    graded = room.grade(cell, "def f(x):\n    return x * 3", seconds=5)  # some answer nothing any more
    assert set(graded.statuses[1:]) <= NEVER_PASSED
    assert graded.points <= 1  # three times 0 is right
    honest(room)


@pytest.mark.needs("bubblewrap")
def test_a_flood_of_output_costs_only_its_time(room: Room) -> None:
    source = """\
        import os, sys
        def f(x):
            for _ in range(20_000):
                print("x" * 1000)
                sys.stderr.write("y" * 1000)
                os.write(1, b"z" * 1000)
                os.write(2, b"z" * 1000)
            return x * 2
    """
    assert room.grade(source, checks=1).points == 1


# --------------------------------------------------------------------- values that lie

LIES = {
    "always equal": "class Mine:\n    __eq__ = lambda *_: True\n    __hash__ = None\ndef f(x):\n    return Mine()",
    "a float if asked": (
        "class Mine:\n    __float__ = lambda self: 0.0\n    __index__ = lambda self: 0\n"
        "    __iter__ = lambda self: iter([])\ndef f(x):\n    return Mine()"
    ),
    "a class that lies": (
        "import torch\nclass Mine:\n    __class__ = property(lambda self: torch.Tensor)\ndef f(x):\n    return Mine()"
    ),
    "a repr that lies": "class Mine:\n    __repr__ = lambda self: 'tensor([2., -2.])'\ndef f(x):\n    return Mine()",
    "a type name that lies": "Mine = type('Tensor', (), {'__eq__': lambda *_: True})\ndef f(x):\n    return Mine()",
    "a float subclass": "class Mine(float):\n    __eq__ = lambda *_: True\ndef f(x):\n    return Mine(2)",
    "an int subclass": "class Mine(int):\n    __eq__ = lambda *_: True\ndef f(x):\n    return Mine(2)",
    "a list subclass": (
        "class Mine(list):\n    __eq__ = lambda *_: True\n    __len__ = lambda self: 2\ndef f(x):\n    return Mine([x])"
    ),
    "a tuple subclass": "class Mine(tuple):\n    __eq__ = lambda *_: True\ndef f(x):\n    return Mine([x])",
    "a dict subclass": "class Mine(dict):\n    __eq__ = lambda *_: True\ndef f(x):\n    return Mine(a=x)",
    "a text subclass": "class Mine(str):\n    __eq__ = lambda *_: True\ndef f(x):\n    return Mine('tensor([2.])')",
    "a tensor subclass": (
        "import torch\nclass Mine(torch.Tensor):\n    __eq__ = lambda *_: True\n    __hash__ = None\n"
        "    tolist = lambda self: [self]\ndef f(x):\n    return x.as_subclass(Mine)"
    ),
    "a tensor that answers for torch": (
        "import torch\nclass Mine(torch.Tensor):\n    @classmethod\n"
        "    def __torch_function__(cls, *_): return True\ndef f(x):\n    return x.as_subclass(Mine)"
    ),
    "the input itself": "def f(x):\n    return x",
    "the input doubled in place": "def f(x):\n    return x.mul_(2)",
    "a future": "import concurrent.futures\ndef f(x):\n    return concurrent.futures.Future()",
    "a coroutine": "async def f(x):\n    return x * 2",
    "a generator": "def f(x):\n    yield x * 2",
    "NotImplemented": "def f(x):\n    return NotImplemented",
    "an exception that is returned": "def f(x):\n    return ValueError()",
    "patched comparisons": (
        "import math, torch\ntorch.allclose = torch.equal = math.isclose = lambda *_, **__: True\n"
        "def f(x):\n    return x"
    ),
    "patched judging": (
        "import sys\nfor name in ('checks', 'values', 'observations', 'scenarios', 'models'):\n"
        "    module = sys.modules['autograder.' + name]\n    for key in ('differ', 'close', 'judge_check', 'digest'):\n"
        "        setattr(module, key, lambda *_, **__: None)\ndef f(x):\n    return x"
    ),
}


@pytest.mark.parametrize("source", LIES.values(), ids=LIES.keys())
def test_a_value_that_lies_earns_nothing(plain_room: Room, source: str) -> None:
    graded = plain_room.grade(source)
    # Of 0 the first check asks the double, which some of these are right about.
    assert set(graded.statuses[1:]) <= {"failed", "error", "crashed"}


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ndef f(x):\n    return torch.nn.Parameter(x * 2)",
        "import torch\nclass Mine(torch.Tensor): pass\ndef f(x):\n    return (x * 2).as_subclass(Mine)",
        "def f(x):\n    return (x * 2).requires_grad_()",
        "import torch\ndef f(x):\n    with torch.inference_mode():\n        return x * 2",
        "import numpy as np, torch\ndef f(x):\n    return torch.from_numpy(np.asarray(x) * np.float32(2))",
        "class F:\n    def __call__(self, x):\n        return x * 2\nf = F()",
        "import functools\nf = functools.partial(lambda k, x: k * x, 2)",
    ],
    ids=["parameter", "subclass", "requires grad", "inference", "numpy", "object", "partial"],
)
def test_a_value_that_is_what_it_says_is_taken(plain_room: Room, source: str) -> None:
    assert plain_room.grade(source).points == 3


# ------------------------------------------------------------------------ without walls


def test_without_walls_only_the_child_itself_is_ever_killed(plain_room: Room) -> None:
    facts = plain_room.cage.take().ready()
    assert facts["owns_pid_namespace"] is False
    assert plain_room.cage.take().layers() == ("rlimits",)


def test_without_walls_nothing_is_deleted(plain_room: Room, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("mine")
    assert plain_room.grade(RIGHT).points == 3
    assert kept.read_text() == "mine"


def test_without_walls_the_rest_is_the_same(plain_room: Room, leaping: Leaping) -> None:
    loop = "def f(x):\n    if x[0] == 0:\n        loops()\n    return x * 2"
    assert plain_room.grade(leaping.cell, loop).statuses == ["timeout", "passed", "passed"]
    assert plain_room.grade(RIGHT).points == 3


# --------------------------------------------------------------------------- our faults


def test_a_process_that_cannot_be_started_is_an_error_of_ours() -> None:
    def take() -> Zygote:
        raise SandboxError("no room")

    chosen = exercise()
    runner = Runner(take, lambda: None, cells([RIGHT]), chosen)
    with pytest.raises(SandboxError, match="no room"):
        runner.observe(chosen.checks[0], chosen.checks[0].cases[0])
    runner.close()


def test_closing_a_run_that_never_began_is_harmless(plain_room: Room) -> None:
    Runner(plain_room.cage.take, plain_room.cage.drop, cells([RIGHT]), exercise()).close()


@pytest.mark.parametrize(
    ("raised", "line"),
    [
        (Raised("E", "m", 3, 7, "x = y"), "cell 3, line 7: E: m (x = y)"),
        (Raised("E", "", None, 7, ""), "line 7: E"),
        (Raised("E", "m", 3), "cell 3, E: m"),
        (Raised("E", ""), "E"),
    ],
)
def test_an_exception_and_its_place_in_one_line(raised: Raised, line: str) -> None:
    assert place(raised) == line


# ------------------------------------------------------------------- a lost process

STAYS = """\
    import ctypes, os
    def f(x):
        ctypes.CDLL(None).shmget(0, 4096, 0o1666)  # outlives its process, so the warm process is of no more use
        os._exit(0)
"""
DEEP = """\
    import os
    os.chdir("/scratch")
    for _ in range(1500):
        os.mkdir("d"); os.chdir("d")
    def f(x):
        os._exit(0)
"""


@pytest.mark.needs("bubblewrap")
def test_after_two_lost_processes_the_rest_is_not_run(open_room: Room) -> None:
    before = open_room.cage.dropped
    graded = open_room.grade(STAYS, seconds=20, checks=6)
    assert graded.statuses == ["crashed"] * MAX_LOST + ["not_run"] * (6 - MAX_LOST)
    assert open_room.cage.dropped - before == MAX_LOST == 2
    assert graded.results[-1].message == "Not run, because the process that runs it was lost 2 times before."
    honest(open_room)


@pytest.mark.needs("bubblewrap")
def test_what_was_lost_before_counts(open_room: Room) -> None:
    chosen, before = exercise(seconds=20), open_room.cage.dropped
    runner = Runner(open_room.cage.take, open_room.cage.drop, cells([STAYS]), chosen, lost=1)
    try:
        ends = [runner.observe(check, check.cases[0]).ended for check in chosen.checks]
    finally:
        runner.close()
    assert ends == ["crashed", "not_run", "not_run"]
    assert open_room.cage.dropped - before == 1


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("which", ["room", "open_room"], ids=["all layers", "outer layers"])
def test_a_deep_tree_of_folders_costs_no_process(which: str, request: pytest.FixtureRequest) -> None:
    room: Room = request.getfixturevalue(which)
    honest(room)
    before = room.cage.take()
    assert room.grade(DEEP, seconds=20, checks=4).statuses == ["crashed"] * 4
    assert room.cage.take() is before
    honest(room)


# --------------------------------------------------------------- a check at a time

COUNTS = """    import os, torch
    calls = []
    def f(x):
        calls.append(1)
        {then}
        return x * 2
"""


def asked(room: Room, *sources: str, chosen: Exercise) -> Runner:
    known = questions(chosen.checks, expected(chosen).checks, STUDENT)
    return Runner(room.cage.take, room.cage.drop, cells(sources), chosen, 0, known)


def ends(runner: Runner, check: Check, known: Mapping[str, Expected]) -> list[str]:
    answers = runner.answers(check, known[check.id])
    return [answers.read(number).ended for number in range(len(check.cases))]


def several(cases: int, checks: int, seconds: float = PATIENT, forbids: tuple[str, ...] = ()) -> Exercise:
    base = exercise(seconds=seconds, checks=checks)
    inputs = tuple(case(f"case {n}", x=f32(float(n))) for n in range(cases))
    return replace(base, forbids=forbids, checks=tuple(replace(check, cases=inputs) for check in base.checks))


@pytest.mark.parametrize(
    ("then", "marks", "after"),
    [
        ("pass", ["", "", ""], ["", "", ""]),
        ("if len(calls) == 2: 1 / 0", ["", "", ""], ["", "", ""]),
        ("if len(calls) == 2: os._exit(7)", ["", "crashed", "not_run"], ["", "crashed", "not_run"]),
        ("if len(calls) == 2: loops()", ["", "timeout", "not_run"], ["", "timeout", "not_run"]),
        ("if len(calls) == 5: os._exit(7)", ["", "", ""], ["", "crashed", "not_run"]),
    ],
)
def test_a_case_that_ends_the_process_ends_its_check_and_no_other(
    plain_room: Room, leaping: Leaping, then: str, marks: list[str], after: list[str]
) -> None:
    chosen = several(cases=3, checks=3)
    runner = asked(plain_room, leaping.cell, COUNTS.format(then=then), chosen=chosen)
    known = expected(chosen).checks
    try:
        found = [ends(runner, check, known) for check in chosen.checks]
    finally:
        runner.close()
    # Read in anew after it, the code counts from the beginning.
    assert found[:2] == [marks, after]


def test_a_forbidden_name_ends_its_check_and_the_next_ones_say_so_too(plain_room: Room) -> None:
    chosen = several(cases=3, checks=2, forbids=("torch.amp.GradScaler",))
    source = COUNTS.format(then="if len(calls) == 2: getattr(torch.amp, 'Grad' + 'Scaler')('cpu')")
    runner = asked(plain_room, source, chosen=chosen)
    known = expected(chosen).checks
    try:
        found = [ends(runner, check, known) for check in chosen.checks]
    finally:
        runner.close()
    assert found == [["", "forbidden", "not_run"], ["forbidden", "not_run", "not_run"]]


def test_equal_answers_have_equal_digests_and_what_was_cut_short_has_those_that_came(
    plain_room: Room, leaping: Leaping
) -> None:
    chosen = several(cases=3, checks=1)
    (check,), known = chosen.checks, expected(chosen).checks
    digests = []
    for source in ("return x * 2", "return x + x", "return x * 3", "return x * 2 if x[0] < 1 else f(x)"):
        runner = asked(plain_room, f"def f(x):\n    {source}", chosen=chosen)
        try:
            digests.append(runner.answers(check, known[check.id]).digests)
        finally:
            runner.close()
    assert digests[0] == digests[1]
    assert [len(set(pair)) for pair in zip(digests[0], digests[2], strict=True)] == [1, 2, 2]  # 3 * 0 is 2 * 0
    loop = "def f(x):\n    if x[0] > 1: loops()\n    return x * 2"
    runner = asked(plain_room, leaping.cell, loop, chosen=chosen)
    try:
        assert runner.answers(check, known[check.id]).digests == digests[0][:2]
    finally:
        runner.close()


def test_checks_are_run_in_their_order(plain_room: Room) -> None:
    chosen = several(cases=1, checks=3)
    known = expected(chosen).checks
    runner = asked(plain_room, RIGHT, chosen=chosen)
    try:
        runner.answers(chosen.checks[0], known[chosen.checks[0].id])
        with pytest.raises(ValueError, match="in their order"):
            runner.answers(chosen.checks[2], known[chosen.checks[2].id])
    finally:
        runner.close()


def test_what_one_submission_does_to_its_inputs_the_next_one_does_not_see(plain_room: Room) -> None:
    spoils = "def f(x):\n    y = x * 2\n    x.fill_(99)\n    return y"
    first = plain_room.grade(spoils)
    again = plain_room.grade(spoils)
    assert first.statuses == again.statuses
    assert plain_room.grade(RIGHT).points == 3
