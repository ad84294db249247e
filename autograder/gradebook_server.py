"""A gradebook in PostgreSQL: one connection for a run, which keeps other graders away and waits for nobody for ever."""

from __future__ import annotations

import hashlib
import time
from typing import Final

from sqlalchemy import Connection

from autograder import gradebook_db
from autograder.gradebook_db import name_of, transaction
from autograder.gradebook_tables import METADATA
from autograder.locks import LockError

LOCK: Final = int.from_bytes(hashlib.sha256(b"autograder: one grader a gradebook").digest()[:8], signed=True)
"""The number of our advisory lock, which counts within one database."""
_PATIENCE_S: Final = 2.0
"""How long the server may take to see that the process that held the lock has ended."""
_SETTINGS: Final = {
    # A machine that vanished would hold the lock for hours.
    "tcp_keepalives_idle": "60",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "6",
}


def claim(connection: Connection) -> None:
    """Keep other graders away from the gradebook for as long as the connection lives.

    Raises:
        LockError: another grader holds it.
        GradebookError: the server refuses.
    """
    with transaction(connection) as begun:
        for name, value in {**_SETTINGS, "lock_timeout": f"{gradebook_db.WAIT_S:g}s"}.items():
            begun.exec_driver_sql(f"SET {name} = '{value}'")
        until = time.monotonic() + _PATIENCE_S
        while not begun.exec_driver_sql(f"SELECT pg_try_advisory_lock({LOCK})").scalar_one():
            if time.monotonic() >= until:
                raise LockError(
                    f"{name_of(begun.engine)}: another grader{_holder(begun)} is writing to it, and nothing was "
                    "graded; wait until it ends, then run this again"
                )
            time.sleep(0.05)


def _holder(connection: Connection) -> str:
    high, low = divmod(LOCK % 2**64, 2**32)
    found = connection.exec_driver_sql(
        "SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid)"
        " WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database"
        f" WHERE datname = current_database()) AND classid = {high} AND objid = {low}"
    ).scalar()
    return f" ({' '.join(str(found).split())})" if found else ""


def keep_writers_out(connection: Connection) -> None:
    """Let nobody else write to nbgrader's tables until the transaction ends; they may read.

    What is written depends on what was read - on a human's marks - so that nobody may write in between.
    """
    names = ", ".join(f'"{name}"' for name in sorted(METADATA.tables))
    connection.exec_driver_sql(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE")
