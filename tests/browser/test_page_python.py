"""What the page's Python does with code that is unfinished, wrong or wild: a clear state, and the next run is sound."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from page_python import PagePython, Static

from autograder import catalog
from autograder.browser import archive, printed
from autograder.limits import MAX_TIMEOUTS
from autograder.reference.expectations import PUBLIC, Seed, draw
from autograder.report.records import from_record, record

ROOT = Path(__file__).resolve().parents[2]
SLUG = "dynamic_loss_scale"
HEAD = (
    "def dynamic_loss_scale(overflows, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=9):"
)
DRAWN = """
import hashlib, json
from pathlib import Path
from autograder.browser import course
from autograder.reference.expectations import PUBLIC, Seed, draw
exercises = [course.load(slug, Path("/course")) for slug in {slugs}]
json.dumps([hashlib.sha256(repr(draw(exercise, Seed(PUBLIC))).encode()).hexdigest() for exercise in exercises])
"""


def graded(python: PagePython, body: str, slug: str = SLUG) -> dict[str, Any]:
    """Return what the page gets for a function of that body."""
    lines = dedent(body).strip("\n").splitlines()
    return python.grade(slug, "\n".join([HEAD, *(f"    {line}" for line in lines)]) + "\n")


@pytest.fixture(scope="module", autouse=True)
def sound_at_the_end(page_python: PagePython) -> Any:
    yield
    solution = catalog.load(SLUG, ROOT).solution
    assert page_python.grade(SLUG, solution)["record"]["score"] == catalog.load(SLUG, ROOT).max_score


def test_it_starts_in_stages_and_knows_the_exercises(page_python: PagePython) -> None:
    assert page_python.ready["stages"] == ["python", "course", "judge"]
    assert page_python.ready["slugs"] == list(archive.slugs(ROOT))


def test_a_record_has_the_keys_and_the_kinds_of_the_contract(page_python: PagePython) -> None:
    said = page_python.ask(slug=SLUG, source=catalog.load(SLUG, ROOT).solution)
    score = from_record(said["answer"]["record"])  # refuses what is missing, unknown or of another kind
    assert json.loads(json.dumps(record(score))) == said["answer"]["record"]
    assert (score.status, score.seed_id, score.reason, score.notes) == ("graded", PUBLIC, "", ())
    checks = catalog.load(SLUG, ROOT).checks
    assert list(dict.fromkeys(check for check, *_ in said["tried"])) == ["", *(check.id for check in checks)]
    assert [number for _, number, *_ in said["tried"] if not number] == [0], "once, before any check"
    seconds = catalog.load(SLUG, ROOT).seconds
    assert said["clock"] == seconds
    assert {(of, allowed) for *_, of, _, allowed in said["tried"]} == {(len(checks), seconds / 2)}
    assert {field.name for field in fields(score)} > {"version", "content_hash"}


def test_what_ran_out_of_time_is_not_run_again_and_the_rest_is_judged(page_python: PagePython) -> None:
    exercise = catalog.load(SLUG, ROOT)
    checks = [check.id for check in exercise.checks]

    def statuses(ended: list[list[Any]], used_up: bool = False) -> dict[str, tuple[str, str]]:
        said = page_python.ask(slug=SLUG, source=exercise.solution, ended=ended, usedUp=used_up)
        late = {(check, case) for check, case in ended}
        assert not late & {(check, case) for check, _, _, case, _ in said["tried"]}, "it has had its time"
        return {check["id"]: (check["status"], check["message"]) for check in said["answer"]["record"]["checks"]}

    one = statuses([[checks[3], 1]])
    assert one.pop(checks[3])[0] == "timeout"
    assert {status for status, _ in one.values()} == {"passed"}

    several = statuses([[check, 0] for check in checks[: MAX_TIMEOUTS + 1]])
    for number, check in enumerate(checks):
        status, message = several[check]
        if number < MAX_TIMEOUTS:
            assert (status, f"within {exercise.seconds * 0.5 ** (1 + number):.3g} s" in message) == ("timeout", True)
        else:
            assert (status, "used up" in message) == ("not_run", True)

    ended = statuses([[checks[1], 0]], used_up=True)
    assert [ended[check][0] for check in checks] == ["passed", "timeout", *["not_run"] * (len(checks) - 2)]


def test_the_starter_is_not_started_once(page_python: PagePython) -> None:
    for slug in archive.slugs(ROOT):
        answer = page_python.grade(slug, catalog.load(slug, ROOT).starter + "\n# mine soon\n")
        assert (answer["record"]["status"], answer["record"]["reason"]) == ("not_started", "the starter, untouched")
        assert answer["marks"] == []
        assert {check["status"] for check in answer["record"]["checks"]} == {"not_run"}
    begun = graded(page_python, "scale = init_scale\nraise NotImplementedError")
    assert begun["record"]["status"] == "not_started"


def test_random_cases_are_those_of_the_command_line(page_python: PagePython) -> None:
    import hashlib

    slugs = archive.slugs(ROOT)
    said = page_python.ask(run=DRAWN.format(slugs=slugs))
    here = [repr(draw(catalog.load(slug, ROOT), Seed(PUBLIC))) for slug in slugs]
    assert "value" in said, said
    assert json.loads(said["value"]) == [hashlib.sha256(text.encode()).hexdigest() for text in here]


def test_an_exception_marks_its_line(page_python: PagePython) -> None:
    answer = graded(page_python, "scale = init_scale\nreturn 1 / (scale - scale)")
    first = answer["record"]["checks"][0]
    assert first["status"] == "error"
    assert "it raised ZeroDivisionError: division by zero" in first["message"].replace("It raised", "it raised")
    assert answer["marks"][0] == {"line": 3, "text": "ZeroDivisionError: division by zero", "check": first["id"]}
    assert first["call"].startswith("dynamic_loss_scale(overflows=[")


@pytest.mark.parametrize(
    ("source", "line", "text"),
    [
        ("x = 1\ndef f(:\n", 2, "SyntaxError: "),
        ("import math\nmath.nothing\n", 2, "AttributeError: module 'math' has no attribute 'nothing'"),
        ("\n\nimport numpy\n", 3, "ModuleNotFoundError: NumPy is not there when Python runs in the page"),
        ("import torch.nn as nn\n", 1, "ModuleNotFoundError: torch.nn is not there when Python runs in the page"),
        ("from torch.amp import GradScaler\n", 1, "this exercise asks you to write it yourself"),
        ("name = input()\n", 1, "EOFError"),
        ("raise SystemExit(3)\n", 1, "SystemExit: 3"),
        ("def f():\n    return f()\nf()\n", 2, "RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_what_stops_the_code_from_being_read_in_is_marked(
    page_python: PagePython, source: str, line: int, text: str
) -> None:
    answer = page_python.grade(SLUG, source)
    mark = answer["marks"][0]
    assert (mark["line"], mark["check"]) == (line, "")
    assert mark["text"].startswith(text)
    assert answer["record"]["status"] == "graded"
    assert len({check["difference"] for check in answer["record"]["checks"]}) == 1
    assert answer["record"]["reason"]


def test_what_is_printed_comes_back_once_and_within_a_limit(page_python: PagePython) -> None:
    answer = graded(page_python, "print('x' * 30_000)\nreturn {}")
    assert answer["record"]["output"] == "x" * 10_000
    assert graded(page_python, "print('hello')\nreturn {}")["record"]["output"] == "hello\n"


def test_what_the_shown_case_of_a_check_printed_stands_beside_it(page_python: PagePython) -> None:
    answer = graded(page_python, "print('growth', growth_interval)\nreturn {}")
    lost = [check["id"] for check in answer["record"]["checks"] if check["status"] != "passed"]
    assert list(answer["printed"]) == lost != []
    for check in answer["record"]["checks"]:
        text, calls = answer["printed"][check["id"]].values()
        assert text.count("growth ") == calls == len(text.splitlines())
    assert graded(page_python, "print('x' * 30_000)\nreturn {}")["printed"][lost[0]]["text"] == "x" * 4_001
    solution = catalog.load(SLUG, ROOT).solution
    read_in = page_python.grade(SLUG, f"{solution}\nprint('b')\n")["printed"]
    assert read_in == {"": {"text": "b\n", "calls": 0}}


def test_what_is_printed_is_told_while_it_runs_and_only_its_beginning(page_python: PagePython) -> None:
    source = f"print('read in')\n{HEAD}\n    print('x' * 3_000, flush=True)\n    return {{}}\n"
    told = page_python.ask(slug=SLUG, source=source)["printed"]
    assert told == ("read in\n" + ("x" * 3_000 + "\n") * 4)[: printed.MOST + 1]
    broken = f"{HEAD}\n    print('\\ud800')\n    return {{}}\n"
    assert page_python.ask(slug=SLUG, source=broken)["printed"].startswith("\\ud800\n")


WILD = {
    "builtins": "import builtins\nbuiltins.len = builtins.isinstance = builtins.sum = lambda *a: 0\nreturn {}",
    "modules": "import math, json, sys\nmath.isnan = json.loads = json.dumps = None\nsys.modules.clear()\nreturn {}",
    "streams": "import sys\nsys.stdout.close()\nsys.stdout = sys.stderr = None\nreturn {}",
    "the grader": "import sys\nfor name in [*sys.modules]:\n    if 'grader' in name: del sys.modules[name]\nreturn {}",
    "the keyboard": "raise KeyboardInterrupt",
    "recursion": "import sys\nsys.setrecursionlimit(150)\nreturn dynamic_loss_scale(overflows)",
    "an odd object": "class Odd:\n    def __repr__(self): raise SystemExit\nreturn Odd()",
    "a deep one": "value = []\nfor _ in range(900): value = [value]\nreturn value",
    "a large one": "return {'scales': [{}] * 300_000}",
    "half a character": "print('\\ud800')\nraise ValueError('\\ud800\\0')",
}


@pytest.mark.parametrize("what", WILD)
def test_wild_code_gets_no_points_and_leaves_the_next_run_sound(page_python: PagePython, what: str) -> None:
    answer = graded(page_python, WILD[what])
    assert (answer["record"]["status"], answer["record"]["score"]) == ("graded", 0)
    exercise = catalog.load(SLUG, ROOT)
    again = page_python.grade(SLUG, exercise.solution)["record"]
    assert again["score"] == exercise.max_score


def test_code_that_uses_up_the_stack_ends_python_and_says_so(static: Static) -> None:
    python = PagePython(static)
    try:
        fatal = python.ask(slug=SLUG, source="value = []\nfor _ in range(10**6): value = [value]\ndel value\n" * 9)
        assert fatal["died"] is True, fatal
    finally:
        python.close()


def test_a_paste_of_a_megabyte_is_read(page_python: PagePython) -> None:
    exercise = catalog.load(SLUG, ROOT)
    pasted = exercise.solution + "\n" + "# " + "x" * 2**20 + "\n"
    assert page_python.grade(SLUG, pasted)["record"]["score"] == exercise.max_score


def test_an_unknown_exercise_is_named(page_python: PagePython) -> None:
    assert "'nothing' cannot be solved in the page; what can is " in page_python.ask(slug="nothing", source="")["error"]
