"""The picture of the host shows what an attack leaves, and not what another test's browser does meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from host import descendants, host, picture

PARENT = """
import subprocess, sys
for line in sys.stdin:
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    print(child.pid, flush=True)
    if line.startswith("end"):
        child.kill()
        child.wait()
        break
"""
"""Starts a process at each line that it is given."""


@pytest.fixture
def another() -> Iterator[subprocess.Popen[str]]:
    """A process of another test's, in the middle of its work."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:
        yield one
        one.kill()


def starts_one(one: subprocess.Popen[str], line: str = "more") -> int:
    assert one.stdin is not None
    assert one.stdout is not None
    one.stdin.write(f"{line}\n")
    one.stdin.flush()
    return int(one.stdout.readline())


def test_what_another_tests_process_starts_and_ends_is_not_seen(tmp_path: Path, another: subprocess.Popen[str]) -> None:
    first = starts_one(another)
    with host(tmp_path) as made:
        before = picture(made)["processes"]
        second = starts_one(another)
        os.kill(first, 9)
        assert before == picture(made)["processes"] == []
    os.kill(second, 9)


def test_another_tests_process_that_ends_is_left_to_whoever_started_it(
    tmp_path: Path, another: subprocess.Popen[str]
) -> None:
    with host(tmp_path) as made:
        starts_one(another, "end")
        os.waitid(os.P_PID, another.pid, os.WEXITED | os.WNOWAIT)
        assert picture(made)["processes"] == []
        assert another.wait() == 0


def test_what_was_started_since_is_seen_when_it_lost_its_parent_too(
    tmp_path: Path, another: subprocess.Popen[str]
) -> None:
    with host(tmp_path) as made:
        lost = subprocess.check_output(["sh", "-c", "sleep 60 >/dev/null & echo $!"], text=True)
        with subprocess.Popen(["sleep", "60"]) as kept:
            until = time.monotonic() + 60.0
            # A process that was just started bears the name of the one that started it for a moment.
            while (seen := descendants(os.getpid(), made.others)) != ["sleep", "sleep"] and time.monotonic() < until:
                time.sleep(0.01)
            assert seen == ["sleep", "sleep"]
            kept.kill()
        assert descendants(os.getpid(), made.others) == ["sleep"]
        os.kill(int(lost), 9)
        assert picture(made)["processes"] == []
