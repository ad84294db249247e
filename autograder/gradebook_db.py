"""nbgrader's database: open it, create its tables, say in one sentence what is wrong, read and write rows in bulk."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes
from uuid import uuid4

from sqlalchemy import (
    URL,
    BindParameter,
    Column,
    Connection,
    Engine,
    MetaData,
    Select,
    String,
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
from autograder.untrusted_files import shown

WAIT_S: Final = 10.0
"""How long to wait for another process that writes to the same SQLite file."""


class GradebookError(CourseError, RuntimeError):
    """The gradebook cannot be opened or written; one sentence says why."""


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
            return create_engine(parsed)
        return create_engine(_read_only(parsed) if reading else parsed, connect_args={"timeout": WAIT_S})
    except ImportError as error:
        raise GradebookError(f"this gradebook's database needs the Python package {error.name}; install it") from None
    except (ArgumentError, ValueError):  # the URL may hold a password: it is not repeated
        shapes = "sqlite:////home/me/gradebook.db or postgresql+psycopg://user@host/name"
        raise GradebookError(f"the gradebook's URL cannot be understood; it looks like {shapes}") from None


def _read_only(url: URL) -> URL:
    """Return the URL of an SQLite file that must exist and stays as it is."""
    database = url.database or ""
    if not database or database == ":memory:":
        return url
    inner = database if database.startswith("file:") else "file:" + quote(os.fsencode(os.path.abspath(database)))
    return url.set(database=inner).update_query_dict({"uri": "true", "mode": "ro"})


@contextmanager
def transaction(engine: Engine, *, writing: bool = True) -> Iterator[Connection]:
    """Commit what the block did, or nothing of it; what the database says becomes a GradebookError."""
    try:
        with engine.begin() as connection:
            if writing and engine.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")  # waits here for other writers, and not half-way
            yield connection
    except SQLAlchemyError as error:
        raise GradebookError(_trouble(engine, error)) from None


_TROUBLES: Final = {
    "locked": "another program has been writing to this gradebook for {wait:g} s; let it end, then run this again",
    "disk is full": "the disk is full; make room, then run this again",
    "unable to open": "the gradebook cannot be opened; its folder must exist and be writable",
    "readonly": "the gradebook cannot be written; make the file and its folder writable",
    "not a database": "this file is no database; choose another gradebook",
}


def _trouble(engine: Engine, error: SQLAlchemyError) -> str:
    lines = str(getattr(error, "orig", None) or error).splitlines() or [type(error).__name__]
    for sign, sentence in _TROUBLES.items():
        if sign in lines[0]:
            return f"{_name(engine)}: {sentence.format(wait=WAIT_S)}"
    return f"{_name(engine)}: the gradebook cannot be used ({lines[0]})"


def _name(engine: Engine) -> str:
    if engine.dialect.name != "sqlite":
        return engine.url.render_as_string(hide_password=True)
    path = file_of(engine)
    return shown(str(path)) if path else "the gradebook in memory"


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
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    _metadata().create_all(connection)
    # nbgrader finds the version out by a command that it expects on PATH.
    stamp = Table("alembic_version", MetaData(), Column("version_num", String(32), nullable=False))
    stamp.create(connection)
    CODE.create(connection)
    connection.execute(insert(stamp).values(version_num=ScriptDirectory(ALEMBIC_DIR).get_current_head()))


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
    tables = set(schema.get_table_names())
    for table in _metadata().sorted_tables:
        known = {column["name"] for column in schema.get_columns(table.name)} if table.name in tables else set()
        missing = [f"{table.name}.{column.name}" for column in table.columns if column.name not in known]
        if missing:
            older = {"alembic_version", "grade"} <= tables
            mend = "bring it up to date with `nbgrader db upgrade`" if older else "choose another gradebook"
            why = f"a database, but not one of this nbgrader's gradebooks: it has no {missing[0]}"
            raise GradebookError(f"{_name(connection.engine)}: {why}; {mend}")


def _metadata() -> MetaData:
    from nbgrader.api import Base  # here, because it takes two seconds to import

    metadata: MetaData = Base.metadata
    return metadata


def sqlite_file(url: str) -> Path | None:
    """Return the path of the SQLite database that a URL names; None for any other.

    Raises:
        GradebookError: the URL is none, or its driver is not installed.
    """
    return file_of(open_engine(url))


def table_of(name: str) -> Table:
    """Return one of nbgrader's tables."""
    return _metadata().tables[name]


CODE: Final = Table(
    "autograder_code",
    MetaData(),
    Column("submission_id", String(32), primary_key=True),
    Column("code", String(64), nullable=False),
)
"""Our own table, which nbgrader leaves alone: the hash of the code that a submission's automatic scores are of. It is
written with them, in one transaction, so that no interruption can part the two."""


def among(name: str, column: str, values: Iterable[str], *wanted: str) -> Select[Any]:
    """Select the rows of a table where a column has one of the values; all columns, or those that are wanted."""
    table = table_of(name)
    chosen = select(*(table.c[each] for each in wanted)) if wanted else select(table)
    return chosen.where(table.c[column].in_(list(values)))


def insert_rows(connection: Connection, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows, all with the same columns, if there are any."""
    if rows:
        connection.execute(insert(table_of(name)), rows)


def update_rows(
    connection: Connection, name: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Update rows by id; a row says its id as ``row``, and each column's value under the name given for it."""
    if rows:
        table = table_of(name)
        values: dict[str, BindParameter[Any]] = {column: bindparam(key) for column, key in columns.items()}
        connection.execute(update(table).where(table.c.id == bindparam("row")).values(values), rows)


def new_id() -> str:
    """Return an id for a row, of the form of nbgrader's."""
    return uuid4().hex


def clean(text: str) -> str:
    """Return a text that every database takes: half characters as escapes, no NUL."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "")
