"""A class graded on a real Dask cluster: what comes of it, what is refused, and what happens when parts of it die."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
import tiny_exercise
from dask_cluster import Cluster
from test_pool import below, gone, hand_in, interrupted, out_of
from timeless import untimed

from autograder import catalog
from autograder.cluster import crew, link
from autograder.cluster.address import AddressError, Certificates, checked, is_open, security
from autograder.cluster.alike import difference, standing
from autograder.cluster.run import Cluster as Workers
from autograder.collect import handed_in
from autograder.errors import CourseError
from autograder.gradebook import read_scores
from autograder.models import Reference
from autograder.pipeline import grade_class
from autograder.plan import Plan
from autograder.reference.expectations import Expectations

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a class is graded on Linux")
ROOT = Path(__file__).parents[1]
STANDS_IN = {"DASK_TEST_STAND_IN": "1"}


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    exercise = catalog.load("halve", tiny_exercise.write(tmp_path_factory.mktemp("course")))
    return Plan(exercise, Expectations("seed:1", Reference("solutions/halve.py", "cpu", ""), {}))


@pytest.fixture
def small(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A scheduler whose workers read the course of one exercise; they are the test's to add."""
    monkeypatch.setenv("AUTOGRADER_COURSE", str(course_of(plan)))
    with Cluster(tmp_path / "cluster", course_of(plan)) as cluster:
        yield cluster


def course_of(plan: Plan) -> Path:
    return plan.exercise.folder.parents[1]


def graded(cluster: Cluster | str, plan: Plan, tree: Path, folder: Path, *, said: Any = None, **more: Any) -> list[Any]:
    """Grade a class without walls; ``said`` is a list for what is said, ``wait`` seconds for workers to come."""
    address = cluster if isinstance(cluster, str) else cluster.address
    say: Callable[[str], None] = (lambda text: None) if said is None else said.append
    with Workers(address, ["halve"], walled=False, wait=more.pop("wait", 60.0), say=say) as workers:
        return grade_class(workers, handed_in(tree, ["halve"]), {"halve": plan}, out_of(folder), **more)


# ----------------------------------------------------------------------- what comes of it


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "autograder", "grade", *arguments, "--seed", "1"]


def files_of(folder: Path) -> dict[str, Any]:
    """Return what a run made, without how long it took."""
    made: dict[str, Any] = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or name.startswith((".", "backups/", "gradebook.db")):
            continue
        text = path.read_text()
        if name == "records.jsonl":
            made[name] = [{**json.loads(line), "duration_s": 0} for line in text.splitlines()]
        elif name == "grades.csv":
            made[name] = [{**row, "duration_s": 0} for row in csv.DictReader(text.splitlines())]
        else:
            made[name] = untimed(text)
    made["gradebook"] = read_scores(out_of(folder).gradebook)
    return made


@pytest.mark.needs("bubblewrap")
def test_a_cluster_makes_of_a_class_what_this_machine_makes_of_it(tmp_path: Path):
    course = tiny_exercise.write(tmp_path / "course")
    statement = course / "exercises/halve/statement.md"
    statement.write_text(statement.read_text().replace("seconds: 5", "seconds: 8"))
    loaded = catalog.load("halve", course)
    plan = Plan(loaded, Expectations("seed:1", Reference("x", "cpu", ""), {}))
    honest, wrong = tiny_exercise.SOLUTION, tiny_exercise.LOSES_SIGN
    # In its last check alone: the others have as long as what is right, however long the machine stands still.
    looping = "def halve(x):\n    while isinstance(x, int):\n        pass\n    return x / 2\n"
    sources = [honest, wrong, looping, "def halve(x):\n    return 1 / 0\n", *(f"{wrong}# {n}\n" for n in range(8))]
    tree = hand_in(plan, tmp_path / "in", *sources)
    (tree / "s99/halve").mkdir(parents=True)
    (tree / "s99/halve/halve.ipynb").write_text("{ no notebook")
    environment = {**os.environ, "AUTOGRADER_COURSE": str(course)}
    made = {}
    with Cluster(tmp_path / "cluster", course) as cluster:
        cluster.add()
        cluster.add()
        for name, where in {"here": ["--workers", "2"], "there": ["--scheduler", cluster.address]}.items():
            arguments = command(str(tree), "--out", f"out/{name}", *where)
            (tmp_path / "out").mkdir(exist_ok=True)
            run = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
            assert run.returncode == 1, run.stderr
            assert len(run.stderr.splitlines()) == 1, run.stderr
            assert run.stderr.startswith("autograder: could not grade s99: s99/halve/halve.ipynb: ")
            made[name] = files_of(tmp_path / "out" / name)
        assert cluster.pids_used()  # of one or of both: the second may come when all is done
        assert gone([pid for worker in cluster.workers for pid in below(worker.pid) if is_ours(pid)])
    assert {check["status"] for row in made["here"]["records.jsonl"] for check in row["checks"]} >= {
        "passed",
        "failed",
        "error",
        "timeout",
        "not_run",
    }
    assert made["there"].keys() == made["here"].keys()
    for name, text in made["here"].items():
        assert made["there"][name] == text, name


