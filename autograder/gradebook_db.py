"""nbgrader's database: open it, create its tables, say in one sentence what is wrong, read and write rows in bulk."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

from sqlalchemy import (
    URL,
    BindParameter,
    Connection,
    Engine,
    Select,
    Table,
    bindparam,
    create_engine,
    insert,
    inspect,
    make_url,
    select,
    update,
)
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from autograder.errors import CourseError
from autograder.gradebook_rescue import CHECK, copies_of, is_damaged, trouble_in, way_back
from autograder.gradebook_tables import ALEMBIC, ALEMBIC_HEAD, CODE, GRADE, METADATA, OURS
from autograder.untrusted_files import shown

WAIT_S: Final = 10.0
"""How long to wait for another process that writes to the same SQLite file."""


class GradebookError(CourseError, RuntimeError):
    """The gradebook cannot be opened or written; one sentence says why."""


class DamagedGradebookError(GradebookError):
    """The gradebook's file is damaged, or no database; the sentence says how a copy of it comes back."""

    same_command_helps = False

    def __init__(self, path: Path, said: str, *, changed: bool = False) -> None:
        """Say what is wrong.

        Args:
            path: the file.
            said: what SQLite says of it.
            changed: whether scores were written to it before the damage was met.
        """
        self.path, self.said = path, said
        then = "the last scores may not be in it" if changed else "nothing was changed"
        what = f"the gradebook is damaged ({said}), and {then};"
        if _NO_DATABASE in said and not changed and not copies_of(path):
            what = "this file is no database; choose another gradebook (nothing was changed). If it was one:"
        super().__init__(f"{shown(str(path))}: {what} {way_back(path)}")


def url_of(path: Path) -> str:
    """Return the SQLAlchemy URL of an SQLite file, absolute, whatever characters its path has."""
    text = str(path.absolute())
    if re.fullmatch(r"[A-Za-z0-9_ /.,=@~-]+", text):
        return f"sqlite:///{text}"
    # SQLite's own form of a URL takes any byte; the one around it differs between SQLAlchemy's versions.
    inner = URL.create("sqlite", database="file:" + quote(os.fsencode(text)), query={"uri": "true"})
    return inner.render_as_string(hide_password=False)


def open_engine(url: str, *, reading: bool = False) -> Engine:
    """Return an engine of the database; an SQLite file is made when first written, and never when ``reading``.

    Raises:
        GradebookError: the URL is none, or its driver is not installed.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() != "sqlite":
            return create_engine(parsed, connect_args=_server_arguments(parsed))
        return create_engine(_read_only(parsed) if reading else parsed, connect_args={"timeout": WAIT_S})
    except ImportError as error:
        raise GradebookError(f"this gradebook's database needs the Python package {error.name}; install it") from None
    except (ArgumentError, ValueError):  # the URL may hold a password: it is not repeated
        shapes = "sqlite:////home/me/gradebook.db or postgresql+psycopg://user@host/name"
        raise GradebookError(f"the gradebook's URL cannot be understood; it looks like {shapes}") from None


_LIBPQ: Final = ("psycopg", "psycopg2")
"""Drivers that take the settings of PostgreSQL's own library."""


def _server_arguments(url: URL) -> dict[str, Any]:
    """Return what to say to a server beside its URL: who we are, and not to wait for it for ever."""
    if url.get_driver_name() not in _LIBPQ:
        return {}
    own = {"application_name": f"autograder, process {os.getpid()} on {platform.node()}"[:63], "connect_timeout": 10}
    return {key: value for key, value in own.items() if key not in url.query}


def _read_only(url: URL) -> URL:
    """Return the URL of an SQLite file that must exist and stays as it is."""
    database = url.database or ""
    if not database or database == ":memory:":
        return url
    inner = database if database.startswith("file:") else "file:" + quote(os.fsencode(os.path.abspath(database)))
    return url.set(database=inner).update_query_dict({"uri": "true", "mode": "ro"})


@contextmanager
def transaction(database: Engine | Connection, *, writing: bool = True) -> Iterator[Connection]:
    """Commit what the block did, or nothing of it; what the database says becomes a GradebookError.

    Args:
        database: what is asked for a connection, or the one connection to use.
        writing: whether others are to be kept from writing meanwhile, where that is a matter of the transaction's kind.
    """
    try:
        with database.begin() if isinstance(database, Engine) else _begun(database) as connection:
            if writing and connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")  # waits here for other writers, and not half-way
            yield connection
    except SQLAlchemyError as error:
        raise _error(database.engine, error) from None
    except (ValueError, LookupError) as error:
        if (said := _damage(database.engine, error)) and (path := file_of(database.engine)):
            raise DamagedGradebookError(path, said) from None
        raise


