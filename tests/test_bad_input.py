"""Every kind of bad input in one class: each gets a reason that names its file, and the rest is graded."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path

import patient
import pytest

from autograder import catalog
from autograder.notebooks import student_notebook, submission_notebook

ROOT = Path(__file__).parent.parent
STEP = catalog.load("grad_scaler_step")
NAME = "grad_scaler_step.ipynb"
GOOD = submission_notebook(STEP, STEP.solution)
ODD_NAMES = ("ü ñ", "two words", "-dash", "x" * 120, "日本", "a'b\"c", "<b>", "=1+1", "$(touch x)")


def only_checks() -> str:
    notebook = json.loads(student_notebook(STEP, ""))
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade")]
    return json.dumps(notebook)


# student -> (what is handed in, words of the reason, whether it is readable and so has a score)
BAD: dict[str, tuple[str | bytes, tuple[str, ...], bool]] = {
    "empty": (b"", ("empty",), False),
    "not-json": (b"print('hello')", ("JSON",), False),
    "not-utf8": (GOOD.encode().replace(b"Returns", b"\xff\xfe\xfa", 1), ("UTF-8", "byte"), False),
    "format-3": (b'{"nbformat": 3, "nbformat_minor": 0, "worksheets": [], "metadata": {}}', ("format 3",), False),
    "no-code": (only_checks(), ("code",), False),
    "missing": (submission_notebook(STEP, "def other(): pass"), ("there is no `grad_scaler_step`",), True),
    "not-callable": (submission_notebook(STEP, "grad_scaler_step = 3"), ("not a function",), True),
    "syntax": (submission_notebook(STEP, "def f(:\n  pass"), ("SyntaxError", "line 1"), True),
    "import": (submission_notebook(STEP, "import nothing_of_that_name"), ("ModuleNotFoundError", "line 1"), True),
    "huge": (GOOD.replace('"nbformat_minor"', '"x": "' + "y" * 50_000_000 + '", "nbformat_minor"'), ("MiB",), False),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("bad")
    tree = folder / "class"

    def hand_in(student: str, data: str | bytes) -> None:
        path = tree / student / STEP.slug / NAME
        path.parent.mkdir(parents=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    for student, (data, _, _) in BAD.items():
        hand_in(student, data)
    for student in ODD_NAMES:
        hand_in(student, GOOD)
    (tree / "directory" / STEP.slug / NAME).mkdir(parents=True)
    (tree / "broken-link" / STEP.slug).mkdir(parents=True)
    (tree / "broken-link" / STEP.slug / NAME).symlink_to(tree / "nowhere")
    (tree / "others-work" / STEP.slug).mkdir(parents=True)
    (tree / "others-work" / STEP.slug / NAME).symlink_to(tree / ODD_NAMES[0] / STEP.slug / NAME)
    command = [
        *patient.COMMAND,
        "grade",
        str(tree),
        "--out",
        str(folder / "out"),
        "--json",
        "--seed",
        "1",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    records = {record["student"]: record for record in map(json.loads, done.stdout.splitlines())}
    return done, records, folder / "out"


pytestmark = pytest.mark.needs("bubblewrap")


def test_the_run_ends_with_1_and_no_traceback(graded):
    done, records, _ = graded
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert len(records) == len(BAD) + len(ODD_NAMES) + 3


@pytest.mark.parametrize("student", BAD)
def test_each_bad_one_has_a_one_line_reason_that_names_its_file(graded, student: str):
    _, records, _ = graded
    record, (_, words, readable) = records[student], BAD[student]
    assert record["status"] == ("graded" if readable else "unreadable")
    assert record["score"] == (0.0 if readable else None)
    assert NAME in record["reason"]
    assert "\n" not in record["reason"]
    for word in words:
        assert word.lower() in record["reason"].lower()


@pytest.mark.parametrize("student", ["directory", "broken-link", "others-work"])
def test_what_is_no_ordinary_file_is_never_opened(graded, student: str):
    _, records, _ = graded
    assert records[student]["status"] == "unreadable"
    assert NAME in records[student]["reason"]


@pytest.mark.parametrize("student", ODD_NAMES)
def test_odd_names_are_graded_like_any_other(graded, student: str):
    _, records, out = graded
    assert records[student]["score"] == 10.0
    assert (out / "feedback" / student / STEP.slug / f"{STEP.slug}.html").exists()


def test_the_csv_has_a_row_for_each_and_runs_nothing_in_a_spreadsheet(graded):
    _, records, out = graded
    rows = list(csv.reader((out / "grades.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == len(records) + 1
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@"))]


def test_every_unreadable_one_is_named_on_stderr(graded):
    done, records, _ = graded
    for student, record in records.items():
        if record["status"] == "unreadable":
            assert f"could not grade {student}: " in done.stderr
