"""Do those commands that can answer without torch answer without it?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import patient
import pytest

from autograder import catalog
from autograder.notebooks import submission_notebook

ROOT = Path(__file__).parent.parent
HEAVY = ("torch", "numpy", "sqlalchemy", "nbgrader", "jinja2", "IPython", "matplotlib")

# Says, when the command has ended, which of these it imported and which processes it started.
_WATCHED = """
import json, runpy, sys
started = []
sys.addaudithook(lambda event, given: started.append(str(given[0])) if event == "subprocess.Popen" else None)
sys.argv = ["autograder", *sys.argv[2:]]
status = 0
try:
    runpy.run_module("autograder", run_name="__main__")
except SystemExit as ended:
    status = ended.code
imported = [name for name in json.loads(HEAVY) if name in sys.modules]
print(json.dumps([status, imported, started]), file=sys.__stderr__)
"""


def watched(*arguments: str | Path, first: str = "") -> tuple[int, list[str], list[str]]:
    """Return a command's exit status, what of HEAVY it imported, and the programs that it started."""
    program = first + _WATCHED.replace("HEAVY", repr(json.dumps(HEAVY)))
    command = [sys.executable, "-c", program, "-", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    status, imported, started = json.loads(done.stderr.splitlines()[-1])
    return status or 0, imported, started


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "grad_scaler_step.ipynb").write_bytes(b"{")
    (tmp_path / "empty.ipynb").write_bytes(b"")
    (tmp_path / "essay.py").write_text("x = 1\n")
    (tmp_path / "notes.txt").write_text("x = 1\n")
    (tmp_path / "class").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((), 2),
        (("--help",), 0),
        (("check", "--help"), 0),
        (("grade", "--help"), 0),
        (("reference", "--help"), 0),
        (("no_such_command",), 2),
        (("--no-such-option",), 2),
        (("check",), 2),
        (("check", "a.ipynb", "b.ipynb"), 2),
        (("grade", "--workers", "many"), 2),
        (("grade", "--workers", "-1"), 2),
        (("prove", "--stock", "sometimes"), 2),
        (("check", "missing.ipynb"), 2),
        (("grade", "missing.d"), 2),
        (("check", "notes.txt"), 2),
        (("check", "essay.py"), 2),
        (("check", "essay.py", "--exercise", "nothing"), 2),
        (("check", "grad_scaler_step.ipynb"), 2),
        (("check", "empty.ipynb", "--exercise", "grad_scaler_step"), 2),
    ],
)
def test_what_needs_no_torch_starts_nothing(files: Path, arguments: tuple[str, ...], status: int) -> None:
    given = [files / name if "." in name else name for name in arguments]
    assert watched(*given) == (status, [], [])


@pytest.mark.parametrize("suffix", [".ipynb", ".py"])
def test_torch_is_imported_by_the_process_that_runs_the_answer_alone(tmp_path: Path, suffix: str) -> None:
    exercise = catalog.load("largest_safe_scale")
    path = tmp_path / f"largest_safe_scale{suffix}"
    path.write_text(exercise.solution if suffix == ".py" else submission_notebook(exercise, exercise.solution))
    status, imported, started = watched("check", path, first=patient.START)
    assert (status, imported) == (0, [])
    assert len(started) == 1


def test_the_list_of_imports_of_help_has_no_torch() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "autograder", "--help"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stderr
    names = re.findall(r"\| *([\w.]+)$", listed, re.MULTILINE)
    assert "autograder.cli" in names
    assert not [name for name in names if name.split(".")[0] in HEAVY]


def test_check_in_a_notebook_imports_what_it_shows_with_when_it_shows() -> None:
    shown_with = ("jinja2", "rich", "markdown_it", "pygments")
    program = (
        "import sys\n"
        "from autograder import check, catalog\n"
        "exercise = catalog.load('largest_safe_scale')\n"
        "names = {}\n"
        "exec(exercise.solution, names)\n"
        "check(exercise.slug, names[exercise.entry], exercise.checks[0].id)\n"
        "feedback = check(exercise.slug, names[exercise.entry])\n"
        f"before = [name for name in {shown_with!r} if name in sys.modules]\n"
        "assert feedback._repr_html_() and repr(feedback)\n"
        f"after = [name for name in {shown_with!r} if name in sys.modules]\n"
        "print(before, after, sep='\\n')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == ["[]", repr(list(shown_with))]
