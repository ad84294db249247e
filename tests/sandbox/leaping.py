"""A grader's clock that leaps to the deadline where a submission says that it will not answer in time.

A real loop costs its whole limit, so limits were short, and a machine that stood still for a second failed what was
right. Here a loop costs nothing, so limits are long.
"""

from __future__ import annotations

import select
import socket
import time
from pathlib import Path

import pytest

from autograder.sandbox import frames, runner, zygote


class Leaping:
    """The clock of whoever asks and judges; what a process waited is told by another one."""

    def __init__(self, says: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take the place of the clock.

        Args:
            says: a file that a submission makes, which therefore has no walls around it.
            monkeypatch: puts the clock back.
        """
        self.ahead = 0.0
        """Seconds that it leaped until now."""
        self._says, self._part = says, frames._part
        for module in (frames, runner, zygote):
            monkeypatch.setattr(module, "time", self)
        monkeypatch.setattr(frames, "_part", self._waited_for)

    @property
    def cell(self) -> str:
        """Define ``loops``, and ``is_late``, which goes on once the deadline is over."""
        return (
            "import os, time\n"
            f"def is_late(says={str(self._says)!r}):\n"
            "    open(says, 'w').close()\n"
            "    while os.path.exists(says):\n        time.sleep(0.002)\n"
            "def loops():\n    is_late()\n    while True:\n        pass\n"
        )

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead

    def _waited_for(self, sock: socket.socket, size: int, deadline: float | None) -> bytes:
        while deadline is not None and self.monotonic() < deadline:
            said = self._says.exists()  # first: what it sent before it said so is here by now
            if select.select([sock], [], [], 0.002)[0]:
                break
            if said:
                self.ahead += deadline - self.monotonic()
                self._says.unlink()
        return self._part(sock, size, deadline)