def is_ours(pid: int) -> bool:
    """Return whether a process is a grading or a confined one."""
    try:
        return b"autograder" in (Path("/proc") / str(pid) / "cmdline").read_bytes()
    except OSError:
        return False


def test_all_workers_have_some_of_a_small_class_and_each_as_many_at_a_time_as_threads(
    small: Cluster, plan: Plan, tmp_path: Path
):
    small.add("--nthreads", "2", **STANDS_IN)
    small.add(**STANDS_IN)
    sources = [f"meet {tmp_path / 'met'} 3"] * 3  # none of them ends before all have begun
    rows = graded(small, plan, hand_in(plan, tmp_path / "in", *sources, *["pass"] * 4), tmp_path / "out")
    assert [row.status for row in rows] == ["graded"] * 7
    assert [row.student for row in rows] == [f"s{n:02}" for n in range(7)]
    assert len(small.pids_used()) == 2


def test_a_slow_submission_delays_nobody_and_results_are_in_order(small: Cluster, plan: Plan, tmp_path: Path):
    small.add(**STANDS_IN)
    small.add(**STANDS_IN)
    gate = tmp_path / "gate"
    tree = hand_in(plan, tmp_path / "in", f"wait {gate}", *["pass"] * 30)
    with Workers(small.address, ["halve"], walled=False) as workers:
        stream = workers.stream

        def watched(jobs: Any, orders: Any, note: Any) -> Any:
            done = []

            def noted(task: Any, result: Any) -> Any:
                done.append(task)
                if len(done) == 30:
                    gate.write_text("")  # all the others are graded, those that were behind the slow one too
                return note(task, result)

            return stream(jobs, orders, noted)

        workers.stream = watched  # type: ignore[method-assign]
        rows = grade_class(workers, handed_in(tree, ["halve"]), {"halve": plan}, out_of(tmp_path / "out"))
    assert [(row.student, row.status) for row in rows] == [(f"s{n:02}", "graded") for n in range(31)]


def test_a_class_larger_than_all_that_is_read_ahead_is_graded_once(small: Cluster, plan: Plan, tmp_path: Path):
    small.add(**STANDS_IN)
    rows = graded(small, plan, hand_in(plan, tmp_path / "in", *["pass"] * 150), tmp_path / "out")
    assert [(row.student, row.status) for row in rows] == [(row.student, "graded") for row in rows]
    assert len({row.student for row in rows}) == 150
    lines = (tmp_path / "out/records.jsonl").read_text().splitlines()
    assert len(lines) == 150


# ------------------------------------------------------------------------- what is refused


