"""The command line as its users meet it: exit statuses, one-line errors, no traceback."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import patient as patiently
import pytest
import tiny_exercise
from test_pool import below, gone, interrupted
from typer.testing import CliRunner

from autograder import catalog
from autograder.claim import expect_folder
from autograder.errors import HALTED
from autograder.gradebook import GradebookWriter, read_scores, url_of
from autograder.gradebook_db import expect_usable
from autograder.notebooks import submission_notebook
from autograder.pipeline import Halted

ROOT = Path(__file__).parent.parent
STEP = catalog.load("grad_scaler_step")
ONLY_ISINF = next(answer.source for answer in STEP.wrong if answer.name == "only_isinf")


def autograder(
    *arguments: str | Path, cwd: Path = ROOT, patient: bool = False, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command; where it is ``patient``, submissions have more time than a machine ever stands still."""
    start = patiently.COMMAND if patient else (sys.executable, "-m", "autograder")
    command = [*start, *map(str, arguments)]
    env = {**os.environ, "NO_COLOR": "1", **environment}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.fixture
def notebook(tmp_path: Path):
    def make(source: str, name: str = "grad_scaler_step.ipynb") -> Path:
        path = tmp_path / name
        path.write_text(submission_notebook(STEP, source) if name.endswith(".ipynb") else source)
        return path

    return make


# ----------------------------------------------------------------------------- check


def test_check_says_nothing_of_walls_to_a_student_who_has_none(notebook, tmp_path: Path):
    (tmp_path / "bin").mkdir()
    done = autograder("check", notebook(STEP.solution), PATH=str(tmp_path / "bin"), patient=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_check_full_marks_is_0(notebook):
    done = autograder("check", notebook(STEP.solution), patient=True)
    assert done.returncode == 0, done.stderr
    assert "10/10" in done.stdout


def test_check_less_is_1_and_names_the_belief(notebook):
    done = autograder("check", notebook(ONLY_ISINF), patient=True)
    assert done.returncode == 1
    assert "An overflow is an inf, so I look for inf." in done.stdout


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "empty"), (b"{", "JSON"), (b"\xff\xfe\x00", "UTF-8"), (b'{"nbformat": 3, "worksheets": []}', "format 3")],
)
def test_check_what_cannot_be_graded_is_2_with_one_line(tmp_path: Path, content: bytes, reason: str):
    path = tmp_path / "grad_scaler_step.ipynb"
    path.write_bytes(content)
    done = autograder("check", path)
    assert done.returncode == 2
    line = one_line(done)
    assert "grad_scaler_step.ipynb" in line
    assert reason.lower() in line.lower()


def test_check_a_missing_file_and_an_unknown_exercise_are_2(tmp_path: Path, notebook):
    assert "no such file" in one_line(autograder("check", tmp_path / "grad_scaler_step.ipynb"))
    done = autograder("check", notebook(STEP.solution, "hw.py"), "--exercise", "nothing")
    assert done.returncode == 2
    assert "there is no exercise 'nothing'" in one_line(done)


def test_check_guesses_the_exercise_or_asks(tmp_path: Path, notebook):
    assert autograder("check", notebook(STEP.solution, "homework.py"), patient=True).returncode == 0
    unclear = tmp_path / "essay.py"
    unclear.write_text("x = 1\n")
    assert "Say --exercise" in one_line(autograder("check", unclear))


def test_check_json_has_the_contract_shape(notebook):
    record = json.loads(autograder("check", notebook(ONLY_ISINF), "--json", patient=True).stdout)
    assert record["status"] == "graded"
    assert record["score"] == 9.0
    assert record["max_score"] == 10.0
    assert record["seed_id"] == "public:2018"
    assert {"id", "title", "points", "earned", "status", "message", "misconception", "see"} <= record["checks"][
        0
    ].keys()
    assert record["reference"]["backend"] == "torch.amp.GradScaler"


def test_check_with_a_seed_is_repeatable_but_for_the_time(notebook):
    path = notebook(ONLY_ISINF)
    records = [json.loads(autograder("check", path, "--json", "--seed", "5", patient=True).stdout) for _ in range(2)]
    for record in records:
        assert record.pop("duration_s") >= 0
    assert records[0] == records[1]
    assert records[0]["seed_id"] == "seed:5"


