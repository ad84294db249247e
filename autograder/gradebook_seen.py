"""What tells whether a gradebook is still the one that a run left, without looking at its rows one by one.

A *fingerprint* is a short text. A run keeps the one of the gradebook that it left; where the next one finds the same,
every row is as it was, so that unchanged scores need not be written again. An empty text says nothing, and is equal to
none: then the rows are compared, as ever.

- An **SQLite file** is told by its device, inode, size, time of change and the counter of changes in its first page: a
  change moves the counter even within one tick of the clock. Beside a journal that is not empty nothing is said.
- In **PostgreSQL** nothing cheap moves with every change: its statistics come late and may be lost, the numbers of
  transactions do not show what was deleted, and triggers would be ours in nbgrader's tables. So the server reads its
  tables and sums a hash of every row, about a microsecond each, and sends one line a table. What is put back as it was
  counts as unchanged, rightly.

This module imports no database library for a file.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlalchemy import Connection

_PLAIN: Final = re.compile(r"sqlite:///(/[A-Za-z0-9_ /.,=@~-]+)")
"""The URLs of ``gradebook_db.url_of`` that are read here; what SQLAlchemy alone understands is left to it."""
_COUNTER: Final = slice(24, 28)
"""Where the first page of an SQLite file counts its changes."""


def fingerprint_of(url: str) -> str:
    """Return the fingerprint of a gradebook that nobody has open; "" where there is none, or nothing can be said.

    Raises:
        GradebookError: the URL is none, or a server refuses.
    """
    if plain := _PLAIN.fullmatch(url):
        return file_fingerprint(Path(plain[1]))
    from autograder.gradebook_db import file_of, open_engine, transaction

    engine = open_engine(url, reading=True)
    try:
        if engine.dialect.name == "sqlite":
            path = file_of(engine)
            return file_fingerprint(path) if path else ""
        if engine.dialect.name != "postgresql":
            return ""
        with transaction(engine, writing=False) as connection:
            return server_fingerprint(connection)
    finally:
        engine.dispose()


def file_fingerprint(path: Path) -> str:
    """Return the fingerprint of an SQLite file; "" where it is missing, empty, or a journal waits beside it."""
    try:
        if any(_size(f"{path}{end}") for end in ("-journal", "-wal")):
            return ""
        with open(path, "rb") as stream:
            head = stream.read(100)
            found = os.fstat(stream.fileno())
    except OSError:
        return ""
    if len(head) < 100:
        return ""
    numbers = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, int.from_bytes(head[_COUNTER]))
    return "sqlite " + " ".join(map(str, numbers))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


# ------------------------------------------------------------------------- PostgreSQL


def server_fingerprint(connection: Connection) -> str:
    """Return the fingerprint of a gradebook in PostgreSQL; "" where a table is missing."""
    from sqlalchemy import inspect

    tables = _tables()
    if not set(tables) <= set(inspect(connection).get_table_names()):
        return ""
    parts = [
        f"SELECT '{table}', count(*), coalesce(sum(hashtextextended(t::text, 0)), 0)::text FROM \"{table}\" AS t"
        for table in tables
    ]
    rows = connection.exec_driver_sql(" UNION ALL ".join(parts)).all()
    return "postgresql " + hashlib.sha256(repr(sorted(map(tuple, rows))).encode()).hexdigest()


def _tables() -> list[str]:
    from autograder.gradebook_tables import CODE, METADATA

    return sorted([*METADATA.tables, CODE.name])


class Watch:
    """Whether anybody but us has written to a gradebook in PostgreSQL since a transaction of ours.

    What others inserted or changed carries the number of their transaction; what they deleted is missing in the count.
    """

    def __init__(self, connection: Connection) -> None:
        """Begin, within a transaction in which all tables are there."""
        self._ours: set[int] = set()
        self._rows = self._counts(connection)
        query = "SELECT txid_snapshot_xmin(txid_current_snapshot())"
        self._since = int(connection.exec_driver_sql(query).scalar_one())
        self.note(connection)

    def note(self, connection: Connection) -> None:
        """Note the number of a transaction of ours, at its end."""
        if (number := connection.exec_driver_sql("SELECT txid_current_if_assigned()").scalar()) is not None:
            self._ours.add(int(number))

    def count(self, table: str, rows: int) -> None:
        """Note that we inserted rows, or, with a negative number, deleted some."""
        if table in self._rows:
            self._rows[table] += rows

    def others_wrote(self, connection: Connection) -> bool:
        """Return whether others wrote, or may have."""
        return self._counts(connection) != self._rows or any(self._newer(connection, self._ours))

    def _counts(self, connection: Connection) -> dict[str, int]:
        parts = (f"SELECT '{table}', count(*) FROM \"{table}\"" for table in _tables())
        return {row[0]: row[1] for row in connection.exec_driver_sql(" UNION ALL ".join(parts))}

    def _newer(self, connection: Connection, ours: Collection[int]) -> list[bool]:
        # A row's number has 32 bits and comes round; ``age`` counts back from now.
        since, own = self._since % 2**32, ",".join(str(number % 2**32) for number in sorted(ours))
        parts = (
            f"SELECT EXISTS (SELECT FROM \"{table}\" WHERE age(xmin) <= age('{since}'::xid)"
            f" AND xmin <> ALL ('{{{own}}}'::xid[]))"
            for table in _tables()
        )
        return [bool(row[0]) for row in connection.exec_driver_sql(" UNION ALL ".join(parts))]