def test_a_worker_of_another_version_is_left_out_and_alone_it_ends_the_run(small: Cluster, plan: Plan, tmp_path: Path):
    other = small.add("--no-nanny", **STANDS_IN, DASK_TEST_VERSION="9.9")
    tree = hand_in(plan, tmp_path / "in", *["pass"] * 5)
    said: list[str] = []
    with pytest.raises(CourseError) as caught:
        graded(small, plan, tree, tmp_path / "out", said=said, wait=60.0)
    told = (
        r"the worker tcp://127\.0\.0\.1:\d+ has autograder 9\.9 with code (\w+), and this machine autograder "
        r"[\d.]+ with code \1; install the same on both"
    )
    assert re.fullmatch(rf"no worker at {small.address} is fit to grade: {told}", str(caught.value))
    assert not (tmp_path / "out").exists()
    small.add(**STANDS_IN)
    rows = graded(small, plan, tree, tmp_path / "out", said=said)
    assert [row.status for row in rows] == ["graded"] * 5
    assert said  # once or twice: the second run may have been over before it asked
    assert all(re.fullmatch(rf"{told}; it is left out", text) for text in said)
    assert other.pid not in small.pids_used()


def test_a_worker_with_another_exercise_is_refused(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AUTOGRADER_COURSE", str(course_of(plan)))
    changed = tiny_exercise.write(tmp_path / "changed")
    checks = changed / "exercises/halve/checks.py"
    checks.write_text(checks.read_text() + "# changed\n")
    with Cluster(tmp_path / "cluster", changed) as cluster:
        cluster.add(**STANDS_IN)
        with pytest.raises(
            CourseError, match=r"the worker tcp://\S+ has exercise halve \w+, and this machine exercise"
        ):
            graded(cluster, plan, hand_in(plan, tmp_path / "in", "pass"), tmp_path / "out", wait=60.0)


def test_what_marks_depend_on_is_compared(plan: Plan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AUTOGRADER_COURSE", str(course_of(plan)))
    ours = standing(["halve"])
    assert difference(ours, ours) == ""
    assert set(ours) == {"Python", "autograder", "torch", "NumPy", "IPython", "the system", "exercise halve"}
    for name in ours:
        assert difference({**ours, name: "1.0"}, ours) == f"{name} 1.0, and this machine {name} {ours[name]}"
        assert difference({k: v for k, v in ours.items() if k != name}, ours).startswith(f"{name} of no version, and")


def test_without_bubblewrap_a_worker_is_left_out_unless_the_code_is_trusted(small: Cluster, plan: Plan, tmp_path: Path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/cat").symlink_to(shutil.which("cat") or "")
    small.add(**STANDS_IN, PATH=str(tmp_path / "bin"))
    tree = hand_in(plan, tmp_path / "in", "pass")
    with (
        Workers(small.address, ["halve"], wait=60.0) as workers,
        pytest.raises(CourseError, match=r"the worker \S+ cannot confine strangers' code: bubblewrap is missing"),
    ):
        grade_class(workers, handed_in(tree, ["halve"]), {"halve": plan}, out_of(tmp_path / "out"))
    assert [row.status for row in graded(small, plan, tree, tmp_path / "out")] == ["graded"]


def test_no_worker_is_said_after_a_while_with_what_to_start(
    small: Cluster, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(link, "_CONNECT_LEAST", 60.0)  # the scheduler answers, however long it takes
    tree = hand_in(plan, tmp_path / "in", "pass")
    with pytest.raises(CourseError) as caught:
        graded(small, plan, tree, tmp_path / "out", wait=1.0)
    assert str(caught.value) == (
        f"no worker has come to the scheduler at {small.address} within 1 s; start some with "
        f"`dask worker {small.address} --host 127.0.0.1` (--wait waits longer)"
    )
    assert not (tmp_path / "out").exists()


def test_where_no_scheduler_is_one_sentence_says_so(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AUTOGRADER_COURSE", str(course_of(plan)))
    monkeypatch.setattr(link, "CONNECT_SECONDS", 0.5)
    with pytest.raises(CourseError, match=r"nobody answers at tcp://127\.0\.0\.1:1 as a Dask scheduler") as caught:
        graded("tcp://127.0.0.1:1", plan, hand_in(plan, tmp_path / "in", "pass"), tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("wait", "seconds"), [(3.0, 3.0), (60.0, 10.0), (0.0, 2.0)])
def test_nobody_is_waited_for_longer_than_was_asked(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait: float, seconds: float
):
    asked: list[float] = []

    async def greeted(address: str, context: Any, seconds: float) -> None:
        asked.append(seconds)

    def client(address: str, *, timeout: float, **more: Any) -> None:
        asked.append(timeout)
        raise OSError("nobody")

    monkeypatch.setenv("AUTOGRADER_COURSE", str(course_of(plan)))
    monkeypatch.setattr(link, "expect_greeting", greeted)
    monkeypatch.setattr(link, "Client", client)
    with pytest.raises(CourseError, match=r"nobody answers at tcp://127\.0\.0\.1:1 as a Dask scheduler"):
        graded("tcp://127.0.0.1:1", plan, hand_in(plan, tmp_path / "in", "pass"), tmp_path / "out", wait=wait)
    assert asked == [seconds, seconds]


@pytest.mark.parametrize(
    "address",
    [
        "",
        "host",
        "host:8786",
        "tcp://host",
        "tcp://:8786",
        "http://host:1",
        "tcp://h:1/x",
        "tcp://h:99999",
        "tls://[:1",
    ],
)
def test_what_is_no_address_is_refused(address: str):
    with pytest.raises(AddressError, match=re.escape(f"--scheduler {address!r} is no address of a scheduler")):
        checked(address)


def test_who_can_read_along():
    assert checked(" tcp://h:1/ ") == "tcp://h:1"
    told = {"tcp://127.0.0.1:1": False, "tcp://localhost:1": False, "tcp://[::1]:1": False, "tls://10.0.0.1:1": False}
    assert {address: is_open(address) for address in told} == told
    assert is_open("tcp://10.0.0.1:1")
    assert is_open("tcp://grader.example.org:1")


def test_a_cluster_that_is_started_as_the_readme_says_is_reached_from_this_machine_alone(small: Cluster):
    text = (ROOT / "README.md").read_text()
    for what in ("scheduler", "worker tcp://127.0.0.1:8786"):
        (line,) = re.findall(rf"^\.venv/bin/dask {what} .*$", text, re.MULTILINE)
        assert "--host 127.0.0.1" in line
        assert "--dashboard-address 127.0.0.1:0" in line
    small.add()
    processes = [small.scheduler.pid, small.workers[0].pid, *below(small.workers[0].pid)]
    assert {address for pid in processes for address in listens_at(pid)} == {"127.0.0.1"}


def listens_at(pid: int) -> set[str]:
    """Return the addresses at which a process listens; none where it has ended since it was seen."""
    try:
        connections = psutil.Process(pid).net_connections("tcp")
    except psutil.NoSuchProcess:
        return set()
    return {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN}


# ---------------------------------------------------------------------------- certificates


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that signed itself, with its key."""
    return signed(tmp_path_factory.mktemp("tls") / "all.pem")


def signed(path: Path) -> Path:
    key, own = path.with_suffix(".key"), path.with_suffix(".crt")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=cluster"]
    subprocess.run([*made, "-keyout", str(key), "-out", str(own)], check=True, capture_output=True)
    path.write_text(key.read_text() + own.read_text())
    return path


@pytest.mark.needs("openssl")
def test_with_certificates_the_cluster_grades_and_without_it_is_out_of_reach(
    plan: Plan, tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AUTOGRADER_COURSE", str(course_of(plan)))
    monkeypatch.setattr(link, "CONNECT_SECONDS", 60.0)
    tree = hand_in(plan, tmp_path / "in", *["pass"] * 3)
    with Cluster(tmp_path / "cluster", course_of(plan), certificate) as cluster:
        assert cluster.address.startswith("tls://")
        cluster.add(**STANDS_IN)
        stranger = signed(tmp_path / "stranger.pem")
        for known, fits in {stranger: False, certificate: True}.items():
            files = Certificates(str(known), str(known), str(known))
            with Workers(cluster.address, ["halve"], walled=False, certificates=files) as workers:
                course = handed_in(tree, ["halve"]), {"halve": plan}, out_of(tmp_path / "out")
                if fits:
                    assert [row.status for row in grade_class(workers, *course)] == ["graded"] * 3
                else:
                    with pytest.raises(CourseError, match="nobody answers at tls://"):
                        grade_class(workers, *course)
                    assert not (tmp_path / "out").exists()
        plain = cluster.address.replace("tls://", "tcp://")
        monkeypatch.setattr(link, "CONNECT_SECONDS", 2.0)  # nothing is answered
        with pytest.raises(CourseError, match="nobody answers at tcp://"):
            graded(plain, plan, tree, tmp_path / "other")


@pytest.mark.needs("openssl")
def test_a_missing_certificate_is_named(tmp_path: Path, certificate: Path):
    there, nowhere = str(certificate), str(tmp_path / "nowhere.pem")
    for files, said in {
        Certificates(): "tls://h:1 needs --tls-ca FILE, or distributed.comm.tls.ca-file in Dask's configuration",
        Certificates(there): "tls://h:1 needs --tls-cert FILE, or distributed.comm.tls.client.cert in Dask's",
        Certificates(there, nowhere): f"{nowhere}: there is no such certificate or key that can be read",
        Certificates(there, there, __file__): "no certificates in PEM format with their key",
    }.items():
        with pytest.raises(AddressError, match=re.escape(said)) as caught:
            security("tls://h:1", files)
        assert "\n" not in str(caught.value)
    with pytest.raises(AddressError, match=r"is not encrypted, so it takes no certificates; give tls://"):
        security("tcp://h:1", Certificates(there))
    assert security("tcp://h:1", Certificates()) is None


# ------------------------------------------------------------------------------ what dies


def test_a_worker_that_is_killed_costs_its_chunk_which_another_does(small: Cluster, plan: Plan, tmp_path: Path):
    victim = small.add("--no-nanny", **STANDS_IN)
    small.add("--no-nanny", **STANDS_IN)
    killed: list[int] = []

    def kill(_: Any) -> None:
        if not killed and victim.pid in small.pids_used():
            killed.append(victim.pid)
            victim.kill()

    together = f"meet {tmp_path / 'met'} 2"  # so that the victim, too, has graded something, however late it came
    tree = hand_in(plan, tmp_path / "in", *[together] * 2, *["sleep 0.02"] * 78)
    rows = graded(small, plan, tree, tmp_path / "out", on_result=kill)
    assert killed
    assert [(row.student, row.status) for row in rows] == [(f"s{n:02}", "graded") for n in range(80)]


def test_of_a_chunk_that_kills_workers_only_what_kills_them_is_not_graded(small: Cluster, plan: Plan, tmp_path: Path):
    small.add(**STANDS_IN)  # its nanny starts another in its place
    tree = hand_in(plan, tmp_path / "in", *["pass"] * 9, "poison", *["pass"] * 9)
    rows = graded(small, plan, tree, tmp_path / "out", wait=300.0)
    assert [row.status for row in rows] == ["graded"] * 9 + ["unreadable"] + ["graded"] * 9
    assert rows[9].reason.startswith("the grading process ended twice while this was graded; ")


def test_a_grading_process_that_dies_is_replaced_on_its_worker(small: Cluster, plan: Plan, tmp_path: Path):
    small.add(**STANDS_IN)
    tree = hand_in(plan, tmp_path / "in", "pass", f"die once {tmp_path / 'died'}", "die", "pass")
    rows = graded(small, plan, tree, tmp_path / "out")
    assert (tmp_path / "died").exists()
    assert [row.status for row in rows] == ["graded", "graded", "unreadable", "graded"]
    assert len(small.pids_used()) == 1


def test_a_second_pass_is_graded_by_its_own_orders(small: Cluster, plan: Plan, tmp_path: Path):
    small.add(**STANDS_IN)
    tree = hand_in(plan, tmp_path / "in", "pass")
    changed = replace(plan, exercise=replace(plan.exercise, version="0123"))
    with Workers(small.address, ["halve"], walled=False, wait=60.0) as workers:
        (row,) = grade_class(workers, handed_in(tree, ["halve"]), {"halve": plan}, out_of(tmp_path / "out"))
        assert row.status == "graded"
        with pytest.raises(CourseError, match=r"the exercise was changed while the class was graded \(it was 0123"):
            grade_class(workers, handed_in(tree, ["halve"]), {"halve": changed}, out_of(tmp_path / "other"))


def test_an_answer_that_was_not_read_is_not_taken_for_the_next(monkeypatch: pytest.MonkeyPatch):
    """As where memory is short between a question and its answer."""
    made: list[Any] = []

    class Echo:
        """Answers as it is asked, but where the first is to be read."""

        def __init__(self, *, walled: bool) -> None:
            made.append(self)
            self.connection, self.unread = self, deque[bytes]()

        def send_bytes(self, message: bytes) -> None:
            self.unread.append(message)

        def recv_bytes(self) -> bytes:
            if self.unread[0] == b"lost":
                raise MemoryError
            return self.unread.popleft()

        def end(self) -> None: ...

    monkeypatch.setattr(crew, "Process", Echo)
    one = crew.Crew(1, walled=False)
    one.start()
    one.warm()
    with pytest.raises(MemoryError):
        one.grade(1, [b"lost"], 60.0)
    assert one.grade(2, [b"one", b"two"], 60.0) == [b"one", b"two"]
    assert len(made) == 2


def test_a_worker_that_comes_late_takes_part(small: Cluster, plan: Plan, tmp_path: Path):
    first = small.add("--no-nanny", **STANDS_IN)
    tree = hand_in(plan, tmp_path / "in", *["sleep 0.02"] * 60)
    late: list[Any] = []

    def come(_: Any) -> None:
        if not late:
            late.append(small.add("--no-nanny", **STANDS_IN))
            first.kill()

    rows = graded(small, plan, tree, tmp_path / "out", on_result=come)
    assert [row.status for row in rows] == ["graded"] * 60
    assert small.pids_used() == {first.pid, late[0].pid}


def test_without_its_scheduler_a_run_ends_and_goes_on_with_another(plan: Plan, tmp_path: Path, small: Cluster):
    small.add("--no-nanny", **STANDS_IN)
    tree = hand_in(plan, tmp_path / "in", *["pass"] * 4, *["sleep 0.3"] * 20)

    def kill(_: Any) -> None:
        small.scheduler.kill()

    with pytest.raises(CourseError) as caught:
        graded(small, plan, tree, tmp_path / "out", on_result=kill)
    assert re.fullmatch(
        rf"the scheduler at {small.address} is gone; start it and its workers again\. The marks of before are whole, "
        r"and \d+ scores? (is|are) kept in \S+: the same command goes on from there",
        str(caught.value),
    )
    with Cluster(tmp_path / "other", course_of(plan)) as other:
        other.add(**STANDS_IN)
        seen: list[Any] = []
        rows = graded(other, plan, tree, tmp_path / "out", on_result=seen.append)
    assert [row.status for row in rows] == ["graded"] * 24
    assert any(one.resumed for one in seen)
    assert not all(one.resumed for one in seen)


MAIN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests in the background switches it off
from pathlib import Path
sys.path[:0] = [{root!r}, {tests!r}]
from test_cluster import graded
from autograder import catalog
from autograder.models import Reference
from autograder.plan import Plan
from autograder.reference.expectations import Expectations
plan = Plan(catalog.load("halve"), Expectations("seed:1", Reference("x", "cpu", ""), {{}}))
graded(sys.argv[1], plan, Path(sys.argv[2]), Path(sys.argv[3]), on_result=lambda one: print("one", flush=True))
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL], ids=str)
def test_nothing_is_left_on_the_workers_however_the_run_ends(
    small: Cluster, plan: Plan, tmp_path: Path, sent: signal.Signals
):
    worker = small.add("--no-nanny", **STANDS_IN, DASK_TEST_IDLE="0.5")
    endless = "sleep 600" if sent == signal.SIGINT else "sleep 10"
    tree = hand_in(plan, tmp_path / "in", "pass", endless, endless, "pass")
    start = MAIN.format(root=str(ROOT), tests=str(ROOT / "tests"))
    arguments = [sys.executable, "-c", start, small.address, str(tree), str(tmp_path / "out")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as main:
        assert main.stdout is not None
        try:
            assert main.stdout.readline() == b"one\n"
            mine = below(worker.pid)
            assert len(mine) == 2  # a grading process, and what stands for its confined one
            main.send_signal(sent)
            main.communicate(timeout=60)
        finally:
            main.kill()
    assert gone(mine)
    assert worker.poll() is None
    lines = (tmp_path / "out/journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["student"] for line in lines if '"student"' in line] == ["s00"]
    # The worker itself stands, for the next run.
    (tree / "s01/halve/halve.ipynb").write_text((tree / "s00/halve/halve.ipynb").read_text())
    (tree / "s02/halve/halve.ipynb").write_text((tree / "s00/halve/halve.ipynb").read_text())
    assert [row.status for row in graded(small, plan, tree, tmp_path / "out")] == ["graded"] * 4


def test_a_page_that_cannot_be_written_ends_the_run_in_one_sentence(small: Cluster, plan: Plan, tmp_path: Path):
    small.add(**STANDS_IN)
    tree = hand_in(plan, tmp_path / "in", *["pass"] * 6)
    blocked = tmp_path / "out/feedback/s03"
    blocked.parent.mkdir(parents=True)
    blocked.write_text("a file where a folder belongs")
    with pytest.raises(CourseError, match=r"s03.*: the same command goes on from there"):
        graded(small, plan, tree, tmp_path / "out")
    blocked.unlink()
    assert [row.status for row in graded(small, plan, tree, tmp_path / "out")] == ["graded"] * 6


# ------------------------------------------------------------------------ the command line


@pytest.mark.parametrize(("sent", "ends"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_the_command_interrupted_says_what_is_kept(
    small: Cluster, plan: Plan, tmp_path: Path, sent: signal.Signals, ends: int
):
    worker = small.add("--no-nanny", **STANDS_IN)
    tree, journal = hand_in(plan, tmp_path / "in", "pass", *["sleep 600"] * 4), tmp_path / "out/journal.jsonl"

    def one_is_graded(pid: int) -> bool:
        return journal.is_file() and '"s00"' in journal.read_text()

    arguments = ["grade", str(tree), "--out", str(tmp_path / "out"), "--seed", "1", "--unconfined"]
    status, said = interrupted([*arguments, "--scheduler", small.address], one_is_graded, sent)
    warned, ended = said.splitlines()
    assert warned.startswith("autograder: --unconfined: no wall stands around the submissions, and on the machines of")
    assert ended == f"autograder: interrupted; 1 score is kept in {journal}: the same command goes on from there"
    assert status == ends
    assert gone(below(worker.pid))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scheduler", "nowhere"], "--scheduler 'nowhere' is no address of a scheduler; give tcp://HOST:PORT"),
        (["--scheduler", "tls://h:1"], "tls://h:1 needs --tls-ca FILE"),
        (["--scheduler", "tcp://h:1", "--workers", "2"], "--workers is about this machine; with --scheduler"),
        (["--tls-ca", "x"], "--tls-ca, --tls-cert and --tls-key are for --scheduler tls://HOST:PORT"),
    ],
)
def test_usage_errors_of_the_command_line(plan: Plan, tmp_path: Path, arguments: list[str], said: str):
    tree = hand_in(plan, tmp_path / "in", "pass")
    environment = {**os.environ, "AUTOGRADER_COURSE": str(course_of(plan))}
    run = subprocess.run(
        command(str(tree), "--out", str(tmp_path / "out"), *arguments),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert run.stderr.startswith(f"autograder: {said}")
    assert len(run.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()
