"""Confined processes that a whole run of tests shares."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from doubling import Room


@pytest.fixture(scope="session")
def room() -> Iterator[Room]:
    """A confined process behind walls; for tests that need bubblewrap."""
    room = Room(walled=True)
    yield room
    room.cage.drop()


@pytest.fixture(scope="session")
def plain_room() -> Iterator[Room]:
    """A process without walls, as a student's own check uses it; for code that does no harm."""
    room = Room(walled=False)
    yield room
    room.cage.drop()
