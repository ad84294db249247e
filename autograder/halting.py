"""A command that is ended from outside - Ctrl-C, SIGTERM, a terminal that is closed - ends in one way, and says so.

Each of these signals raises what Ctrl-C raises, so what is prepared for Ctrl-C holds for a batch system's end of time.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Final

from autograder.errors import INTERRUPTED, STATUS_OF_SIGNAL

_SIGNALS: Final = [number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP")]
"""Not every system has all of them."""
_USUAL: Final = (signal.SIG_DFL, signal.default_int_handler)
_TOGETHER_SECONDS: Final = 30.0
"""What ends a session or a job may send SIGTERM and SIGHUP, one after the other: they mean one end. Python may hear of
the second much later than it came. Should the first have been of no effect, one that comes after that time has it."""


class Ended(KeyboardInterrupt):
    """A signal has come that ends the command."""

    def __init__(self, number: int) -> None:
        """Keep the signal's number."""
        super().__init__()
        self.status = STATUS_OF_SIGNAL + number


def status_of(error: BaseException | None) -> int:
    """Return the exit status of what was ended: that of the first signal that led to ``error``."""
    status = INTERRUPTED
    while error is not None:
        if isinstance(error, Ended):
            status = error.status
        error = error.__context__
    return status


@contextlib.contextmanager
def halting() -> Iterator[None]:
    """Let these signals raise ``Ended`` in the block; one that is switched off, as ``nohup`` does, stays so.

    Where one came, an output that is gone with its terminal is let go of, for Python would end with another status.
    """
    came: list[float] = []

    def end(number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if number != signal.SIGINT and came and now - came[-1] < _TOGETHER_SECONDS:
            return
        came.append(now)
        raise Ended(number)

    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        before = {number: handler for number, handler in before.items() if handler in _USUAL}
    try:
        for number in before:
            signal.signal(number, end)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            _let_go()


def _let_go() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)
