"""What every expected error is: something outside the program is not as it must be; one sentence says what to do."""

from __future__ import annotations

import errno
from typing import Final

STATUS_OF_SIGNAL: Final = 128
"""The exit status of what a signal ended, as shells have it, is this and the signal's number."""
INTERRUPTED: Final = STATUS_OF_SIGNAL + 2
"""The exit status after Ctrl-C."""
HALTED: Final = "130, 143 or 129 ended by Ctrl-C, by SIGTERM, or with its terminal (SIGHUP)"
"""The same for whoever reads about exit statuses, of every command."""
INTERRUPTED_TEXT: Final = "interrupted"
NOTHING_GRADED: Final = "interrupted; nothing was graded"
ALL_GRADED: Final = "interrupted; all was graded and written"
"""What is said of a run that was ended from outside: in general, before it began, and when it was done."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class CourseError(Exception):
    """The base of expected errors: the command line shows the sentence, without a traceback, and exits with 2."""

    same_command_helps: bool = True
    """Whether the same command goes on where it stopped, with nothing to be done before it."""


def sentence(error: Exception) -> str:
    """Return an expected error as one line: what is wrong, where, and what to do about it."""
    return " ".join(_text(error).split())


def _text(error: Exception) -> str:
    if not isinstance(error, OSError) or error.filename is None or not error.strerror:
        return str(error)
    if error.errno in _FULL:
        return f"{error.filename}: the disk is full ({error.strerror}); make room, then run this again"
    return f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}; choose another, or mend that one"


def first_line(error: BaseException) -> str:
    """Return an error of a library's as a part of a sentence: its kind, and the first line of what it says."""
    lines = f"{error}".strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