def _error(engine: Engine, error: SQLAlchemyError) -> GradebookError:
    path, said = file_of(engine), _said(error)
    if path is not None and _DAMAGE.search(said):
        return DamagedGradebookError(path, said)
    if path is not None and not any(re.search(sign, said) for sign in _TROUBLES) and is_damaged(path):
        return DamagedGradebookError(path, said)
    return GradebookError(_trouble(engine, error))


def _damage(engine: Engine, error: Exception) -> str:
    """Return what Python made of a damaged file: a text that is none, a row that an index alone has; else ""."""
    path = file_of(engine)
    if path is None:
        return ""
    if isinstance(error, UnicodeDecodeError) or _ODD.search(str(error)):
        return "a value in it cannot be read"
    return "what is in it does not fit together" if is_damaged(path) else ""


@contextmanager
def _begun(connection: Connection) -> Iterator[Connection]:
    with connection.begin():
        yield connection


_TROUBLES: Final = {
    "locked": "another program has been writing to this gradebook for {wait:g} s; let it end, then run this again",
    "disk is full": "the disk is full; make room, then run this again",
    "unable to open": "the gradebook cannot be opened; its folder must exist and be writable",
    "readonly": "the gradebook cannot be written; make the file and its folder writable",
}
_NO_DATABASE: Final = "not a database"
_ODD: Final = re.compile("parse (date|time)|defined enum values")
"""What SQLAlchemy says of a value that is none of its column's."""
_DAMAGE: Final = re.compile(rf"malformed|{_NO_DATABASE}|Could not decode|unsupported file format")
"""What SQLite and Python's library say of a damaged file."""
_NO_SERVER: Final = "no server answers there ({said}); start it, or mend the URL"
_NOT_ALLOWED: Final = "this user may not write there ({said}); grant it, or choose another user"
_LOST: Final = "the connection to the server was lost ({said}); run this again"
_SERVER_TROUBLES: Final = {
    "lock timeout": _TROUBLES["locked"],
    "No space left": "the disk of the server is full; make room, then run this again",
    "authentication failed": "the server does not accept this user with this password; mend them in the URL, or "
    "leave the password out of it and put it into ~/.pgpass",
    "no password supplied": "the server asks for a password; put it into ~/.pgpass, or into the URL",
    'role ".*" does not exist': "the server does not know this user; mend the URL",
    'database ".*" does not exist': "the server has no such database; make it with `createdb`, or mend the URL",
    "permission denied|must be owner|no schema has been selected": _NOT_ALLOWED,
    "Connection refused|No such file|translate host name|resolve host|No route|timeout expired": _NO_SERVER,
    "server closed the connection|terminating connection|connection is lost": _LOST,
    "starting up|shutting down": "the server is not ready ({said}); run this again in a moment",
}
"""By a pattern of what the server or its library says."""


def _trouble(engine: Engine, error: SQLAlchemyError) -> str:
    server = engine.dialect.name == "postgresql"
    said = re.sub(r"^.*\b(?:FATAL|ERROR): +", "", _said(error))  # less what its library puts before it
    for sign, sentence in (_SERVER_TROUBLES if server else _TROUBLES).items():
        if re.search(sign, said):
            return f"{name_of(engine)}: {sentence.format(wait=WAIT_S, said=said)}"
    return f"{name_of(engine)}: the gradebook cannot be used ({said})"


def _said(error: SQLAlchemyError) -> str:
    lines = str(getattr(error, "orig", None) or error).splitlines()
    return lines[0] if lines else type(error).__name__


_SECRETS: Final = ("password", "passfile", "sslpassword")


def name_of(engine: Engine) -> str:
    """Return what a message calls a database: its file, or its URL without passwords."""
    if engine.dialect.name != "sqlite":
        return shown(engine.url.difference_update_query(_SECRETS).render_as_string(hide_password=True))
    path = file_of(engine)
    return shown(str(path)) if path else "the gradebook in memory"


def name_of_url(url: str) -> str:
    """Return what a message calls the database of a URL; GradebookError where it is none."""
    return name_of(open_engine(url))


def file_of(engine: Engine) -> Path | None:
    """Return the path of an SQLite database; None for one in memory or on a server."""
    database = engine.url.database or ""
    if engine.dialect.name != "sqlite" or database in ("", ":memory:"):
        return None
    return Path(os.fsdecode(unquote_to_bytes(database[5:])) if database.startswith("file:") else database)


