"""Confined processes that a whole run of tests shares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from doubling import Room
from leaping import Leaping

from autograder.sandbox.layers import Layers


@pytest.fixture(scope="session")
def room() -> Iterator[Room]:
    """A confined process behind walls; for tests that need bubblewrap."""
    room = Room(walled=True)
    yield room
    room.cage.drop()


@pytest.fixture(scope="session")
def open_room() -> Iterator[Room]:
    """A confined process without the layers that each submission's child adds, so that others are seen to hold alone.

    Its submissions may also look at their own memory, which the filter of system calls forbids.
    """
    room = Room(walled=True, layers=Layers(landlock=False, seccomp=False))
    yield room
    room.cage.drop()


@pytest.fixture(scope="session")
def plain_room() -> Iterator[Room]:
    """A process without walls, as a student's own check uses it; for code that does no harm."""
    room = Room(walled=False)
    yield room
    room.cage.drop()


@pytest.fixture
def leaping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Leaping:
    """The grader's clock, which leaps to the end of a loop; for a submission without walls."""
    return Leaping(tmp_path / "loops", monkeypatch)
