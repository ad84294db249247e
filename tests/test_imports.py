"""What imports what: plain data stays plain, the command line answers at once, the confined process knows little."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROBE = """
import builtins, importlib, json, sys
start = set(sys.modules)
importlib.import_module(sys.argv[1])
print(json.dumps(sorted(name for name in set(sys.modules) - start)))
"""


def imported_by(module: str) -> set[str]:
    """Return the names of all modules that importing one brings into a fresh interpreter."""
    run = subprocess.run([sys.executable, "-c", PROBE, module], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return set(json.loads(run.stdout))


def foreign(names: set[str]) -> set[str]:
    """Return the packages that are neither ours nor the standard library's."""
    return {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) - {"autograder"}


@pytest.mark.parametrize(
    "module",
    ["models", "values", "floats", "tensors", "scenarios", "observations", "checks", "recognize", "errors", "files"],
)
def test_plain_data_needs_the_standard_library_only(module: str):
    assert foreign(imported_by(f"autograder.{module}")) == set()


def test_importing_the_package_imports_none_of_it():
    names = imported_by("autograder")
    assert foreign(names) == set()
    assert {name for name in names if name.startswith("autograder")} == {"autograder"}


def test_exercises_checks_need_the_standard_library_only():
    root = Path(__file__).parent.parent / "exercises"
    paths = sorted(root.glob("*/checks.py"))
    assert paths
    code = (
        "import json, runpy, sys\nfor path in sys.argv[1:]: runpy.run_path(path)\nprint(json.dumps(list(sys.modules)))"
    )
    command = [sys.executable, "-c", code, *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root.parent)
    assert not set(json.loads(run.stdout)) & {"torch", "numpy", "yaml"}


def test_the_confined_process_knows_nothing_that_is_worth_stealing():
    ours = {name for name in imported_by("autograder.sandbox.confined") if name.startswith("autograder")}
    assert ours <= {
        "autograder",
        "autograder.checks",  # the vocabulary, and no exercise's checks
        "autograder.floats",
        "autograder.models",
        "autograder.values",
        "autograder.tensors",
        "autograder.scenarios",
        "autograder.observations",
        "autograder.sandbox",
        "autograder.sandbox.bpf",
        "autograder.sandbox.cells",
        "autograder.sandbox.confined",
        "autograder.sandbox.forbid",
        "autograder.sandbox.frames",
        "autograder.sandbox.huge",
        "autograder.sandbox.inner",
        "autograder.sandbox.landlock",
        "autograder.sandbox.leftovers",
        "autograder.sandbox.ready",
        "autograder.sandbox.sealed",
        "autograder.sandbox.seccomp",
        "autograder.sandbox.syscalls",
        "autograder.sandbox.waiting",
    }
    assert "autograder.sandbox.confined" in ours


def test_help_imports_neither_torch_nor_nbgrader():
    command = [sys.executable, "-X", "importtime", "-m", "autograder", "--help"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "grade" in run.stdout
    names = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines() if line.startswith("import time:")}
    assert "typer" in names
    assert not {name.partition(".")[0] for name in names} & {"torch", "numpy", "nbgrader", "sqlalchemy", "IPython"}


def test_without_torch_and_numpy_plain_values_are_observed():
    code = (
        "import sys\n"
        "from autograder.checks import case\n"
        "from autograder.observations import digest, encode_observation, observe\n"
        "seen = observe(lambda x: [x / 2, {'a': (x,)}, object], case('', x=3.0), 'overwritten')\n"
        "print(encode_observation(seen)['outcomes'][0]['returned'][0], len(digest(seen)))\n"
        "print(sorted({'torch', 'numpy'} & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "1.5 6\n[]\n"
