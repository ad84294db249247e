"""The time of a submission: what nbgrader's ``timestamp.txt`` says, as nbgrader understands it."""

from __future__ import annotations

import re
import warnings
from datetime import datetime
from typing import Any, Final

TIMESTAMP: Final = "timestamp.txt"
"""The file beside a submission that holds its time."""
LENGTH: Final = 100
"""Bytes of it that are read as a time."""
_PLAIN: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})? UTC")


def time_of(data: bytes) -> datetime | None:
    """Return the time that the bytes of a ``timestamp.txt`` say, see ``parse_time``."""
    try:
        text = data[:LENGTH].decode("ascii").strip()
    except ValueError:
        return None
    return parse_time(text) if text else None


def parse_time(text: str) -> datetime | None:
    """Return what nbgrader understands by a time, in UTC without saying so; None where it understands nothing.

    What does not look as nbgrader itself writes it is read by the same parser in the same way; to ask nbgrader's own
    ``parse_utc`` would import nbgrader, which takes two seconds.
    """
    try:
        if _PLAIN.fullmatch(text):
            return datetime.fromisoformat(text.removesuffix(" UTC"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown names of time zones: a student may write anything
            found = _parsed(text)
            if not isinstance(found, datetime) or found.tzinfo is None:
                return found if isinstance(found, datetime) else None
            offset = found.utcoffset()
            return None if offset is None else (found - offset).replace(tzinfo=None)
    except Exception:  # a student may write anything, and a parser of dates may raise anything
        return None


def _parsed(text: str) -> Any:
    from dateutil import parser, tz

    match text.split(" "):
        case [day, hour, zone]:  # the third word is a zone, by its name or in seconds
            try:
                known: Any = int(zone)
            except ValueError:
                known = tz.gettz(zone)
            return parser.parse(f"{day} {hour} TZ", tzinfos={"TZ": known})
        case _:
            return parser.parse(text)
