"""What is deleted between two submissions: any tree that a user can make, and none that takes the process with it."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.sandbox import leftovers

MANY = 2_500
"""More folders than Python recurses, and with their names more than a path may have."""


def deep(folder: Path) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(MANY):
        os.mkdir("dd", dir_fd=here)
        inner = os.open("dd", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)


def wide(folder: Path) -> None:
    for number in range(300):
        (folder / f"{number}/a/b").mkdir(parents=True)
        (folder / f"{number}/a/file").write_text("x")


def closed(folder: Path) -> None:
    (folder / "a/b/c").mkdir(parents=True)
    (folder / "a/b/file").write_text("x")
    for name, mode in (("a/b/c", 0), ("a/b", 0o500), ("a", 0)):
        (folder / name).chmod(mode)


def linked(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "a/out").symlink_to(folder.parent)
    (folder / "out").symlink_to(folder.parent / "kept")
    (folder / "a/hard").hardlink_to(folder.parent / "kept/file")
    os.mkfifo(folder / "a/pipe")


def odd_names(folder: Path) -> None:
    for name in (b"\xff\n", b"-rf", b"..."):
        os.mkdir(os.fsencode(folder) + b"/" + name)
        os.close(os.open(os.fsencode(folder) + b"/" + name + b"/" + name, os.O_CREAT | os.O_WRONLY))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "work"
    made.mkdir()
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("mine")
    yield made
    leftovers.empty(made, seconds=60)  # pytest's own deleting recurses


@pytest.mark.parametrize("make", [deep, wide, closed, linked, odd_names])
def test_everything_inside_is_deleted_and_nothing_outside(folder: Path, make: Callable[[Path], None]) -> None:
    make(folder)
    assert leftovers.empty(folder, seconds=60)
    assert os.listdir(folder) == []
    assert (folder.parent / "kept/file").read_text() == "mine"
    assert sorted(os.listdir(folder.parent)) == ["kept", "work"]


def test_it_opens_no_more_descriptors_the_deeper_a_tree_is(folder: Path) -> None:
    deep(folder)
    gc.collect()  # descriptors that others left to it would be closed meanwhile
    before = len(os.listdir("/proc/self/fd"))
    opened: list[int] = []
    real = os.open

    def counted(*args: object, **kwargs: object) -> int:
        opened.append(len(os.listdir("/proc/self/fd")))
        return real(*args, **kwargs)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leftovers.os, "open", counted)
        assert leftovers.empty(folder, seconds=60)
    assert len(opened) > MANY
    assert max(opened) <= before + 2
    assert len(os.listdir("/proc/self/fd")) == before


def test_when_the_time_is_over_it_says_that_something_is_left(folder: Path) -> None:
    wide(folder)
    assert not leftovers.empty(folder, seconds=0)
    assert os.listdir(folder)
    assert leftovers.empty(folder, seconds=60)


def test_what_cannot_be_deleted_is_said_and_is_no_endless_loop(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError

    wide(folder)
    with monkeypatch.context() as patch:
        for name in ("unlink", "rmdir", "rename"):
            patch.setattr(leftovers.os, name, refuse)
        assert not leftovers.empty(folder, seconds=60)


@pytest.mark.parametrize("error", [RecursionError, MemoryError, OSError, ValueError])
def test_no_exception_leaves_it(folder: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def broken(*args: object) -> bool:
        raise error

    before = leftovers.inherited()
    monkeypatch.setattr(leftovers, "system_v_objects", lambda: 0)
    assert leftovers.clean(folder, before)
    assert not leftovers.clean(folder, [*before, 1])
    monkeypatch.setattr(leftovers, "empty", broken)
    assert not leftovers.clean(folder, before)