# ----------------------------------------------------------------------------- grade


@pytest.mark.needs("bubblewrap")
def test_grade_gives_the_checks_and_messages_that_check_gives(tmp_path: Path):
    tree = tmp_path / "class"
    folder = tree / "ben" / "grad_scaler_step"
    folder.mkdir(parents=True)
    path = folder / "grad_scaler_step.ipynb"
    path.write_text(submission_notebook(STEP, ONLY_ISINF))
    alone = json.loads(autograder("check", path, "--json", patient=True).stdout)
    done = autograder("grade", tree, "--out", tmp_path / "out", "--json", "--seed", "1", patient=True)
    assert done.returncode == 0, done.stderr
    together = json.loads(done.stdout)
    assert together["checks"] == alone["checks"]
    assert together["student"] == "ben"


@pytest.mark.needs("bubblewrap")
def test_grade_names_what_it_could_not_grade_and_exits_with_1(tmp_path: Path):
    tree = tmp_path / "class"
    for student, data in (("ada", submission_notebook(STEP, STEP.solution)), ("bad", "{")):
        folder = tree / student / "grad_scaler_step"
        folder.mkdir(parents=True)
        (folder / "grad_scaler_step.ipynb").write_text(data)
    done = autograder("grade", tree, "--out", tmp_path / "out", "--seed", "1", patient=True)
    assert done.returncode == 1
    assert "could not grade bad" in one_line(done)
    rows = {row["student"]: row for row in csv.DictReader((tmp_path / "out" / "grades.csv").read_text().splitlines())}
    assert float(rows["ada"]["score"]) == 10.0
    assert rows["bad"]["score"] == ""
    assert (tmp_path / "out" / "gradebook.db").exists()


def test_grade_without_walls_refuses_and_writes_nothing(tmp_path: Path):
    tree = tmp_path / "class" / "ada" / "grad_scaler_step"
    tree.mkdir(parents=True)
    (tree / "grad_scaler_step.py").write_text(STEP.solution)
    done = autograder("grade", tmp_path / "class", "--out", tmp_path / "out", PATH="/nonexistent")
    assert done.returncode == 2
    assert "bubblewrap is missing" in one_line(done)
    assert not (tmp_path / "out").exists()


def test_grade_where_the_walls_cannot_be_built_refuses_and_writes_nothing(tmp_path: Path):
    tree = tmp_path / "class" / "ada" / "grad_scaler_step"
    tree.mkdir(parents=True)
    (tree / "grad_scaler_step.py").write_text(STEP.solution)
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    done = autograder("grade", tmp_path / "class", "--out", tmp_path / "out", "--seed", "1", PATH=path)
    assert done.returncode == 2, done.stdout
    assert "No permissions to create new namespace" in one_line(done)
    assert "autograder doctor" in done.stderr
    assert not (tmp_path / "out").exists()


def test_grade_a_tree_that_is_none_is_2_and_writes_nothing(tmp_path: Path):
    done = autograder("grade", tmp_path / "nowhere", "--out", tmp_path / "out")
    assert done.returncode == 2
    one_line(done)
    assert not (tmp_path / "out").exists()


def test_grade_without_a_folder_says_what_to_name(tmp_path: Path):
    done = autograder("grade", cwd=tmp_path)
    assert done.returncode == 2
    assert one_line(done) == (
        "autograder: build/course/submitted: there is no such folder, for nbgrader has collected no class; name the "
        "folder of yours, which holds <student>/<exercise>/<exercise>.ipynb: autograder grade FOLDER (the sample class "
        "is examples/submissions)"
    )
    assert list(tmp_path.iterdir()) == []


