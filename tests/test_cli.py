"""The command line as its users meet it: exit statuses, one-line errors, no traceback."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import catalog
from autograder.notebooks import submission_notebook

ROOT = Path(__file__).parent.parent
STEP = catalog.load("grad_scaler_step")
ONLY_ISINF = next(answer.source for answer in STEP.wrong if answer.name == "only_isinf")


def autograder(*arguments: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autograder", *map(str, arguments)]
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


def test_check_full_marks_is_0(notebook):
    done = autograder("check", notebook(STEP.solution))
    assert done.returncode == 0, done.stderr
    assert "10/10" in done.stdout


def test_check_less_is_1_and_names_the_belief(notebook):
    done = autograder("check", notebook(ONLY_ISINF))
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
    assert autograder("check", notebook(STEP.solution, "homework.py")).returncode == 0
    unclear = tmp_path / "essay.py"
    unclear.write_text("x = 1\n")
    assert "Say --exercise" in one_line(autograder("check", unclear))


def test_check_json_has_the_contract_shape(notebook):
    record = json.loads(autograder("check", notebook(ONLY_ISINF), "--json").stdout)
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
    records = [json.loads(autograder("check", path, "--json", "--seed", "5").stdout) for _ in range(2)]
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
    alone = json.loads(autograder("check", path, "--json").stdout)
    done = autograder("grade", tree, "--out", tmp_path / "out", "--json", "--seed", "1")
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
    done = autograder("grade", tree, "--out", tmp_path / "out", "--seed", "1")
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
    done = autograder("grade", tmp_path / "class", "--out", tmp_path / "out", "--seed", "1")
    assert done.returncode == 1
    assert "typo" in one_line(done)
    again = autograder("grade", tmp_path / "class", "--out", tmp_path / "out", "--seed", "1")
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


# ------------------------------------------------------------------------- the others


def test_usage_errors_are_2_and_help_is_0():
    assert autograder("--help").returncode == 0
    assert autograder("grade", "--workers", "many").returncode == 2
    assert autograder("nonsense").returncode == 2


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
    assert autograder("check", notebook(STEP.solution), cwd=tmp_path).returncode == 0


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
