"""What every expected error is: something outside the program is not as it must be; one sentence says what to do."""

from __future__ import annotations

import errno
from typing import Final

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class CourseError(Exception):
    """The base of expected errors: the command line shows the sentence, without a traceback, and exits with 2."""


def sentence(error: Exception) -> str:
    """Return an expected error as one line: what is wrong, where, and what to do about it."""
    return " ".join(_text(error).split())


def _text(error: Exception) -> str:
    if not isinstance(error, OSError) or error.filename is None or not error.strerror:
        return str(error)
    if error.errno in _FULL:
        return f"{error.filename}: the disk is full ({error.strerror}); make room, then run this again"
    return f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}; choose another, or mend that one"
