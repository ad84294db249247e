"""One grader at a time, and none that ended keeps the others out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.locks import LockError, locked

HOLD = """
import sys
from pathlib import Path
from autograder.locks import locked
with locked(Path(sys.argv[1]), "out"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_grader_is_told_who_is_at_work_and_a_killed_one_lets_go(tmp_path: Path):
    path = tmp_path / ".lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(LockError) as caught, locked(path, "out"):
            pass
        assert str(caught.value) == (
            f"out: another grader (process {other.pid}) is writing to it, and nothing was graded; "
            "wait until it ends, then run this again"
        )
        other.send_signal(signal.SIGKILL)
        other.wait()
        with locked(path, "out"):
            assert path.read_text() == f"{os.getpid()}\n"


def test_a_lock_is_let_go_after_the_block_and_its_file_stays(tmp_path: Path):
    for _ in range(2):
        with locked(tmp_path / ".lock", "out"):
            pass
    with pytest.raises(ZeroDivisionError), locked(tmp_path / ".lock", "out"):
        _ = 1 / 0
    with locked(tmp_path / ".lock", "out"), pytest.raises(LockError), locked(tmp_path / ".lock", "out"):
        pass
    assert [each.name for each in tmp_path.iterdir()] == [".lock"]


def test_a_lock_file_that_is_removed_by_who_holds_it_locks_nobody_out_and_lets_no_two_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path, real, opened = tmp_path / ".lock", os.open, []

    def swapped(*arguments: object, **more: object) -> int:
        descriptor = real(*arguments, **more)  # type: ignore[arg-type]
        opened.append(descriptor)
        if len(opened) == 1:
            path.unlink()  # who held it ends, and takes it back, before it is locked here
        return descriptor

    monkeypatch.setattr(os, "open", swapped)
    with locked(path, "out"):
        assert len(opened) == 2
        assert path.read_text() == f"{os.getpid()}\n"
        with pytest.raises(LockError), locked(path, "out"):
            pass


def test_a_note_that_is_no_number_is_not_repeated(tmp_path: Path):
    path = tmp_path / ".lock"
    with locked(path, "out"):
        path.write_text("\x1b[2J evil")
        with pytest.raises(LockError, match=r"^out: another grader is writing to it"), locked(path, "out"):
            pass


def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def none(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", none)
    with pytest.raises(LockError, match="two graders cannot be kept apart there"), locked(tmp_path / ".lock", "out"):
        pass
