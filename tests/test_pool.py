"""The pool of grading processes: order, a slow one, one that dies, how they end, and what they import."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import stand_in
import tiny_exercise

from autograder import catalog
from autograder.collect import handed_in
from autograder.errors import CourseError
from autograder.gradebook import read_scores, url_of
from autograder.models import Reference
from autograder.notebooks import submission_notebook
from autograder.pipeline import Class, Graded, Output, grade_class
from autograder.plan import Plan
from autograder.pool import Process, Worker, how_many
from autograder.reference.expectations import Expectations

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    exercise = catalog.load("halve", tiny_exercise.write(tmp_path_factory.mktemp("course")))
    return Plan(exercise, Expectations("seed:1", Reference("solutions/halve.py", "cpu", ""), {}))


class Processes(Class):
    """Real grading processes, which do what the submission's code says in the place of running it."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self._pids: list[int] = []

    def _started(self) -> Worker:
        one = Process(walled=False, start=stand_in.START)
        self._pids.append(one._process.pid)
        return one

    def all(self, expected: int) -> set[int]:
        """Return its processes and their confined ones, once there are as many; one may be starting still.

        What else is below this process, such as another test's browser, is none of them.
        """
        until = time.monotonic() + 60.0
        while len(found := self._found()) != expected and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.2)  # and were there too many, they would be there by then
        return self._found() if len(found) == expected else found

    def _found(self) -> set[int]:
        there = [pid for pid in self._pids if alive(pid)]
        return {*there, *(pid for each in there for pid in below(each))}


@pytest.fixture
def two() -> Iterator[Processes]:
    with Processes(workers=2, walled=False) as workers:
        yield workers


def hand_in(plan: Plan, tree: Path, *sources: str) -> Path:
    for number, source in enumerate(sources):
        path = tree / f"s{number:02}" / "halve" / "halve.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(submission_notebook(plan.exercise, source))
    return tree


def out_of(folder: Path) -> Output:
    return Output(folder, url_of(folder / "gradebook.db"))


def graded(workers: Class, plan: Plan, tree: Path, folder: Path, **more: Any) -> list[Any]:
    return grade_class(workers, handed_in(tree, ["halve"]), {"halve": plan}, out_of(folder), **more)


