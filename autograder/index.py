"""The index of the records: of each record what decides whether it holds, and its row; read where nothing changed.

Records have every text of every check; the index of ten thousand is two megabytes. It is made from the records, it
names the very file that it is of, and it is passed over where anything about that is in doubt.
"""

from __future__ import annotations

import json
import os
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any, BinaryIO, Final

from autograder import __version__
from autograder.earlier import Key, Known, Terms
from autograder.models import Reference
from autograder.report.rows import Row, Verdict

FILE: Final = ".graded.index"
_FIELDS: Final = tuple(field.name for field in fields(Row) if field.name not in ("student", "exercise", "checks"))
_TEXTS: Final = tuple(
    n
    for n, name in enumerate(_FIELDS)
    for field in fields(Row)
    if field.name == name and str(field.type).startswith(("str", "Literal"))
)
"""Which of them are texts: they stand in a table, each once."""


class Writer:
    """Writes an index: ``add`` each record in order, then ``close``."""

    def __init__(self, stream: BinaryIO) -> None:
        """Begin; the stream is the caller's to close."""
        self._stream = stream
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
        self._stream.write(json.dumps([row.student, exercise, checks, *values, *facts]).encode() + b"\n")

    def close(self, records: Path) -> None:
        """Add the tables, and which file of records it is the index of."""
        terms = [[one.version, one.seed_id, *astuple(one.reference)] for one in self._terms]
        tail = {"of": identity(records), "fields": _FIELDS, "autograder": __version__}
        tail |= {"texts": list(self._texts), "checks": list(self._checks), "terms": terms}
        self._stream.write(json.dumps(tail).encode())


def _number(table: dict[Any, int], value: Any) -> int:
    return table.setdefault(value, len(table))


def read(path: Path, records: Path) -> dict[Key, tuple[Row, Known]] | None:
    """Return what an index holds, by student and exercise, in the order of the records; None where it is not theirs."""
    try:
        *lines, last = path.read_bytes().split(b"\n")
        tail = json.loads(last)
        if (tail["of"], tail["fields"], tail["autograder"]) != (identity(records), list(_FIELDS), __version__):
            return None
        texts = tail["texts"]
        checks = [tuple(Verdict(*one) for one in row) for row in tail["checks"]]
        terms = [Terms(version, seed, Reference(*rest)) for version, seed, *rest in tail["terms"]]
        end = 3 + len(_FIELDS)
        found = {}
        for line in lines:
            student, exercise, check, *values = json.loads(line)
            for place in _TEXTS:
                values[place] = texts[values[place]]
            exercise, facts = texts[exercise], values[end - 3 :]
            row = Row(student, exercise, checks=checks[check], **dict(zip(_FIELDS, values, strict=False)))
            found[student, exercise] = row, Known(terms[facts[1]], facts[0], *facts[2:])
        return found
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def identity(path: Path) -> list[int]:
    """Return what tells a file from every other, and from itself when it was written since."""
    found = os.stat(path)
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns]
