"""Is the page for instructors true: its tables those of the tests, its limits those in force, its tests there?"""

from __future__ import annotations

import importlib
import re
import resource
import sys
from collections.abc import Iterator
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import page_code
import pytest
import yaml
from figures import threats

from autograder import catalog, observations, untrusted_files
from autograder.limits import MOST_WAITING
from autograder.models import Score
from autograder.report.words import provenance
from autograder.sandbox import frames, inner, runner, walls
from autograder.sandbox.layers import Layers
from autograder.sandbox.zygote import STUDENT, Limits

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book/threat_model.md").read_text(encoding="utf-8")


@pytest.fixture
def of_tests(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Import a module of tests/<folder>, with the modules that stand beside it."""
    known = set(sys.modules)

    def load(folder: str, name: str) -> Any:
        monkeypatch.syspath_prepend(str(ROOT / "tests" / folder))
        return importlib.import_module(name)

    yield load
    for name in set(sys.modules) - known:  # another folder may have one of the same name
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(ROOT / "tests")):
            del sys.modules[name]


@pytest.fixture(scope="module")
def page() -> page_code.Page:
    return page_code.run("threat_model")


def test_the_table_of_layers_is_that_of_the_tests(of_tests: Any) -> None:
    tests = of_tests("sandbox", "test_layers")
    there = [(a.layer, a.off, name) for name, a in (*tests.ATTACKS.items(), *tests.AS_ROOT.items())]
    assert [(b.layer, b.also_off, b.attack) for b in threats.breaches()] == there
    shown = repr(threats.layer_table())
    assert all(name in shown for _, _, name in there)
    assert all(f"\n{field.name} | " in shown for field in fields(Layers))


def test_the_hostile_programs_are_counted_as_the_suite_counts_them(of_tests: Any, page: page_code.Page) -> None:
    of_tests("hostile", "attack")
    names = sorted(path.stem for path in (ROOT / "tests/hostile").glob("test_hostile_*.py"))
    modules = [of_tests("hostile", name) for name in names if name != "test_hostile_suite"]
    assert list(threats.hostile().values()) == [len(module.ATTACKS) for module in modules]
    for kind, module in zip(threats.hostile(), modules, strict=True):
        assert module.__doc__.startswith(kind)
    assert page.number("programs") == sum(len(module.ATTACKS) for module in modules)
    assert f"All of them | {page.shown['programs']}" in repr(threats.hostile_table())


def test_the_routes_to_a_forbidden_name_are_those_that_are_tested(of_tests: Any, page: page_code.Page) -> None:
    tests = of_tests("sandbox", "test_forbid")
    assert threats.routes() == (list(tests.IN_SOURCE), list(tests.AT_RUN_TIME))
    assert page.number("in-source") == len(tests.IN_SOURCE)
    assert page.number("at-run-time") == len(tests.AT_RUN_TIME)
    for word in ("import ", "as t", "getattr(", "torch.ops", "torch._C"):
        assert any(word in source for source in tests.IN_SOURCE.values()), word
    for word in ("getattr(", "eval(", "import *", "type('Mine'", "_jit_get_operation"):
        assert any(word in source for source in tests.AT_RUN_TIME.values()), word


def test_a_table_that_is_not_written_out_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests/hostile").mkdir(parents=True)
    (tmp_path / "tests/hostile/test_hostile_x.py").write_text('"""X."""\nATTACKS = (*others, f())\n')
    monkeypatch.setattr(threats, "ROOT", tmp_path)
    with pytest.raises(ValueError, match="written out"):
        threats.hostile()


# ---------------------------------------------------------------------------- limits


def test_the_limits_are_those_that_a_submission_s_process_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[int, int] = {}
    monkeypatch.setattr(resource, "setrlimit", lambda kind, pair: given.update({kind: pair[0]}))
    monkeypatch.setattr(inner, "_used_bytes", lambda: {"VmData": 0, "VmSize": 0})
    asked = {"memory": STUDENT.memory, "cpu": STUDENT.cpu, "file": STUDENT.file}
    inner._limit(inner.prepare(None, False, asked).limits or {})
    shown = threats.limits()
    assert shown["Processor time"] == f"{given[resource.RLIMIT_CPU]} s for its process"
    assert shown["Waiting for a processor"] == f"{MOST_WAITING} times that budget, which does not count"
    assert shown["Memory"].startswith(f"{given[resource.RLIMIT_DATA] // 2**20} MiB ")
    assert shown["A file"] == f"{given[resource.RLIMIT_FSIZE] // 2**20} MiB"
    assert shown["Open files"] == f"{given[resource.RLIMIT_NOFILE]}"
    assert given[resource.RLIMIT_NPROC] == 0
    assert shown["Processes and threads"].startswith("none ")
    assert Limits() == STUDENT
    command = walls.bubblewrap_command("bwrap")
    assert shown["All its files"].startswith(f"{int(command[command.index('--size') + 1]) // 2**20} MiB")
    assert shown["Printed text that is kept"] == f"{observations.OUTPUT_LIMIT:,} characters"
    assert shown["An answer to the grader"].startswith(f"{frames.LIMIT // 2**20} MiB")
    assert shown["The file that is handed in"] == f"{untrusted_files.LIMIT // 2**20} MiB"


def test_the_time_that_is_shown_is_the_time_that_is_given(
    monkeypatch: pytest.MonkeyPatch, page: page_code.Page
) -> None:
    monkeypatch.setattr(runner.time, "monotonic", lambda: 1000.0)
    exercises = catalog.load_all(ROOT).values()
    runs = [runner.Runner(lambda: None, lambda: None, (), exercise) for exercise in exercises]  # type: ignore[arg-type]
    shown = threats.limits()
    one, all_of_them = sorted(run.allowance() for run in runs), sorted(run._end - 1000 for run in runs)
    assert shown["Time of one check"].startswith(f"{one[0]:g} to {one[-1]:g} s: half")
    assert shown["Time of all checks"].startswith(f"{all_of_them[0]:g} to {all_of_them[-1]:g} s: twice")
    (first, *_) = runs
    given = []
    for timeouts in range(runner.MAX_TIMEOUTS):
        first._timeouts = timeouts
        given.append(first.allowance())
    assert all(after == before / 2 for before, after in pairwise(given))
    budget = first._exercise.seconds
    assert given[0] == budget / 2
    assert sum(given) < budget
    assert page.number("timeouts") == runner.MAX_TIMEOUTS
    assert page.number("waiting") == MOST_WAITING


# ------------------------------------------------------------------------ what it names


def test_every_test_that_is_named_is_there_and_every_hostile_one_is_named() -> None:
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", PAGE))
    assert len(named) > 15
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []
    hostile = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/hostile").glob("test_*.py")}
    about_the_suite = {"tests/hostile/test_hostile_suite.py", "tests/hostile/test_picture.py"}
    assert hostile - named == about_the_suite


def test_each_promise_says_what_holds_and_what_attacks_it() -> None:
    section = PAGE.partition("(promises)=")[2].partition("```{code-cell}")[0]
    promises = re.split(r"\n(?=[A-Z][^\n]*\n: )", section)[1:]
    assert len(promises) == 6
    for promise in promises:
        assert "*What holds:*" in promise
        assert "`tests/" in promise.partition("*What attacks it:*")[2]


def test_the_fields_of_the_audit_trail_are_fields_of_a_record_and_shown_to_the_student() -> None:
    table = PAGE.partition("(audit-trail)=")[2]
    named = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert len(named) == 7
    assert set(named) <= {field.name for field in fields(Score)}
    shown = [name for name, _ in provenance(made_up())]
    assert shown == ["Inputs", "Expected values", "Graded by", "Sandbox", "Exercise version", "Submission", "Run time"]


def made_up() -> Score:
    from autograder.models import Reference

    return Score(
        "ada", "x", "graded", 1.0, 1.0, "seed:1", (), Reference("solution", "cpu", "2"), ("rlimits",), 1.0,
        version="v", content_hash="c", grader="g",
    )  # fmt: skip


def test_the_options_files_and_commands_that_it_names_exist() -> None:
    from autograder.pipeline import RECORDS
    from autograder.secret import FILE

    assert f"**Keep `{FILE}`**" in PAGE
    assert f"`{RECORDS}`" in PAGE
    cli = (ROOT / "autograder/cli.py").read_text(encoding="utf-8")
    assert '"--unconfined"' in cli
    assert "def doctor(" in cli
    page = (ROOT / "autograder/report/templates/classroom.html.j2").read_text(encoding="utf-8")
    assert ">To look at</h3>" in page
    assert "*To look at*" in PAGE


def test_the_readme_leads_to_the_page() -> None:
    assert "book/threat_model.md" in (ROOT / "README.md").read_text(encoding="utf-8")
    toc = yaml.safe_load((ROOT / "book/_toc.yml").read_text(encoding="utf-8"))
    assert [page["file"] for part in toc["parts"] for page in part["chapters"]].count("threat_model") == 1


def test_what_it_says_of_pointers_is_what_they_point_at(page: page_code.Page) -> None:
    from autograder.models import Cell
    from autograder.pointers import MODULES, NAMES, pointers
    from autograder.sandbox.runner import MAX_LOST

    section = PAGE.partition("(own-word)=")[2].partition("(layers)=")[0]
    named = set(re.findall(r"`([\w.]+)`", section.partition("Code that names such a way")[2].partition("gets")[0]))
    assert named >= {*MODULES, "sys.modules", "sys._getframe", "__globals__", "settrace"}
    for name in named:
        assert name in NAMES or pointers([Cell(1, f"import sys\nimport {name}" if name in MODULES else name)])
    assert "look" in {field.name for field in fields(Score)}
    assert page.number("lost") == MAX_LOST
