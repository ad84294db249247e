"""What to do where an SQLite gradebook is damaged or gone: which copies of it are whole, and how one comes back.

The copies are those of ``gradebook_copies``: ``backups/gradebook.<n>.db``, of which the oldest go, and
``backups/gradebook.<n>.kept.db``, which nobody removes: what a human gave in a gradebook that is gone. This module
reads files alone and imports no database library but Python's own.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

FOLDER: Final = "backups"
_KEPT: Final = ".kept"
_WAIT_S: Final = 2.0
CHECK: Final = "PRAGMA quick_check(20)"
"""Reads every page, about a gigabyte a second."""
_THOROUGHLY: Final = "PRAGMA integrity_check(20)"
_DATA: Final = re.compile(r"(NULL|NUMERIC|TEXT|non-\w+) value (in|missing)|CHECK constraint failed")
"""What SQLite's check says of values that a table's declaration does not allow: not of damage."""
_UNREADABLE: Final = (sqlite3.Error, UnicodeDecodeError)
"""What Python's library raises of a damaged file."""
_BY_HAND: Final = (
    "SELECT (SELECT count(*) FROM grade WHERE manual_score IS NOT NULL OR extra_credit IS NOT NULL)"
    " + (SELECT count(*) FROM comment WHERE manual_comment IS NOT NULL AND manual_comment <> '')"
    " + (SELECT count(*) FROM submitted_notebook WHERE late_submission_penalty IS NOT NULL)"
    " + (SELECT count(*) FROM submitted_assignment WHERE extension IS NOT NULL)"
    " + (SELECT count(*) FROM assignment WHERE duedate IS NOT NULL)"
    " + (SELECT count(*) FROM student WHERE coalesce(first_name, '') || coalesce(last_name, '') <> '')"
)
"""Nothing of this does the grader write itself."""
_ENTRIES: Final = "marks, comments, penalties, due dates, names"
_EMPTY: Final = "SELECT NOT EXISTS (SELECT 1 FROM submitted_assignment)"


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a gradebook."""

    path: Path
    number: int
    kept: bool
    """Whether it stays however many copies follow."""

    def shown(self) -> str:
        """Return its name, and the time and the marks that it is of."""
        return f"{self.path.name} ({_made(self.path)}, {_counted(by_hand(self.path))})"


def copies_of(path: Path) -> list[Copy]:
    """Return the copies of a gradebook, the latest first; nothing is opened."""
    pattern = re.compile(re.escape(path.stem) + rf"\.([0-9]{{1,9}})({re.escape(_KEPT)})?" + re.escape(path.suffix))
    folder = path.parent / FOLDER
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        found = [(pattern.fullmatch(entry.name), entry.name) for entry in entries]
        copies = [Copy(folder / name, int(match[1]), bool(match[2])) for match, name in found if match]
        return sorted(copies, key=lambda copy: (-copy.number, copy.kept))
    return []


def trouble_in(said: Iterable[str]) -> str:
    """Return what is wrong with a database, of the lines that its check returns; "" where it is whole."""
    lines = (line for text in said for line in text.splitlines())
    return next((line for line in lines if line != "ok" and not line.startswith("***") and not _DATA.match(line)), "")


def is_damaged(path: Path) -> bool:
    """Return whether a database's file is damaged: its structure, or an index that does not say what its table says.

    False as well where that cannot be known: the file is locked, or may not be read.
    """
    try:
        with _reading(path) as connection:
            return bool(trouble_in(str(row[0]) for row in connection.execute(_THOROUGHLY)))
    except sqlite3.OperationalError:
        return False
    except _UNREADABLE:
        return True


def by_hand(path: Path) -> int:
    """Return how much in a gradebook's file is a human's; 0 where it cannot be read.

    That is marks, extra credit and comments, penalties and extensions, due dates, and names of students.
    """
    with contextlib.suppress(*_UNREADABLE), _reading(path) as connection:
        return int(connection.execute(_BY_HAND).fetchone()[0])
    return 0


def is_blank(path: Path) -> bool:
    """Return whether a gradebook's file is missing, empty, or holds nobody's work."""
    try:
        if not path.stat().st_size:
            return True
    except FileNotFoundError:
        return True
    except OSError:
        return False
    with contextlib.suppress(*_UNREADABLE), _reading(path) as connection:
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        return not tables or bool(connection.execute(_EMPTY).fetchone()[0])
    return False


def set_aside(path: Path) -> Path | None:
    """Take the latest copy that holds what a human gave out of the copies that make room for later ones.

    Do so before a gradebook is made anew in the place of one that is gone.

    Returns:
        Where it is now; None where no copy holds anything of the kind.

    Raises:
        OSError: it cannot be renamed.
    """
    for copy in copies_of(path):
        if by_hand(copy.path) and not is_damaged(copy.path):
            if copy.kept:
                return copy.path
            aside = copy.path.with_name(f"{path.stem}.{copy.number}{_KEPT}{path.suffix}")
            copy.path.rename(aside)
            return aside
    return None


def made_anew(path: Path, kept: Path | None) -> str:
    """Return the sentence for a gradebook that was made where one is gone; ``kept`` is what ``set_aside`` returned."""
    head = f"{path}: the gradebook that the last run left is gone, and a new one was made with the automatic scores"
    folder = path.parent / FOLDER
    if kept is None:
        looked = f"no copy in {folder} holds any" if copies_of(path) else f"there is no copy in {folder}"
        return f"{head}; what was entered by hand ({_ENTRIES}) went with it, and {looked}"
    count, made = by_hand(kept), _made(kept)
    older = [copy.shown() for copy in copies_of(path) if copy.path != kept and by_hand(copy.path)]
    also = f"; other copies that hold some: {', '.join(older)}" if older else ""
    are, them = ("is", "it") if count == 1 else ("are", "them")
    return (
        f"{head}; {_counted(count)} ({_ENTRIES}) before {made} {are} in {kept}, which later runs leave alone: "
        f"{restore(kept, path)} brings {them} back, then run this again{also}"
    )


def way_back(path: Path) -> str:
    """Return what to do about a damaged gradebook, as the rest of a sentence."""
    whole = [copy for copy in copies_of(path) if not is_damaged(copy.path) and not is_blank(copy.path)]
    aside = shlex.join([str(path), f"{path}.damaged"])
    away = f"move it away (`{_swept(path)}mv {aside}`) and run this again"
    anew = f"{away}: all marks are written anew, without what was given by hand"
    if not whole:
        return f"there is no copy of it in {path.parent / FOLDER}; {anew}"
    return (
        f"whole copies of it, of before the runs of these times, are in {path.parent / FOLDER}: "
        f"{', '.join(copy.shown() for copy in whole)}; bring one back, the latest with {restore(whole[0].path, path)}, "
        f"and run this again; or {anew}"
    )


def restore(copy: Path, path: Path) -> str:
    """Return the command that puts a copy in a gradebook's place."""
    return f"`{_swept(path)}cp {shlex.join([str(copy), str(path)])}`"


def _made(path: Path) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(path.stat().st_mtime))


def _swept(path: Path) -> str:
    """Return what a command begins with where SQLite left something beside a file, and would write it into the next."""
    beside = [f"{path}{end}" for end in ("-journal", "-wal", "-shm") if os.path.lexists(f"{path}{end}")]
    return f"rm -f {shlex.join(beside)} && " if beside else ""  # SQLite may remove them itself until then


def _counted(number: int) -> str:
    if not number:
        return "nothing entered by hand"
    return "1 entry by hand" if number == 1 else f"{number:,} entries by hand"


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    source = "file:" + quote(os.fsencode(path.absolute())) + "?mode=ro"
    with closing(sqlite3.connect(source, uri=True, timeout=_WAIT_S)) as connection:
        yield connection
