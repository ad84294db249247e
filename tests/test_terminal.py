"""What reaches a terminal or a spreadsheet obeys nobody: names, messages and output are shown with their escapes."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path

import patient
import pytest

from autograder import catalog
from autograder.notebooks import submission_notebook

ROOT = Path(__file__).parent.parent
STEP = catalog.load("grad_scaler_step")
TITLE, CLEAR, LINK, CSI, BACKWARDS = (
    "\x1b]0;owned\x07",
    "\x1b[2J",
    "\x1b]8;;https://evil.test\x1b\\",
    "\x9b2J",
    "\u202e",
)
PAYLOAD = TITLE + CLEAR + LINK + CSI + BACKWARDS + "\x08"
_OURS = re.compile(r"\x1b\[(?:[0-9;]*m|\?25[lh]|[0-9]*[AK]|2K)")
"""What the grader itself sends to a terminal: colors, and what moves the progress line."""
_OBEYED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def command(*arguments: str | Path) -> list[str]:
    return [*patient.COMMAND, *map(str, arguments)]


def piped(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def on_a_terminal(*arguments: str | Path) -> tuple[int, str]:
    """Run the command with a terminal for stdout and stderr; return its status and all that the terminal got."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (50, 200))  # wide enough for whole names
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    environment["TERM"] = "xterm-256color"
    with subprocess.Popen(
        command(*arguments), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        got = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux says so at the end
                break
            if not part:
                break
            got += part
        os.close(ours)
    return process.returncode, got.decode()


def harmful(text: str) -> list[str]:
    """Return what a terminal would obey in a text, beside what the grader sends of its own."""
    return _OBEYED.findall(_OURS.sub("", text).replace("\r", ""))


def test_what_a_terminal_obeys_is_found() -> None:
    for payload in (TITLE, CLEAR, LINK, CSI, BACKWARDS):
        assert harmful(f"a{payload}b")
    assert not harmful("\x1b[32m✓\x1b[0m\x1b[?25l\x1b[1A\x1b[2Kü\t\r\n")


# ---------------------------------------------------------------------- one-line errors

NAME = "a" + PAYLOAD.replace("/", "_")
MESSAGES = {
    "a file that is missing": lambda folder: ("check", folder / f"{NAME}.py"),
    "a file of another kind": lambda folder: ("check", made(folder / f"{NAME}.txt")),
    "a file of an unknown exercise": lambda folder: ("check", made(folder / f"{NAME}.py")),
    "a file that is damaged": lambda folder: ("check", made(folder / f"grad_scaler_step{NAME}.ipynb")),
    "an exercise that is none": lambda folder: ("check", made(folder / "a.py"), "--exercise", NAME),
    "a class that is missing": lambda folder: ("grade", folder / NAME),
    "a class without students": lambda folder: ("grade", made(folder / NAME / "a.txt").parent),
    "a folder inside the class": lambda folder: (
        "grade", made(folder / NAME / "ada/grad_scaler_step/grad_scaler_step.py").parents[2], "--unconfined",
        "--out", folder / NAME / "out",
    ),
    "a gradebook that is none": lambda folder: (
        "grade", made(folder / "class/ada/grad_scaler_step/grad_scaler_step.py").parents[2], "--unconfined",
        "--out", folder / "out", "--gradebook", f"sqlite:////no/{NAME}",
    ),
    "a superfluous argument": lambda folder: ("check", folder / "a.py", NAME),
    "an option that is none": lambda folder: ("check", f"--{NAME}"),
}  # fmt: skip


def made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x = 1\n")
    return path


@pytest.mark.parametrize("arguments", MESSAGES.values(), ids=MESSAGES.keys())
def test_an_error_shows_a_name_and_does_not_obey_it(tmp_path: Path, arguments) -> None:  # type: ignore[no-untyped-def]
    done = piped(*arguments(tmp_path))
    assert done.returncode == 2
    assert not harmful(done.stdout + done.stderr)
    assert "Traceback" not in done.stderr
    assert re.search(r"\\(?:u00|x)1b\[2J|without|no student", done.stderr), done.stderr


def test_a_fault_of_the_grader_itself_shows_its_traceback_and_obeys_nothing() -> None:
    code = (
        "from autograder import cli\nfrom autograder.commands import doctor\n"
        f"def fail(**options): raise ValueError({PAYLOAD!r})\ndoctor.run = fail\ncli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, "doctor"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert not harmful(done.stderr)
    assert "Traceback" in done.stderr
    assert r"ValueError: \x1b]0;owned" in done.stderr


# -------------------------------------------------------------------- a class, a notebook

SIGNATURE = "def grad_scaler_step(*args, **kwargs):\n"
RAISES = f"{SIGNATURE}    print({PAYLOAD!r})\n    raise type({'E' + PAYLOAD!r}, (Exception,), {{}})({PAYLOAD!r})\n"
RETURNS = f"{SIGNATURE}    return {{{PAYLOAD!r}: type({'T' + PAYLOAD!r}, (), {{}})()}}\n"
LITERAL = f"{PAYLOAD} = 1\n"


@pytest.fixture(scope="module")
def hostile_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a class whose students' names, stray files, code, output, exceptions and notebooks hold the payload."""
    tree = tmp_path_factory.mktemp("terminal") / "class"
    name = PAYLOAD.replace("/", "_")
    for student, source in {
        f"raises{name}": RAISES, f"returns{name}": RETURNS, f"literal{name}": LITERAL, "=1+1": STEP.solution,
    }.items():  # fmt: skip
        path = made(tree / student / STEP.slug / f"{STEP.slug}.ipynb")
        notebook = json.loads(submission_notebook(STEP, source))
        notebook["metadata"][PAYLOAD] = PAYLOAD
        notebook["cells"][0]["metadata"][PAYLOAD] = PAYLOAD
        notebook["cells"].append({"cell_type": PAYLOAD, "metadata": {}, "source": PAYLOAD})
        notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": f"{PAYLOAD}\n'\\{CLEAR}'"})
        path.write_text(json.dumps(notebook), encoding="utf-8")
    made(tree / f"damaged{name}" / STEP.slug / f"{STEP.slug}.ipynb").write_text(f'{{"{PAYLOAD}')
    made(tree / f"empty{name}" / f"{STEP.slug}{name}" / f"x{name}.ipynb")
    made(tree / f"stray{name}.ipynb")
    (tree / f"link{name}").symlink_to(name)
    return tree


@pytest.mark.needs("bubblewrap")
def test_a_class_on_a_terminal_with_a_progress_line_obeys_nothing(hostile_class: Path, tmp_path: Path) -> None:
    out = tmp_path / f"out{CLEAR}"
    status, text = on_a_terminal("grade", hostile_class, "--out", out, "--seed", "1", "--workers", "1", "--progress")
    assert status == 1, text
    assert "\x1b[?25l" in text, "there was no progress line"
    assert not harmful(text)
    for said in (r"raises\u001b]0;owned", r"damaged\u001b]0;owned", r"stray\u001b", r"link\u001b", "are in"):
        assert said in text
    lines = (out / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert not harmful("\n".join(lines))
    rows = list(csv.DictReader(lines))
    assert len(rows) == len(lines) - 1 == 5
    assert "'=1+1" in {row["student"] for row in rows}
    assert not [cell for row in rows for cell in row.values() if cell.lstrip().startswith(tuple("=+-@"))]


@pytest.mark.needs("bubblewrap")
def test_a_class_as_json_is_plain_text_too(hostile_class: Path, tmp_path: Path) -> None:
    done = piped("grade", hostile_class, "--out", tmp_path / "out", "--seed", "1", "--workers", "1", "--json")
    assert done.returncode == 1
    assert not harmful(done.stdout + done.stderr)
    assert len(done.stdout.splitlines()) == 5


@pytest.mark.parametrize("source", [RAISES, RETURNS, LITERAL], ids=["raises", "returns", "literal"])
def test_a_students_own_check_on_a_terminal_obeys_nothing(tmp_path: Path, source: str) -> None:
    path = made(tmp_path / f"{STEP.slug}.py")
    path.write_text(source, encoding="utf-8")
    status, text = on_a_terminal("check", path)
    assert status == 1, text
    assert "\x1b[" in text, "there was no color"
    assert not harmful(text)
    assert r"\x1b]0;owned" in text or source == LITERAL


def test_pointers_are_listed_by_student_and_shown_not_obeyed():
    from dataclasses import replace

    from test_report import a_score

    from autograder.report.rows import row_of
    from autograder.report.terminal import pointers_text

    plain = row_of(a_score("s9"))
    assert pointers_text([plain]) == ""
    pointed = [replace(plain, student=f"s{number}", look="the code names gc\x1b[2J") for number in (2, 1)]
    lines = pointers_text([plain, *pointed]).split("\n")
    assert lines[0] == "Code to look at; no mark depends on it:"
    assert [line.strip().partition(":")[0] for line in lines[1:]] == ["s1", "s2"]
    assert all(line.endswith(r"the code names gc\x1b[2J") for line in lines[1:])
    many = [replace(plain, student=f"s{number}", look="x") for number in range(100)]
    assert pointers_text(many).endswith("and 70 more, which the class report lists")
