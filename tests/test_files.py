"""A file is written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder import files


def test_a_change_is_told_from_none(tmp_path: Path):
    path = tmp_path / "new" / "folders" / "a.txt"
    assert files.write(path, "one\n") is True
    before = path.stat()
    assert files.write(path, "one\n") is False
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert files.write(path, "two\n") is True
    assert path.read_bytes() == b"two\n"
    assert [p.name for p in path.parent.iterdir()] == ["a.txt"]


def test_everybody_may_read_it_whatever_the_umask(tmp_path: Path):
    before = os.umask(0o077)
    try:
        files.write(tmp_path / "a.txt", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o644


@pytest.mark.parametrize("failing", ["replace", "fdopen", "chmod"])
def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str):
    path = tmp_path / "a.txt"
    files.write(path, "old")
    real = os.fdopen

    def fail(*args: object, **kwargs: object) -> None:
        if failing == "fdopen":  # the disk is full half-way
            with real(args[0], "wb") as stream:  # type: ignore[call-overload]
                stream.write(b"ne")
        raise KeyboardInterrupt

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(KeyboardInterrupt):
        files.write(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_in_its_place_is_an_error_and_leaves_nothing(tmp_path: Path):
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(OSError, match=r"a\.txt"):
        files.write(tmp_path / "a.txt", "x")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@given(text=st.text(st.characters()))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_text_can_be_written(tmp_path: Path, text: str):
    path = tmp_path / "a.txt"
    files.write(path, text)
    assert path.read_bytes() == text.encode("utf-8", "backslashreplace")
    assert files.write(path, text) is False


def test_half_a_surrogate_pair_is_written_as_its_escape(tmp_path: Path):
    files.write(tmp_path / "a.txt", "ä\ud800\r\n")
    assert (tmp_path / "a.txt").read_bytes() == "ä\\ud800\r\n".encode()


def test_a_text_in_parts_is_written_as_one_or_not_at_all(tmp_path: Path):
    path = tmp_path / "a" / "b.txt"

    def parts():
        yield from ("one", "\ntwo", "\ud800")
        if path.exists():
            raise ValueError("half-way")

    files.write_parts(path, parts())
    assert path.read_bytes() == b"one\ntwo\\ud800"
    with pytest.raises(ValueError, match="half-way"):
        files.write_parts(path, parts())
    assert path.read_bytes() == b"one\ntwo\\ud800"
    assert [p.name for p in path.parent.iterdir()] == ["b.txt"]
    files.write_lines(path, ["one", "two"])
    assert path.read_bytes() == b"one\ntwo\n"