def below(pid: int) -> list[int]:
    """Return all processes below one."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    parents.setdefault(int(parent), []).append(int(entry.name))
    found, new = [], [pid]
    while new:
        new = [child for each in new for child in parents.get(each, [])]
        found += new
    return found


def gone(pids: list[int], seconds: float = 120.0) -> bool:
    """Wait until none of these processes is there."""
    until = time.monotonic() + seconds
    while any(alive(pid) for pid in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def interrupted(
    arguments: list[str | Path],
    moment: Callable[[int], bool],
    *sent: signal.Signals,
    off: tuple[signal.Signals, ...] = (),
    **environment: str,
) -> tuple[int, str]:
    """Start a command, send signals at a moment of its process, and return its exit status and what it said.

    ``sent`` is Ctrl-C where it is not given; signals in ``off`` are switched off for the command, as nohup does.
    """
    command = [sys.executable, "-m", "autograder", *map(str, arguments)]
    # A shell that starts tests in the background switches Ctrl-C off, for all below it.
    start = (
        "import os, signal, sys\n"
        "for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:\n"
        f"    signal.signal(number, signal.SIG_IGN if number in {[int(each) for each in off]} else signal.SIG_DFL)\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    env = {**os.environ, "NO_COLOR": "1", **environment}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(
        [sys.executable, "-c", start, *command], cwd=Path(__file__).parents[1], env=env, **pipes
    ) as process:
        try:
            until = time.monotonic() + 60
            while not moment(process.pid):
                assert process.poll() is None, process.stderr.read() if process.stderr else ""
                assert time.monotonic() < until
                time.sleep(0.01)
            mine = below(process.pid)
            for each in sent or (signal.SIGINT,):
                process.send_signal(each)
            _, said = process.communicate(timeout=60)
            assert gone(mine)
        finally:
            process.kill()
    return process.returncode, said


# ------------------------------------------------------------------------ what they do


def test_results_are_in_order_and_a_slow_one_delays_nobody(two: Processes, plan: Plan, tmp_path: Path):
    gate = tmp_path / "gate"
    tree = hand_in(plan, tmp_path / "in", f"wait {gate}", *["pass"] * 30)
    pages = tmp_path / "out" / "feedback"
    seen: list[Graded] = []
    arrived = two.stream

    def watched(*args: Any) -> Any:
        jobs, orders, note = args

        def noted(task: Any, done: Any) -> Any:
            result = note(task, done)
            if len(list(pages.glob("*/halve/halve.html"))) == 30:
                gate.write_text("")  # all others are graded, those that were given to the slow one's worker too
            return result

        yield from arrived(jobs, orders, noted)

    two.stream = watched  # type: ignore[method-assign]
    rows = graded(two, plan, tree, tmp_path / "out", on_result=seen.append)
    assert [row.student for row in rows] == [f"s{n:02}" for n in range(31)]
    assert {row.status for row in rows} == {"graded"}
    assert [one.row for one in seen] == rows
    book = read_scores(out_of(tmp_path / "out").gradebook)
    assert [row["student"] for row in book] == [row.student for row in rows]


def test_a_worker_that_is_killed_is_replaced_and_its_task_given_out_once_more(
    two: Processes, plan: Plan, tmp_path: Path
):
    tree = hand_in(plan, tmp_path / "in", "pass", f"die once {tmp_path / 'died'}", *["pass"] * 8)
    rows = graded(two, plan, tree, tmp_path / "out")
    assert (tmp_path / "died").exists()
    assert [row.status for row in rows] == ["graded"] * 10
    # Two workers, each with what stands for its confined process, and nothing of the one that died.
    assert len(two.all(2 + 2)) == 2 + 2


def test_what_kills_two_workers_says_so_and_the_others_are_graded(two: Processes, plan: Plan, tmp_path: Path):
    tree = hand_in(plan, tmp_path / "in", "pass", "die", "pass", "die", "pass")
    for _ in range(2):
        rows = graded(two, plan, tree, tmp_path / "out")
        assert [row.status for row in rows] == ["graded", "unreadable", "graded", "unreadable", "graded"]
        assert rows[1].reason.startswith("the grading process ended twice while this was graded; ")
        assert "grade it again" in (tmp_path / "out/feedback/s01/halve/halve.html").read_text()
    waits = {row["student"] for row in read_scores(out_of(tmp_path / "out").gradebook) if row["needs_manual_grade"]}
    assert waits == {"s01", "s03"}


def test_workers_that_cannot_even_start_end_the_run_in_one_sentence(plan: Plan, tmp_path: Path):
    class Broken(Class):
        def _started(self) -> Worker:
            return Process(walled=False, start="raise SystemExit(3)")

    said = r"the grading processes end by themselves; .*--workers"
    with Broken(workers=2, walled=False) as workers, pytest.raises(CourseError, match=said):
        graded(workers, plan, hand_in(plan, tmp_path / "in", "pass"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_exercise_that_was_changed_meanwhile_is_not_graded(two: Processes, plan: Plan, tmp_path: Path):
    other = replace(plan, exercise=replace(plan.exercise, version="0123"))
    tree = hand_in(plan, tmp_path / "in", "pass")
    with pytest.raises(CourseError) as caught:
        grade_class(two, handed_in(tree, ["halve"]), {"halve": other}, out_of(tmp_path / "out"))
    assert f"{plan.exercise.folder}: the exercise was changed while the class was graded (it was 0123, and is" in str(
        caught.value
    )
    assert "\n" not in str(caught.value)


def test_a_submission_larger_than_a_socket_takes_waits_for_a_worker_that_is_free(
    two: Processes, plan: Plan, tmp_path: Path
):
    large = "pass\n" + "# " + "x" * 900_000
    tree = hand_in(plan, tmp_path / "in", *["sleep 0.05", large, "pass"] * 4)
    rows = graded(two, plan, tree, tmp_path / "out")
    assert [row.status for row in rows] == ["graded"] * 12


# ------------------------------------------------------------------------- how many


def test_asking_for_the_layers_starts_one_and_start_starts_all():
    with Processes(workers=3, walled=False) as workers:
        assert workers.layers() == ("bubblewrap",)
        assert len(workers.all(2)) == 2
        workers.start()
        assert len(workers.all(6)) == 6
        workers.start(2)
        assert len(workers.all(6)) == 6


@pytest.mark.parametrize(("changed", "started"), [(1, 1), (2, 2), (7, 3)])
def test_no_more_processes_start_than_there_are_tasks(plan: Plan, tmp_path: Path, changed: int, started: int):
    tree, folder = hand_in(plan, tmp_path / "in", *["pass"] * 9), tmp_path / "out"
    with Processes(workers=1, walled=False) as workers:
        graded(workers, plan, tree, folder)
    meet = f"meet {tmp_path / 'busy'} {started}"  # all of them wait until so many are at it at once
    hand_in(plan, tmp_path / "new", *[meet] * changed)
    for number in range(changed):
        name = f"s{number:02}/halve/halve.ipynb"
        (tree / name).write_text((tmp_path / "new" / name).read_text())
    seen: list[Graded] = []
    with Processes(workers=3, walled=False) as workers:
        graded(workers, plan, tree, folder, on_result=seen.append)
        assert len(workers.all(2 * started)) == 2 * started
    assert [one.reused for one in seen] == [False] * changed + [True] * (9 - changed)


def test_all_start_at_once_where_everything_is_to_be_graded(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[int] = []
    real = Processes.start

    def start(self: Processes, at_least: int = 0) -> None:
        asked.append(at_least)
        real(self, at_least)

    monkeypatch.setattr(Processes, "start", start)
    tree = hand_in(plan, tmp_path / "in", "pass", "pass")
    (tmp_path / "out").mkdir()
    for more in ({}, {"force": True}):
        asked.clear()
        with Processes(workers=2, walled=False) as workers:
            graded(workers, plan, tree, tmp_path / "out", **more)
        assert asked[0] == 0


def test_a_process_that_dies_before_all_are_there_is_replaced_and_counted_once(plan: Plan, tmp_path: Path):
    (tmp_path / "out").mkdir()
    tree = hand_in(plan, tmp_path / "in", f"die once {tmp_path / 'died'}", *["sleep 0.05"] * 6)
    with Processes(workers=2, walled=False) as workers:
        assert [row.status for row in graded(workers, plan, tree, tmp_path / "out")] == ["graded"] * 7
        assert len(workers.all(4)) == 4


@pytest.mark.parametrize(
    ("asked", "tasks", "cores", "count"),
    [
        *((0, 500, 2, 2), (0, 1, 2, 1), (0, 500, 64, 64), (3, 2, 2, 2), (3, 500, 2, 3), (8, 500, 1, 8)),
        *((300, 500, 2, 8), (300, 500, 16, 64), (300, 7, 2, 7), (0, 0, 2, 1)),
    ],
)
def test_never_more_are_started_than_there_are_submissions_or_than_a_machine_bears(
    asked: int, tasks: int, cores: int, count: int
):
    assert how_many(asked, tasks, cores) == count


# ------------------------------------------------------------------------ how they end


def test_the_end_of_the_block_leaves_no_process(plan: Plan, tmp_path: Path):
    with Processes(workers=2, walled=False) as workers:
        graded(workers, plan, hand_in(plan, tmp_path / "in", "pass", "pass"), tmp_path / "out")
        mine = workers.all(4)
        assert len(mine) == 4
    assert not any(map(alive, mine))


MAIN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests in the background switches it off
from pathlib import Path
sys.path[:0] = [{root!r}, {tests!r}]
from test_pool import Processes, graded
from autograder import catalog
from autograder.models import Reference
from autograder.plan import Plan
from autograder.reference.expectations import Expectations
plan = Plan(catalog.load("halve", Path(sys.argv[1])), Expectations("seed:1", Reference("x", "cpu", ""), {{}}))
with Processes(workers=2, walled=False) as workers:
    graded(workers, plan, Path(sys.argv[2]), Path(sys.argv[3]), on_result=lambda one: print("one", flush=True))
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=str)
def test_workers_end_with_the_main_process_however_it_ends(plan: Plan, tmp_path: Path, sent: signal.Signals):
    tree = hand_in(plan, tmp_path / "in", "pass", "sleep 600", "sleep 600", "pass")
    root, tests = str(Path(__file__).parents[1]), str(Path(__file__).parent)
    command = [sys.executable, "-c", MAIN.format(root=root, tests=tests)]
    command += [str(plan.exercise.folder.parents[1]), str(tree), str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as main:
        assert main.stdout is not None
        try:
            assert main.stdout.readline() == b"one\n"
            until = time.monotonic() + 60.0
            while len(mine := below(main.pid)) != 4 and time.monotonic() < until:
                time.sleep(0.05)  # the other worker may be starting still
            assert len(mine) == 4
            main.send_signal(sent)
            main.wait(60)
        finally:
            main.kill()  # else what failed here waits for the sleepers
    assert gone(mine)
    lines = (tmp_path / "out/journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["student"] for line in lines if '"student"' in line] == ["s00"]
    assert not list((tmp_path / "out").rglob(".writing-*"))


# --------------------------------------------------------------------- what they import


def modules(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_a_worker_imports_neither_torch_nor_what_the_gradebook_needs():
    heavy = {"torch", "numpy", "sqlalchemy", "nbgrader", "nbformat", "IPython", "rich", "typer"}
    assert modules("import autograder.worker") & heavy == set()


def test_a_worker_that_has_graded_and_made_pages_imports_none_of_them_either(tmp_path: Path):
    code = """
import json
from pathlib import Path
from autograder import catalog
from autograder.attempt import Cage
from autograder.collect import Handed
from autograder.output import Output
from autograder.plan import recorded_plan
from autograder.tasks import Task
from autograder.worker import Station
exercise = catalog.load("grad_scaler_step")
cage = Cage(walled=False)
station = Station({exercise.slug: recorded_plan(exercise)}, cage, Output(Path(%r), ""))
path = exercise.folder / f"{exercise.slug}.ipynb"
notebook = json.loads(path.read_text())
for cell in notebook["cells"]:
    if cell["id"] == f"{exercise.slug}_solution":
        cell["source"] = exercise.wrong[0].source
data = json.dumps(notebook).encode()
done = station.grade(Task(Handed("ada", exercise.slug, Path("ada/x/x.ipynb"), data, "0")))
cage.drop()
assert 0 < done.score.score < 10, done
"""
    heavy = {"torch", "numpy", "sqlalchemy", "nbgrader", "nbformat", "IPython", "rich", "typer"}
    assert modules(code % str(tmp_path)) & heavy == set()
    assert (tmp_path / "feedback/ada/grad_scaler_step/grad_scaler_step.html").is_file()
