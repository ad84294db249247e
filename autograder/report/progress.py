"""Progress of a class on stderr: done/total, rate, time left; only on a terminal, or when asked for."""

from __future__ import annotations

import contextlib
import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.text import Text


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        """Return submissions per second."""
        return Text(f"{task.speed:.0f}/s" if task.speed else "")


class Progress:
    """A progress bar. Use as a context manager and call ``step`` for each submission."""

    def __init__(self, total: int, *, wanted: bool) -> None:
        """Prepare a bar for ``total`` submissions; nothing is drawn unless ``wanted`` or stderr is a terminal."""
        console = Console(file=sys.stderr, force_terminal=True if wanted else None)
        columns = (TextColumn("grading"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
        self._bar = RichProgress(*columns, console=console, disable=not (wanted or console.is_terminal), transient=True)
        self._task = self._bar.add_task("grading", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # the terminal may be gone, which is no trouble of the class's
            self._bar.stop()

    def step(self) -> None:
        """One more is done."""
        self._bar.advance(self._task)
