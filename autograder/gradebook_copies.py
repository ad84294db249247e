"""Copies of a gradebook, made before a run changes it: ``backups/gradebook.<n>.db``, the highest the latest.

Where a gradebook is gone and a new one is made, the latest copy with a human's marks is kept, see ``gradebook_rescue``.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from autograder import files
from autograder.gradebook_db import WAIT_S, GradebookError
from autograder.gradebook_rescue import FOLDER, copies_of

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
    copies = copies_of(path)
    passing = [copy for copy in copies if not copy.kept]
    number = copies[0].number + 1 if copies else 1
    target = folder / f"{path.stem}.{number}{path.suffix}"
    source = "file:" + quote(os.fsencode(path.absolute())) + "?mode=ro"
    try:
        with (
            files.replacing(target, durable=True) as (_, aside),
            closing(sqlite3.connect(source, uri=True, timeout=WAIT_S)) as ours,
            closing(sqlite3.connect(aside, isolation_level=None)) as theirs,
        ):
            ours.backup(theirs)
            theirs.close()
            if passing and filecmp.cmp(aside, passing[0].path, shallow=False):
                raise _Same
    except _Same:
        return passing[0].path
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise GradebookError(
            f"{target}: the gradebook could not be copied before it is changed ({why}), so it was not changed; "
            "make room, or make the folder writable, then run this again"
        ) from None
    for copy in passing[KEPT - 1 :]:
        with contextlib.suppress(FileNotFoundError):
            copy.path.unlink()
    return target
