"""Stock nbgrader on our notebooks: release, autograde, feedback, formgrader."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tiny_exercise

from autograder import catalog
from autograder.models import Exercise, Score
from autograder.notebooks import graded_notebook, student_notebook, submission_notebook
from autograder.stock import StockError, StockScore, run_nbgrader, stock_environment, stock_scores
from autograder.student import Feedback, check

NOISY = """\
import sys
import warnings


def halve(x):
    print("halving", x)
    print("to stderr", file=sys.stderr)
    warnings.warn("overflow encountered")
    return x / 2


0.25
"""
ANSWERS = {
    "right": tiny_exercise.BY_SHIFTING,
    "wrong": tiny_exercise.LOSES_SIGN,
    "starter": tiny_exercise.STARTER,
    "noisy": NOISY,
}


@dataclass(frozen=True)
class Graded:
    """A course of its own that nbgrader has released and autograded."""

    exercise: Exercise
    work: Path
    environment: dict[str, str]
    scores: dict[str, StockScore]

    @property
    def course(self) -> Path:
        return self.work / "build" / "course"

    def notebook(self, step: str, answer: str) -> Path:
        student = f"s{list(ANSWERS).index(answer):04}"
        return self.course / step / student / "halve" / "halve.ipynb"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    root = tiny_exercise.write(tmp_path_factory.mktemp("root"))
    work = tmp_path_factory.mktemp("work")
    exercise = catalog.load("halve", root)
    return Graded(exercise, work, stock_environment(root, work), stock_scores(exercise, ANSWERS, work))


def outputs(path: Path) -> dict[str, list[dict[str, Any]]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: cell["outputs"] for cell in cells if cell["cell_type"] == "code"}


def ours(exercise: Exercise, answer: str, monkeypatch: pytest.MonkeyPatch) -> Score:
    monkeypatch.setenv(catalog.ROOT_VARIABLE, str(exercise.folder.parent.parent))
    names: dict[str, Any] = {}
    exec(compile(answer, "answer", "exec"), names)
    feedback = check("halve", names["halve"])
    assert isinstance(feedback, Feedback)
    return feedback.score


def test_nbgrader_releases_the_students_notebook_byte_for_byte(graded: Graded) -> None:
    released = (graded.course / "release/halve/halve.ipynb").read_text(encoding="utf-8")
    assert released == student_notebook(graded.exercise, "")


@pytest.mark.parametrize("answer", ANSWERS)
def test_nbgrader_gives_the_points_that_we_give(graded: Graded, answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    score = ours(graded.exercise, ANSWERS[answer], monkeypatch)
    assert graded.scores[answer].checks == {result.id: result.earned for result in score.checks}
    assert graded.scores[answer].total == score.score
    assert graded.scores[answer].seconds > 0


def test_the_points_are_these(graded: Graded) -> None:
    totals = {name: score.total for name, score in graded.scores.items()}
    assert totals == {"right": 3.0, "wrong": 2.0, "starter": 0.0, "noisy": 3.0}


def test_a_failed_check_shows_its_message_and_no_lines_of_ours(graded: Graded) -> None:
    [shown] = outputs(graded.notebook("autograded", "wrong"))["keeps_the_sign"]
    assert shown["ename"] == "CheckFailed"
    assert shown["traceback"] == [
        "✗ Keeps the sign of x\nHalf of a negative number is negative.\nCalled    halve(x=-2.0)\n"
        "It returned 1.0\nExpected  -1.0\nIt is 1.0, not -1.0."
    ]


def test_a_passed_check_prints_one_line(graded: Graded) -> None:
    for answer in ("right", "noisy"):
        shown = outputs(graded.notebook("autograded", answer))
        assert shown["halves"] == [
            {"name": "stdout", "output_type": "stream", "text": ["✓ Halves a positive number (1.5 points)\n"]}
        ]


def test_the_free_cell_shows_all_feedback(graded: Graded) -> None:
    [shown] = outputs(graded.notebook("autograded", "wrong"))["halve_check"]
    assert {"text/plain", "text/html"} <= shown["data"].keys()
    assert "halve(x=-2.0)" in "".join(shown["data"]["text/plain"])


def test_feedback_and_formgrader_show_both_kinds_of_notebook(graded: Graded, monkeypatch: pytest.MonkeyPatch) -> None:
    # What `autograder grade` writes stands in for what nbgrader wrote, for one of the students.
    path = graded.notebook("autograded", "wrong")
    text = submission_notebook(graded.exercise, ANSWERS["wrong"])
    path.chmod(0o644)
    path.write_text(
        graded_notebook(text.encode(), graded.exercise, ours(graded.exercise, ANSWERS["wrong"], monkeypatch)),
        encoding="utf-8",
    )

    run_nbgrader(["generate_feedback", "halve", "--student=s000[01]"], graded.work, graded.environment)
    for answer, total in (("right", "3.0"), ("wrong", "2.0")):
        page = graded.notebook("feedback", answer).with_suffix(".html").read_text(encoding="utf-8")
        assert f"(Score: {total} / 3.0)" in page
    assert "✗ Keeps the sign of x" in page

    with jupyter_server(graded) as server:
        assert "nbgrader" in server.get("formgrader/manage_assignments")
        assert "halve" in server.get("formgrader/gradebook/halve/halve")
        rows = json.loads(server.get("formgrader/api/submitted_notebooks/halve/halve"))
        assert sorted((row["student"], row["score"]) for row in rows) == list(
            zip(("s0000", "s0001", "s0002", "s0003"), (3.0, 2.0, 0.0, 3.0), strict=True)
        )
        for row in rows:
            page = server.get(f"formgrader/submissions/{row['id']}/")
            assert "Keeps the sign of x" in page
            assert ("✗ Keeps the sign of x" in page) == (row["student"] in ("s0001", "s0002"))


@dataclass(frozen=True)
class Server:
    """A Jupyter server with nbgrader's extensions."""

    url: str

    def get(self, path: str) -> str:
        """Return a page; an HTTP error is raised."""
        request = urllib.request.Request(self.url + path, headers={"Authorization": "token secret"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return str(answer.read().decode())


@contextlib.contextmanager
def jupyter_server(graded: Graded) -> Iterator[Server]:
    options = ["--no-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", "--ServerApp.allow_root=True"]
    command = [sys.executable, "-m", "jupyter_server", *options, "--IdentityProvider.token=secret"]
    runtime = Path(graded.environment["JUPYTER_RUNTIME_DIR"])
    log = (graded.work / "server.log").open("w+")
    with log, subprocess.Popen(command, cwd=graded.work, env=graded.environment, stdout=log, stderr=log) as process:
        try:
            yield wait_for_server(process, runtime, graded.work / "server.log")
        finally:
            process.terminate()
            process.wait(120)


def wait_for_server(process: subprocess.Popen[bytes], runtime: Path, log: Path) -> Server:
    """Return the server once it answers: it writes down its address before it listens there."""
    for _ in range(1200):
        for path in runtime.glob("jpserver-*.json"):
            text = path.read_text(encoding="utf-8")
            if text.rstrip().endswith("}"):
                server = Server(str(json.loads(text)["url"]))
                with contextlib.suppress(urllib.error.URLError):
                    server.get("api/status")
                    return server
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise AssertionError(f"the Jupyter server did not start:\n{log.read_text()}")


def test_a_server_that_wrote_its_address_but_does_not_listen_yet_is_waited_for(tmp_path: Path) -> None:
    # The order in which Jupyter's own server does it; a busy machine makes the gap long.
    program = """
import http.server, json, pathlib, time
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"here")
server = http.server.HTTPServer(("127.0.0.1", 0), Page, bind_and_activate=False)
server.server_bind()  # the port is its own from here on, and whoever calls is refused until it listens
port = server.server_address[1]
pathlib.Path("jpserver-1.json").write_text(json.dumps({"url": f"http://127.0.0.1:{port}/"}))
time.sleep(1)
server.server_activate()
server.serve_forever()
"""
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        try:
            server = wait_for_server(process, tmp_path, tmp_path / "jpserver-1.json")
            assert server.get("") == "here"
        finally:
            process.terminate()


def test_a_failing_command_is_an_error_with_its_log(graded: Graded) -> None:
    with pytest.raises(StockError, match=r"nbgrader autograde nothing ended with status 1:\n(.|\n)*No notebooks"):
        run_nbgrader(["autograde", "nothing"], graded.work, graded.environment)


@pytest.mark.long
def test_nbgrader_agrees_on_every_known_answer_of_every_exercise() -> None:
    from autograder.prove import prove

    exercises = catalog.load_all(Path(__file__).parent.parent)
    assert exercises
    for exercise in exercises.values():
        proof = prove(exercise, seeds=1, stock="all")
        [line] = [line for line in proof.lines if line.startswith("nbgrader")]
        assert [fault for fault in proof.faults if "nbgrader" in fault] == [], line
        assert int(line.split("agrees ")[1].split("/")[0]) > len(exercise.right)