def create_or_check(connection: Connection) -> None:
    """Create nbgrader's tables in an empty database; GradebookError where another one is none of its gradebooks."""
    if tables := inspect(connection).get_table_names():
        expect_gradebook(connection)
        if CODE.name not in tables:
            CODE.create(connection)
        return
    METADATA.create_all(connection)
    OURS.create_all(connection)
    connection.execute(insert(ALEMBIC).values(version_num=ALEMBIC_HEAD))


def expect_whole(connection: Connection) -> None:
    """Raise DamagedGradebookError where an SQLite file is damaged: what is written to one is lost with it.

    Within a transaction, before anything is changed. A damaged schema may look like an empty one, so this comes first.
    """
    path = file_of(connection.engine)
    if path is not None and (said := trouble_in(map(str, connection.exec_driver_sql(CHECK).scalars()))):
        raise DamagedGradebookError(path, said)


def expect_writable(engine: Engine) -> None:
    """Raise GradebookError where an SQLite file can be read only, which it says at the first change and not before."""
    if engine.dialect.name == "sqlite":
        with transaction(engine) as connection:
            version = connection.exec_driver_sql("PRAGMA user_version").scalar()
            connection.exec_driver_sql(f"PRAGMA user_version = {version}")
            connection.rollback()


def expect_gradebook(connection: Connection) -> None:
    """Raise GradebookError where a table or column of nbgrader's is missing."""
    schema = inspect(connection)
    found = {name: {column["name"] for column in columns} for (_, name), columns in schema.get_multi_columns().items()}
    for table in METADATA.sorted_tables:
        known = found.get(table.name, set())
        missing = [f"{table.name}.{column.name}" for column in table.columns if column.name not in known]
        if missing:
            older = {ALEMBIC.name, GRADE.name} <= found.keys()
            mend = "bring it up to date with `nbgrader db upgrade`" if older else "choose another gradebook"
            why = f"a database, but not one of this nbgrader's gradebooks: it has no {missing[0]}"
            raise GradebookError(f"{name_of(connection.engine)}: {why}; {mend}")


def expect_usable(url: str, folder: Path) -> None:
    """Raise GradebookError where it can be known at once that a gradebook is out of reach; makes and changes nothing.

    Args:
        url: SQLAlchemy's.
        folder: one that may not be there yet, and will be.
    """
    engine = open_engine(url)
    file = file_of(engine)
    try:
        if file is not None:
            if not file.parent.is_dir() and file.parent.absolute() != folder.absolute():
                why = "its folder does not exist; make it, or choose another gradebook"
                raise GradebookError(f"{name_of(engine)}: {why}")
            if file.is_dir():
                raise GradebookError(f"{name_of(engine)}: it is a folder; name a file in it")
            if not file.exists():
                return
        with transaction(engine, writing=False) as connection:
            if inspect(connection).get_table_names():
                expect_gradebook(connection)
    finally:
        engine.dispose()


def sqlite_file(url: str) -> Path | None:
    """Return the path of the SQLite database that a URL names; None for any other.

    Raises:
        GradebookError: the URL is none, or its driver is not installed.
    """
    return file_of(open_engine(url))


def among(table: Table, column: str, values: Iterable[str], *wanted: str) -> Select[Any]:
    """Select the rows of a table where a column has one of the values; all columns, or those that are wanted."""
    chosen = select(*(table.c[each] for each in wanted)) if wanted else select(table)
    return chosen.where(table.c[column].in_(list(values)))


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows, all with the same columns, if there are any."""
    if rows:
        connection.execute(insert(table), rows)


def update_rows(
    connection: Connection, table: Table, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Update rows by id; a row says its id as ``row``, and each column's value under the name given for it."""
    if rows:
        values: dict[str, BindParameter[Any]] = {column: bindparam(key) for column, key in columns.items()}
        connection.execute(update(table).where(table.c.id == bindparam("row")).values(values), rows)


def new_id() -> str:
    """Return an id for a row, of the form of nbgrader's, 32 hexadecimal digits: a UUID of version 7.

    It begins with the time, so that the rows of a batch stand side by side in a database's indexes. With random ones
    each row of a large gradebook would change a page of its own.
    """
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    random = int.from_bytes(os.urandom(8)) & 0x3FFF_FFFF_FFFF_FFFF
    return f"{milliseconds:012x}7{rest * 4096 // 1_000_000:03x}{0x8000_0000_0000_0000 | random:016x}"


def clean(text: str) -> str:
    """Return a text that every database takes: half characters as escapes, no NUL."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "")
