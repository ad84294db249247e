"""The mark ``needs(package)``: a skip and one line on a user's machine, an error in CI, no effect where it is there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

# By its path: other folders have a conftest of their own, and "import conftest" finds whichever was first.
_SPEC = importlib.util.spec_from_file_location("the_conftest", Path(__file__).with_name("conftest.py"))
conftest = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(conftest)

TEST = """
import pytest

@pytest.mark.needs("bubblewrap")
def test_one():
    pass

@pytest.mark.needs("bubblewrap")
def test_two(tmp_path):
    raise AssertionError("it ran")

def test_three():
    pass
"""


def run(tmp_path: Path, test: str = TEST, *, ci: str = "", there: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run a test file under this conftest with these commands on the PATH; return the exit status and the output."""
    (tmp_path / "conftest.py").write_text(Path(conftest.__file__).read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -ra --strict-markers\nmarkers = needs(package): x\n")
    (tmp_path / "test_it.py").write_text(test)
    (tmp_path / "bin").mkdir()
    for command in there:
        (tmp_path / "bin" / command).write_text("#!/bin/sh\n")
        (tmp_path / "bin" / command).chmod(0o755)
    environment = {**os.environ, "PATH": str(tmp_path / "bin"), "CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no", "--rootdir=."]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_a_missing_package_skips_with_one_line_that_says_how_to_get_it(tmp_path: Path):
    status, output = run(tmp_path)
    assert status == 0
    lines = [line for line in output.splitlines() if "bubblewrap" in line]
    assert len(lines) == 1
    assert lines[0].startswith("SKIPPED [2] ")
    assert lines[0].endswith("needs bubblewrap: apt-get install bubblewrap")
    assert "1 passed, 2 skipped" in output


def test_in_ci_it_is_an_error(tmp_path: Path):
    status, output = run(tmp_path, ci="true")
    assert status == 1
    assert "ERROR test_it.py::test_one - Failed: needs bubblewrap: apt-get install bubblewrap" in output
    assert "1 passed, 2 errors" in output


def test_a_package_that_is_there_changes_nothing(tmp_path: Path):
    status, output = run(tmp_path, ci="true", there=("bwrap",))
    assert status == 1
    assert "AssertionError: it ran" in output
    assert "1 failed, 2 passed" in output


def test_a_package_nobody_knows_is_an_error_everywhere(tmp_path: Path):
    status, output = run(tmp_path, TEST.replace("bubblewrap", "bubblegum"))
    assert status == 1
    assert (
        "needs('bubblegum'): tests/conftest.py knows bubblewrap, chromium, linux-libc-dev, openssl, postgresql"
        in output
    )
    assert "2 errors" in output


def test_debian_keeps_postgresqls_server_off_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not conftest.is_there("pg_ctl", tmp_path)
    server = tmp_path / "15/bin"
    server.mkdir(parents=True)
    (server / "pg_ctl").touch()
    assert conftest.is_there("pg_ctl", tmp_path)
    assert not conftest.is_there("postgres", tmp_path)


def test_the_examples_of_hypotheses_are_the_same_at_every_run():
    from hypothesis import settings

    assert settings.get_profile("repeatable").derandomize
    assert settings.get_profile("repeatable").deadline is None


def test_a_package_may_show_by_a_file(tmp_path: Path) -> None:
    header = tmp_path / "header.h"
    assert not conftest.is_there(str(header))
    header.touch()
    assert conftest.is_there(str(header))
