"""A PostgreSQL server of the tests' own: in a new folder, on a Unix socket there, started and ended with them.

PostgreSQL refuses to run as root, so root starts it as ``nobody``.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from killing import named_rows
from sqlalchemy import create_engine, inspect, text

SERVERS: Final = Path("/usr/lib/postgresql")
"""Where Debian keeps the server's commands, by version, off the PATH."""
USER: Final = "teacher"
_SETTINGS: Final = {"listen_addresses": "", "fsync": "off", "autovacuum": "off", "shared_buffers": "32MB"}


@dataclass
class Server:
    """A server that runs; a test takes an empty database of it."""

    folder: Path
    password: str
    process: subprocess.Popen[bytes]

    def url(self, database: str, *, user: str = USER, password: str | None = None) -> str:
        """Return the SQLAlchemy URL of a database, which need not be there."""
        word = quote(self.password if password is None else password, safe="")
        return f"postgresql+psycopg://{user}:{word}@/{quote(database, safe='')}?host={self.folder}"

    def database(self, name: str = "course") -> str:
        """Make a database, or empty the one that is there, whoever still uses it; return its URL."""
        with self.connect("postgres") as connection:
            if not connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchall():
                connection.execute('CREATE DATABASE "' + name.replace('"', '""') + '"')
                return self.url(name)
        self.end_sessions(name)
        with self.connect(name) as connection:  # to drop the whole of it takes far longer
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
            connection.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")  # as it is in a new database
        return self.url(name)

    @contextlib.contextmanager
    def connect(self, database: str) -> Iterator[Any]:
        """Connect past all of our code; each statement stands by itself."""
        import psycopg

        with psycopg.connect(
            host=str(self.folder), user=USER, password=self.password, dbname=database, autocommit=True
        ) as connection:
            yield connection

    def end_sessions(self, database: str) -> int:
        """End every session of a database, as a restart of the server does; return how many there were."""
        with self.connect("postgres") as connection:
            query = (
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
            )
            return len(connection.execute(query, (database,)).fetchall())


def command(name: str) -> str:
    """Return the path of one of the server's commands, of the newest version that is there."""
    found = sorted(SERVERS.glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    return str(found[-1]) if found else shutil.which(name) or name


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Start a server; end it and remove its folder."""
    owner: dict[str, Any] = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # short: a socket's path may have 107 characters
    data, log, password = folder / "data", folder / "log", secrets.token_urlsafe(12) + "@/:%"
    try:
        (folder / "word").write_text(password)
        if owner:
            for path in (folder, folder / "word"):
                shutil.chown(path, "nobody", "nogroup")
        environment = {**os.environ, "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        begin = [command("initdb"), "-D", str(data), "-U", USER, "-A", "scram-sha-256", "-E", "UTF8", "--no-sync"]
        made = subprocess.run(
            [*begin, f"--pwfile={folder / 'word'}"],
            cwd="/", env=environment, capture_output=True, text=True, **owner,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [command("postgres"), "-D", str(data), "-k", str(folder), *settings],
                cwd="/", env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, **owner,
            )  # fmt: skip
        try:
            yield _answering(Server(folder, password, process), log)
        finally:
            process.terminate()  # "smart" waits for clients
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(2)
            if process.poll() is None:
                process.send_signal(3)  # SIGQUIT, "immediate"
                process.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answering(server: Server, log: Path) -> Server:
    import psycopg

    for _ in range(600):
        with contextlib.suppress(psycopg.OperationalError), server.connect("postgres"):
            return server
        if server.process.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError(f"the PostgreSQL server did not start:\n{log.read_text()}")


# ------------------------------------------------------------------------------- rows


def rows(url: str) -> list[str]:
    """Return all rows of all tables, ids replaced by what they name, of either kind of database."""
    engine = create_engine(url)
    with engine.connect() as connection:
        names = inspect(connection).get_table_names()
        query = 'SELECT * FROM "{}"'
        found = {name: [dict(row) for row in connection.execute(text(query.format(name))).mappings()] for name in names}
    engine.dispose()
    return named_rows({name: [_alike(row) for row in table] for name, table in found.items()})


def _alike(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with what SQLite has no type for as SQLite holds it."""
    times = {key: str(value) + ".000000" for key, value in row.items() if isinstance(value, datetime)}
    return {**row, **{key: int(value) for key, value in row.items() if isinstance(value, bool)}, **times}