def test_grade_a_class_with_nothing_to_grade_is_2_and_writes_nothing(tmp_path: Path):
    (tmp_path / "class" / "ada" / "grad_scaler").mkdir(parents=True)
    done = autograder("grade", tmp_path / "class", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "there is nothing to grade" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("inside", ["class", "class/results"])
def test_grade_into_the_class_itself_is_2(tmp_path: Path, inside: str):
    tree = tmp_path / "class" / "ada" / "grad_scaler_step"
    tree.mkdir(parents=True)
    (tree / "grad_scaler_step.py").write_text(STEP.solution)
    done = autograder("grade", tmp_path / "class", "--out", tmp_path / inside)
    assert done.returncode == 2
    assert "is inside the class" in one_line(done)
    assert [path.name for path in (tmp_path / "class").iterdir()] == ["ada"]


@pytest.mark.needs("bubblewrap")
def test_grade_a_folder_that_was_passed_over_is_named_and_the_status_is_1(tmp_path: Path):
    for student, folder in (("ada", "grad_scaler_step"), ("typo", "grad_scaler")):
        (tmp_path / "class" / student / folder).mkdir(parents=True)
        (tmp_path / "class" / student / folder / f"{folder}.py").write_text(STEP.solution)
    done = autograder("grade", tmp_path / "class", "--out", tmp_path / "out", "--seed", "1", patient=True)
    assert done.returncode == 1
    assert "typo" in one_line(done)
    again = autograder("grade", tmp_path / "class", "--out", tmp_path / "out", "--seed", "1", patient=True)
    assert "1 of them unchanged since an earlier run" in again.stdout


def test_check_a_file_of_another_kind_is_2(tmp_path: Path):
    (tmp_path / "README.md").write_text("# hello")
    assert "give a notebook (.ipynb) or a Python file" in one_line(autograder("check", tmp_path / "README.md"))
    assert "no such file" in one_line(autograder("check", tmp_path / "nothing.py"))


def test_grade_a_bad_gradebook_url_is_2(tmp_path: Path):
    tree = tmp_path / "class" / "ada" / "grad_scaler_step"
    tree.mkdir(parents=True)
    (tree / "grad_scaler_step.py").write_text(STEP.solution)
    done = autograder("grade", tmp_path / "class", "--out", tmp_path / "o", "--gradebook", "nonsense", "--unconfined")
    assert done.returncode == 2
    one_line(done)


def small_class(tmp_path: Path, *sources: str) -> tuple[Path, dict[str, str]]:
    """Hand in to a course of one small exercise; return the class and the environment that names the course.

    What is right has as long as it takes there, and what loops does not end by itself.
    """
    course = tiny_exercise.write(tmp_path / "course")
    in_seconds(course, 600)
    exercise = catalog.load("halve", course)
    for number, source in enumerate(sources):
        path = tmp_path / "class" / f"s{number}" / "halve" / "halve.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(submission_notebook(exercise, source))
    return tmp_path / "class", {"AUTOGRADER_COURSE": str(course)}


def in_seconds(course: Path, seconds: int) -> None:
    """Give the submissions to the small exercise so many seconds."""
    statement = course / "exercises/halve/statement.md"
    text, count = re.subn(r"(?m)^seconds: .*$", f"seconds: {seconds}", statement.read_text())
    assert count == 1
    statement.write_text(text)


HALVE = "def halve(x):\n    return x / 2\n"


def test_grade_without_walls_begins_with_one_line_that_says_what_that_means(tmp_path: Path):
    tree, environment = small_class(tmp_path, HALVE)
    arguments = ["grade", tree, "--out", tmp_path / "out", "--seed", "1", "--workers", "1"]
    done = autograder(*arguments, "--unconfined", **environment)
    assert done.returncode == 0
    assert one_line(done) == (
        "autograder: --unconfined: no wall stands around the submissions, and on this machine their code can do "
        "whatever you can; that is for code that you trust"
    )


@pytest.mark.needs("bubblewrap")
def test_grade_within_walls_says_nothing_of_them(tmp_path: Path):
    tree, environment = small_class(tmp_path, HALVE)
    done = autograder("grade", tree, "--out", tmp_path / "out", "--seed", "1", "--workers", "1", **environment)
    assert (done.returncode, done.stderr) == (0, "")


ENDS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(("sent", "ends"), ENDS.items(), ids=str)
def test_grade_interrupted_says_how_many_scores_are_kept_and_where(tmp_path: Path, sent: signal.Signals, ends: int):
    tree, environment = small_class(tmp_path, HALVE, *["while True:\n    pass\n"] * 5)
    journal = tmp_path / "out" / "journal.jsonl"
    arguments = ["grade", tree, "--out", tmp_path / "out", "--seed", "1", "--workers", "1"]

    def one_is_graded(pid: int) -> bool:
        return journal.is_file() and '"s0"' in journal.read_text()

    for moment in (one_is_graded, lambda pid: bool(below(pid))):  # of the second run, when a process starts
        status, said = interrupted(arguments, moment, sent, **environment)
        kept = journal.read_text().count('"student"')
        words = "1 score is" if kept == 1 else f"{kept} scores are"
        assert said == f"autograder: interrupted; {words} kept in {journal}: the same command goes on from there\n"
        assert status == ends
        assert 1 <= kept < 6


@pytest.mark.needs("bubblewrap")
def test_a_run_that_goes_on_takes_over_what_the_interrupted_one_said_that_it_kept(tmp_path: Path):
    tree, environment = small_class(tmp_path, HALVE, HALVE, HALVE, "while True:\n    pass\n")
    in_seconds(tmp_path / "course", 8)
    (tree / "s1/halve/halve.ipynb").write_text("{")  # not readable, by its bytes
    (tree / "s2/halve/halve.ipynb").rename(tree / "s2/halve/halve.pdf")  # and without any
    arguments = ["grade", tree, "--out", tmp_path / "out", "--seed", "1", "--workers", "1"]
    journal = tmp_path / "out/journal.jsonl"

    def three_are_graded(pid: int) -> bool:
        return journal.is_file() and '"s2"' in journal.read_text()

    status, said = interrupted(arguments, three_are_graded, **environment)
    assert status == 130
    kept = int(re.search(r"; (\d+) scores are kept in ", said)[1])
    assert kept >= 3
    done = autograder(*arguments, **environment)
    assert re.search(rf"4 submissions in [0-9.]+ s, {kept} of them before the run was interrupted\.\n", done.stdout)
    # What ran out of time is tried again, and who has left is named, once.
    (tree / "s0").rename(tmp_path / "s0")
    for told in (True, False):
        done = autograder(*arguments, **environment)
        assert ", 1 of them tried again, for time, memory or a crash may have been chance.\n" in done.stdout
        assert ("not in this class: 1 student (s0). They are in grades.csv" in done.stderr) is told


@pytest.mark.needs("bubblewrap")
def test_folders_whose_names_look_the_same_are_named_and_cost_no_status(tmp_path: Path):
    tree, environment = small_class(tmp_path, HALVE, HALVE)
    (tree / "s0").rename(tree / "Jos\u00e9")
    (tree / "s1").rename(tree / "Jose\u0301")
    done = autograder("grade", tree, "--out", tmp_path / "out", "--seed", "1", **environment)
    assert "names look the same are different students: 'Jose\\u0301' and 'Jos\\xe9';" in one_line(done)
    assert done.returncode == 0


@pytest.mark.needs("bubblewrap")
def test_two_signals_of_one_end_are_one_and_what_is_switched_off_stays_so(tmp_path: Path):
    tree, environment = small_class(tmp_path, HALVE, *["while True:\n    pass\n"] * 5)
    arguments = ["grade", tree, "--out", tmp_path / "out", "--seed", "1", "--workers", "1"]
    journal = tmp_path / "out" / "journal.jsonl"

    def one_is_graded(pid: int) -> bool:
        return journal.is_file() and '"s0"' in journal.read_text()

    hang_up, end = signal.SIGHUP, signal.SIGTERM
    status, said = interrupted(arguments, one_is_graded, end, hang_up, end, **environment)
    kept = journal.read_text().count('"student"')
    assert f" kept in {journal}: the same command goes on from there\n" in said
    assert (len(said.splitlines()), kept >= 1) == (1, True)
    assert status in (143, 129)  # the system says them in the order of their numbers, where both wait
    status, said = interrupted(arguments, lambda pid: bool(below(pid)), hang_up, end, off=(hang_up,), **environment)
    assert status == 143
    assert journal.read_text().count('"student"') >= kept


@pytest.mark.needs("bubblewrap")
def test_a_class_goes_on_without_its_terminal_where_it_was_started_so(tmp_path: Path):
    tree, environment = small_class(tmp_path, *[HALVE] * 3)
    arguments = ["grade", tree, "--out", tmp_path / "out", "--seed", "1"]
    off = (signal.SIGHUP,)
    assert interrupted(arguments, lambda pid: bool(below(pid)), *off, off=off, **environment) == (0, "")
    assert (tmp_path / "out" / "grades.csv").exists()


CLOSES = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "autograder", *sys.argv[1:]])
"""


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("as_json", [False, True])
def test_a_terminal_that_is_closed_ends_the_run_as_ctrl_c_does(tmp_path: Path, as_json: bool):
    tree, environment = small_class(tmp_path, HALVE, *["while True:\n    pass\n"] * 5)
    arguments = ["grade", str(tree), "--out", str(tmp_path / "out"), "--seed", "1", *["--json"] * as_json]
    journal = tmp_path / "out" / "journal.jsonl"
    ours, theirs = pty.openpty()
    terminal = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | environment
    with subprocess.Popen([sys.executable, "-c", CLOSES, *arguments], cwd=ROOT, env=env, **terminal) as process:
        try:
            os.close(theirs)
            until = time.monotonic() + 60
            while not (journal.is_file() and '"s0"' in journal.read_text()):
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.01)
            printed = b"" if as_json else b"s0"
            while b"s0" not in printed:  # kept first, then printed: a row that cannot be is another end
                printed += os.read(ours, 65536)
            mine = below(process.pid)
            os.close(ours)
            assert process.wait(60) == 129
        finally:
            process.kill()
    assert mine
    assert gone(mine)
    assert '"s0"' in journal.read_text()
    (tree / "s1/halve/halve.ipynb").write_text((tree / "s0/halve/halve.ipynb").read_text())
    done = autograder(*arguments[:6], "--skip", "s[2-9]", **environment)
    assert done.returncode == 0, done.stderr
    assert "of them before the run was interrupted" in done.stdout


@pytest.mark.parametrize(("sent", "ends"), ENDS.items(), ids=str)
def test_check_ended_from_outside_says_so_and_leaves_no_process(tmp_path: Path, sent: signal.Signals, ends: int):
    tree, environment = small_class(tmp_path, "while True:\n    pass\n")
    arguments = ["check", tree / "s0/halve/halve.ipynb"]
    said = interrupted(arguments, lambda pid: len(below(pid)) > 1, sent, **environment)
    assert said == (ends, "autograder: interrupted\n")


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(("sent", "ends"), ENDS.items(), ids=str)
def test_grade_interrupted_before_anything_was_graded_says_so_and_leaves_nothing(
    tmp_path: Path, sent: signal.Signals, ends: int
):
    tree, environment = small_class(tmp_path, HALVE)
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    # Walls that never stand: however long the signal takes, nothing is graded before it.
    program.write_text(f"#!{sys.executable}\nimport os, sys\nwhile os.read(int(sys.argv[-2]), 4096):\n    pass\n")
    program.chmod(0o755)
    environment["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    arguments = ["grade", tree, "--out", tmp_path / "out", "--seed", "1"]
    status, said = interrupted(arguments, lambda pid: bool(below(pid)), sent, **environment)
    assert (status, said) == (ends, "autograder: interrupted; nothing was graded\n")
    assert not (tmp_path / "out").exists()


def test_grade_interrupted_while_the_command_is_imported_says_so(monkeypatch: pytest.MonkeyPatch):
    from autograder import cli, commands

    def halt(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.delattr(commands, "grade", raising=False)
    monkeypatch.setattr(commands, "__getattr__", halt, raising=False)
    done = CliRunner().invoke(cli.app, ["grade", "nowhere"])
    assert (done.exit_code, done.stderr) == (130, "autograder: interrupted; nothing was graded\n")


def test_grade_interrupted_while_the_table_is_printed_says_that_all_was_graded(tmp_path: Path, monkeypatch, capsys):
    from autograder.commands import grade as command

    class Halts:
        def __enter__(self) -> Halts:
            return self

        def start(self) -> None:
            """Nothing is started."""

        def __exit__(self, *error: object) -> None:
            raise KeyboardInterrupt

    tree, environment = small_class(tmp_path, HALVE)
    monkeypatch.setenv("AUTOGRADER_COURSE", environment["AUTOGRADER_COURSE"])
    monkeypatch.setattr(command, "Class", lambda **more: Halts())
    monkeypatch.setattr(command, "grade_class", lambda *more, **others: [])
    options = command.Options(tree, tmp_path / "out", "", 1, 1, False, False, False, (), False, "")
    monkeypatch.setattr(command.walls, "bubblewrap", lambda: "/usr/bin/bwrap")
    with pytest.raises(SystemExit) as ended:
        command.run(options)
    assert ended.value.code == 130
    assert capsys.readouterr().err == "autograder: interrupted; all was graded and written\n"

    def impatient(*more: object, **others: object) -> None:
        raise Halted("interrupted; 3 scores are kept")

    monkeypatch.setattr(command, "grade_class", impatient)  # and Ctrl-C once more, while the workers end
    with pytest.raises(SystemExit):
        command.run(options)
    assert capsys.readouterr().err == "autograder: interrupted; 3 scores are kept\n"


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (["--gradebook", "nonsense"], {}, "the gradebook's URL cannot be understood; it looks like sqlite:////"),
        ([], {"AUTOGRADER_GRADEBOOK": "nonsense"}, "the gradebook's URL cannot be understood"),
        (["--gradebook", "sqlite:///{0}/no/g.db"], {}, "{0}/no/g.db: its folder does not exist; make it, or choose an"),
        ([], {"AUTOGRADER_GRADEBOOK": "sqlite:///{0}/no/g.db"}, "{0}/no/g.db: its folder does not exist"),
        (["--gradebook", "sqlite:///{0}"], {}, "{0}: it is a folder; name a file in it"),
        (["--gradebook", "sqlite:///{0}/file"], {}, "{0}/file: this file is no database; choose another gradebook"),
        (
            ["--gradebook", "postgresql+psycopg://me:hunter2@127.0.0.1:1/course"],
            {},
            "postgresql+psycopg://me:***@127.0.0.1:1/course: no server answers there (",
        ),
        (["--out", "/proc/x"], {}, "--out /proc/x: the folder cannot be made (no such file or directory: /proc/x); "),
        (["--out", "{0}/file"], {}, "--out {0}/file: the folder cannot be made ({0}/file is a file); choose another"),
        (["--out", "{0}/file/x/y"], {}, "--out {0}/file/x/y: the folder cannot be made ({0}/file is a file); choose"),
        (["--wait", "3"], {}, "--wait is for --scheduler, which was not given"),
    ],
)
def test_grade_refuses_at_once_what_can_be_known_and_leaves_nothing(
    tmp_path: Path, monkeypatch, arguments: list[str], environment: dict[str, str], said: str
):
    from autograder import cli
    from autograder.commands import grade as command

    def started(**more: object) -> None:
        raise AssertionError("a worker was about to start")

    tree, course = small_class(tmp_path, HALVE)
    (tmp_path / "file").write_text("no database")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(command, "Class", started)
    told = [each.format(tmp_path) for each in arguments]
    out = [] if "--out" in told else ["--out", str(tmp_path / "out")]
    env = {name: value.format(tmp_path) for name, value in environment.items()}
    done = CliRunner().invoke(cli.app, ["grade", str(tree), *out, *told, "--unconfined"], env={**course, **env})
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.exception
    assert done.stderr.startswith(f"autograder: {said.format(tmp_path)}")
    assert "hunter2" not in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_can_be_made_is_not_made_by_looking(tmp_path: Path):
    expect_folder(tmp_path / "a" / "b")
    assert not list(tmp_path.iterdir())
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "kept").write_text("")
    expect_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / "kept").exists()


def test_a_gradebook_of_before_or_in_the_folder_that_is_to_be_made_is_fine(tmp_path: Path):
    expect_usable(f"sqlite:///{tmp_path}/out/g.db", tmp_path / "out")
    assert not list(tmp_path.iterdir())
    with GradebookWriter(url_of(tmp_path / "g.db"), {"grad_scaler_step": STEP}):
        pass
    before = (tmp_path / "g.db").read_bytes()
    expect_usable(url_of(tmp_path / "g.db"), tmp_path / "out")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("g.db", before)]


def test_grade_where_skip_leaves_nothing_says_that_it_is_skip(tmp_path: Path):
    tree, environment = small_class(tmp_path, HALVE, HALVE)
    done = autograder("grade", tree, "--out", tmp_path / "out", "--skip", "*", "--skip", "x", **environment)
    assert done.returncode == 2
    assert one_line(done) == (
        f"autograder: {tree}: there is nothing to grade in it, because --skip leaves out everyone who handed something "
        "in (2 submissions); give a narrower pattern than *, x"
    )
    assert not (tmp_path / "out").exists()


def test_grade_one_students_folder_is_one_sentence(tmp_path: Path):
    tree, environment = small_class(tmp_path, HALVE)
    done = autograder("grade", tree / "s0", "--out", tmp_path / "out", **environment)
    assert done.returncode == 2
    assert one_line(done) == (
        f"autograder: {tree / 's0'}: this looks like one student's folder, for it holds halve; give the folder above it"
    )


@pytest.mark.needs("bubblewrap")
def test_who_is_skipped_stays_in_the_gradebook_is_in_no_table_and_is_graded_again_later(tmp_path: Path):
    tree, environment = small_class(tmp_path, HALVE, HALVE)
    gradebook = f"sqlite:///{tmp_path}/elsewhere.db"
    arguments = ["grade", tree, "--out", tmp_path / "out", "--seed", "1", "--workers", "1", "--gradebook", gradebook]

    def run(*more: str) -> tuple[str, list[str], list[str]]:
        done = autograder(*arguments, *more, **environment)
        assert done.returncode == 0, done.stderr
        rows = csv.DictReader((tmp_path / "out" / "grades.csv").read_text().splitlines())
        book = [row["student"] for row in read_scores(gradebook)]
        return done.stdout, [row["student"] for row in rows], book

    said, rows, book = run()
    assert (rows, book) == (["s0", "s1"], ["s0", "s1"])
    assert re.search(r"^2 submissions in [\d.]+ s\.$", said, re.MULTILINE)
    where = f"are in {tmp_path}/out; the gradebook is {tmp_path}/elsewhere.db.\n"
    assert said.endswith(f"\nFeedback, grades.csv and the class report, report/index.html, {where}")
    said, rows, book = run("--skip", "s0", "--no-feedback")
    assert (rows, book) == (["s1"], ["s0", "s1"])
    assert re.search(r"^1 submission in [\d.]+ s, ", said, re.MULTILINE)
    assert said.endswith(f"\ngrades.csv and the class report, report/index.html, {where}")
    assert (tmp_path / "out/feedback/s0/halve/halve.html").exists()
    said, rows, book = run("--no-feedback")
    assert (rows, book) == (["s0", "s1"], ["s0", "s1"])
    assert "2 submissions in" in said
    assert "1 of them unchanged" in said  # s0 was graded again


@pytest.mark.parametrize(
    ("gradebook", "said"),
    [
        ("", "Gradebook, feedback, grades.csv and the class report, report/index.html, are in {0}."),
        ("sqlite:///{0}/gradebook.db", "Gradebook, feedback, grades.csv and the class report, report/index.html, are"),
        (
            "postgresql+psycopg://me:hunter2@host/course?passfile=secret",
            "Feedback, grades.csv and the class report, report/index.html, are in {0}; the gradebook is "
            "postgresql+psycopg://me:***@host/course.",
        ),
    ],
)
def test_where_the_gradebook_is_is_said_without_a_password(tmp_path: Path, gradebook: str, said: str):
    from autograder.commands.grade import Options, _where

    url = gradebook.format(tmp_path)
    text = _where(Options(Path("in"), tmp_path, url, 1, 1, False, False, False, (), True, ""))
    assert text.startswith(said.format(tmp_path))
    assert "hunter2" not in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("asked", "handed_in", "started", "said"),
    [
        (300, 500, 8, "--workers 300: no more than 8 are started; others would only slow them down on 2 cores"),
        (300, 5, 5, ""),
        (0, 500, 2, ""),
        (0, 1, 1, ""),
    ],
)
def test_grade_with_more_workers_than_do_any_good_starts_fewer_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys, asked: int, handed_in: int, started: int, said: str
):
    from autograder.commands import grade as command

    counts: list[int] = []
    monkeypatch.setattr(command, "cores", lambda: 2)
    monkeypatch.setattr(command, "Class", lambda *, workers, walled: counts.append(workers))
    options = command.Options(Path("in"), Path("out"), "", asked, 1, False, False, False, (), True, "")
    command._workers(options, ["grad_scaler_step"], handed_in)
    assert counts == [started]
    assert capsys.readouterr().err == (f"autograder: {said}\n" if said else "")


# ------------------------------------------------------------------------- the others


def test_usage_errors_are_2_and_help_is_0():
    assert autograder("--help").returncode == 0
    assert autograder("grade", "--workers", "many").returncode == 2
    assert autograder("nonsense").returncode == 2


COMMANDS = {
    "check": "0 full marks; 1 graded with less; 2 ",
    "grade": "0 all graded, whatever the marks; 1 some could not be, each named; 2 it could not begin, or not go on, ",
    "release": "0 done; 1 with --check, something is not current; 2 ",
    "prove": "0 it does; 1 it does not; 2 ",
    "doctor": "0 fit to grade untrusted work; 1 not; 2 ",
    "reference record": "0 done; 2 ",
    "reference verify": "0 equal; 1 they differ; 2 ",
}


@pytest.mark.parametrize(("name", "own"), COMMANDS.items(), ids=COMMANDS.keys())
def test_every_command_lists_all_its_exit_statuses(name: str, own: str):
    text = " ".join(autograder(*name.split(), "--help", COLUMNS="200").stdout.split())
    assert f"Exit status: {own}" in text
    assert f"; {HALTED}." in text


def test_the_exit_statuses_that_are_written_are_those_of_the_signals():
    assert [int(number) for number in re.findall(r"\d+", HALTED)] == list(ENDS.values())
    assert list(ENDS.values()) == [128 + number for number in ENDS]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| ([\d, ]+) \| ", readme, re.MULTILINE) == ["0", "1", "2", "130, 143, 129"]


def test_help_names_every_command():
    text = autograder("--help").stdout
    for name in ("check", "grade", "release", "prove", "reference", "doctor"):
        assert name in text


def test_reference_verify_on_a_missing_device_is_2():
    import torch

    if not torch.cuda.is_available():
        done = autograder("reference", "verify", "--device", "cuda")
        assert done.returncode == 2
        assert "no CUDA device" in one_line(done)


def test_outside_a_course_the_packaged_or_checked_out_one_is_used(tmp_path: Path, notebook):
    done = autograder("check", notebook(STEP.solution), "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["version"] == STEP.version, done.stderr  # its mark is not what this is about


def test_a_broken_exercise_folder_is_one_line(tmp_path: Path):
    (tmp_path / "exercises" / "broken").mkdir(parents=True)
    (tmp_path / "solutions").mkdir()
    done = autograder("prove", cwd=tmp_path)
    assert done.returncode == 2
    assert "statement.md" in one_line(done)


# ------------------------------------------------------------- what a course's files say

OBEYED = "\x1b[2J\x1b]0;title\x07 \u202e\u2028\x9b1m\r"


def test_what_prove_prints_of_a_course_is_shown_and_not_obeyed(monkeypatch, capsys):
    from autograder.commands import prove as command
    from autograder.prove import Proof

    proof = Proof("x", lines=[f"solution   {OBEYED}"], faults=[f"right/{OBEYED}adds loses a: first\nsecond {OBEYED}"])
    monkeypatch.setattr(command, "exercises", lambda slugs: {"x": STEP})
    monkeypatch.setattr(command, "prove", lambda exercise, seeds, stock: proof)
    assert command.run(["x"], seeds=1, stock="none") == 1
    printed = capsys.readouterr().out
    assert not set(OBEYED) - {" ", *"[2J]0;title1m"} & set(printed)
    assert printed.count(r"\x1b[2J\x1b]0;title\x07") == 3
    assert "first\n      second" in printed


def test_what_reference_prints_of_a_course_is_shown_and_not_obeyed(monkeypatch, capsys):
    from autograder.commands import reference as command

    monkeypatch.setattr(command, "exercises", lambda slugs: {"x": STEP})
    monkeypatch.setattr(command.traces, "verify", lambda chosen, device: (1, [f"x, case {OBEYED}\n✗ all agree"]))
    monkeypatch.setattr(command.traces, "record", lambda chosen, device, line: [Path(f"/{OBEYED}.json")])
    assert command.verify(["x"], "") == 1
    assert command.record(["x"], "") == 0
    lines = capsys.readouterr().out.split("\n")
    assert not set(OBEYED) - {" ", *"[2J]0;title1m"} & set("".join(lines))
    assert [line[:2] for line in lines] == ["✗ ", "1 ", "/\\", ""]
