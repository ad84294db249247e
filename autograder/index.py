"""The records of the last run, and their index: of each record what decides whether it holds, and its row.

Records have every text of every check; the index of ten thousand is two megabytes. It is made from the records, it
names the very file that it is of, and it is passed over where anything about that is in doubt: then they are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any, Final

from autograder import __version__, files
from autograder.earlier import Key, Known, Reader, Terms
from autograder.models import Reference
from autograder.report.rows import Row, Verdict

RECORDS: Final = "records.jsonl"
INDEX: Final = ".graded.index"
_FIELDS: Final = tuple(field.name for field in fields(Row) if field.name not in ("student", "exercise", "checks"))
_TEXTS: Final = tuple(
    n
    for n, name in enumerate(_FIELDS)
    for field in fields(Row)
    if field.name == name and str(field.type).startswith(("str", "Literal"))
)
"""Which of them are texts: they stand in a table, each once."""


def write(folder: Path, lines: Iterable[bytes], rows: Iterable[Row]) -> None:
    """Write the records of an output, and their index.

    Args:
        folder: the output's.
        lines: the records, without the ends of their lines; may be read from the file that this replaces.
        rows: of each record.

    Raises:
        OSError: there is no room; the error names the file, and what was there is as it was.
    """
    reader, writer, start = Reader(), _Writer(), 0
    with files.replacing(folder / RECORDS, durable=True) as (stream, _):
        for line, row in zip(lines, rows, strict=True):
            stream.write(line + b"\n")
            if found := reader.known(line, start):
                writer.add(row, found[1])
            start += len(line) + 1
    with files.replacing(folder / INDEX) as (stream, _):
        stream.writelines(writer.parts(folder / RECORDS))


class _Writer:
    """Makes an index: ``add`` each record in order, then take its ``parts``."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._texts: dict[Any, int] = {}
        self._checks: dict[Any, int] = {}
        self._terms: dict[Any, int] = {}

    def add(self, row: Row, known: Known) -> None:
        """Add a record's row and what is known of it."""
        values = [getattr(row, name) for name in _FIELDS]
        for place in _TEXTS:
            values[place] = _number(self._texts, values[place])
        checks = _number(self._checks, tuple(astuple(check) for check in row.checks))
        exercise, terms = _number(self._texts, row.exercise), _number(self._terms, known.terms)
        facts = known.content_hash, terms, known.unreadable, known.walled, known.lasts, known.start, known.length
        self._lines.append(json.dumps([row.student, exercise, checks, *values, *facts]).encode() + b"\n")

    def parts(self, records: Path) -> Iterator[bytes]:
        """Yield the entries, then the tables, and which file of records it is the index of."""
        yield from self._lines
        terms = [[one.version, one.seed_id, *astuple(one.reference)] for one in self._terms]
        tail = {"of": identity(records), "fields": _FIELDS, "autograder": __version__}
        yield json.dumps({**tail, "texts": list(self._texts), "checks": list(self._checks), "terms": terms}).encode()


def _number(table: dict[Any, int], value: Any) -> int:
    return table.setdefault(value, len(table))


def _read(index: Path, records: Path) -> list[tuple[Row, Known]] | None:
    """Return what an index holds, in the order of the records; None where it is not theirs."""
    try:
        *lines, last = index.read_bytes().split(b"\n")
        tail = json.loads(last)
        if (tail["of"], tail["fields"], tail["autograder"]) != (identity(records), list(_FIELDS), __version__):
            return None
        texts = tail["texts"]
        checks = [tuple(Verdict(*one) for one in row) for row in tail["checks"]]
        terms = [Terms(version, seed, Reference(*rest)) for version, seed, *rest in tail["terms"]]
        found = []
        for line in lines:
            student, exercise, check, *values = json.loads(line)
            for place in _TEXTS:
                values[place] = texts[values[place]]
            row = Row(student, texts[exercise], checks=checks[check], **dict(zip(_FIELDS, values, strict=False)))
            digest, term, *facts = values[len(_FIELDS) :]
            found.append((row, Known(terms[term], digest, *facts)))
        return found
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def identity(path: Path) -> list[int]:
    """Return what tells a file from every other, and from itself when it was written since."""
    found = os.stat(path)
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns]


class Records:
    """The records of the last run, read once, and open for their lines."""

    def __init__(self, folder: Path | None) -> None:
        """Read those of an output's folder; a file that cannot be read, or a folder that is not given, has none."""
        self.known: dict[Key, Known] = {}
        """The last of each student and exercise; the caller takes them out."""
        self.rows: dict[Key, Row] = {}
        """Their rows, where there is an index; the caller takes them out."""
        self.count = 0
        """Lines, whatever is in them."""
        self.indexed = False
        self._descriptor = -1
        if folder is None:
            return
        with suppress(OSError):
            self._descriptor = os.open(folder / RECORDS, os.O_RDONLY | os.O_CLOEXEC)
            indexed = _read(folder / INDEX, folder / RECORDS)
            if indexed is None:
                self._read_records()
            else:
                self.indexed = True
                self.rows = {row.key: row for row, _ in indexed}
                self.known = {row.key: known for row, known in indexed}
                self.count = len(indexed)

    def _read_records(self) -> None:
        reader, start = Reader(), 0
        for line in self._lines():
            if found := reader.known(line, start):
                key, known = found
                self.known[key] = known
            start += len(line)
            self.count += 1

    def _lines(self) -> Iterator[bytes]:
        with open(self._descriptor, "rb", closefd=False) as stream:
            yield from stream

    def line(self, start: int, length: int) -> bytes:
        """Return a line, or what is at that place."""
        return os.pread(self._descriptor, length, start)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
