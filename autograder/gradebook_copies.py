"""Copies of a gradebook, made before a run changes it: ``backups/gradebook.<n>.db``, the highest the latest."""

from __future__ import annotations

import contextlib
import filecmp
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from autograder import files
from autograder.gradebook_db import WAIT_S, GradebookError

FOLDER: Final = "backups"
KEPT: Final = 3
"""How many copies are kept."""


class _Same(Exception):
    """The latest copy is the same."""


def copy_gradebook(path: Path) -> Path | None:
    """Copy an SQLite gradebook as it was last committed, and remove the copies that are too old.

    Others may read and write it meanwhile. An empty or missing file is not copied, and one of which the latest copy is
    the same is not copied again: a run may be interrupted between its copy and its first change.

    Returns:
        The copy, on the disk in whole; None where there is nothing to copy.

    Raises:
        GradebookError: it cannot be read or the copy cannot be written.
    """
    if not path.is_file() or not path.stat().st_size:
        return None
    folder = path.parent / FOLDER
    files.sweep(folder, below=False)
    numbers = _numbers(folder, path)
    latest = max(numbers, default=0)
    target = _copy_of(folder, path, latest + 1)
    source = "file:" + quote(os.fsencode(path.absolute())) + "?mode=ro"
    try:
        with (
            files.replacing(target, durable=True) as (_, aside),
            closing(sqlite3.connect(source, uri=True, timeout=WAIT_S)) as ours,
            closing(sqlite3.connect(aside, isolation_level=None)) as copy,
        ):
            ours.backup(copy)
            copy.close()
            if latest and filecmp.cmp(aside, _copy_of(folder, path, latest), shallow=False):
                raise _Same
    except _Same:
        return _copy_of(folder, path, latest)
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise GradebookError(
            f"{target}: the gradebook could not be copied before it is changed ({why}), so it was not changed; "
            "make room, or make the folder writable, then run this again"
        ) from None
    for number in sorted(numbers)[: max(0, len(numbers) + 1 - KEPT)]:
        with contextlib.suppress(FileNotFoundError):
            _copy_of(folder, path, number).unlink()
    return target


def _copy_of(folder: Path, path: Path, number: int) -> Path:
    return folder / f"{path.stem}.{number}{path.suffix}"


def _numbers(folder: Path, path: Path) -> list[int]:
    pattern = re.compile(re.escape(path.stem) + r"\.([0-9]{1,9})" + re.escape(path.suffix))
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        return [int(found[1]) for entry in entries if (found := pattern.fullmatch(entry.name))]
    return []
