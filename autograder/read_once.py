"""An exercise and what is expected of it, read once for as long as its files stay as they are.

A student tries an answer many times in one notebook. Most of what that took was to read the same folder again.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from autograder import catalog, recorded
from autograder.models import Exercise, Reference
from autograder.recognize import Pattern
from autograder.reference.expectations import PUBLIC, Expectations, Seed, expect

Stamp: TypeAlias = tuple[tuple[str, int, int, int, int], ...]
"""Of each file of an exercise: path, inode, size, and when its content and its entry last changed, in nanoseconds."""

SETTLED: Final = 2.0
"""Seconds that a file must have been left alone: on some systems, two changes in a row have the same time."""
_KEPT: Final = 16


def exercise(slug: str) -> Exercise:
    """Return the exercise, validated; ``catalog.CatalogError`` for the first fault."""
    root = catalog.course_root()
    stamp = _stamp(root, slug)
    return _exercise(root, slug, stamp) if _is_settled(stamp) else catalog.load(slug, root)


def expectations(slug: str) -> tuple[Expectations, Mapping[str, Pattern]]:
    """Return what is recorded for the public seed, else what the reference solution does, run here and now.

    Raises:
        catalog.CatalogError: the exercise cannot be read.
        reference.expectations.ReferenceError: nothing is recorded, and the reference does not run.
    """
    root = catalog.course_root()
    stamp = _stamp(root, slug)
    if _is_settled(stamp):
        return _expectations(root, slug, stamp)
    return _expected(catalog.load(slug, root))


@functools.lru_cache(maxsize=_KEPT)
def _exercise(root: Path, slug: str, stamp: Stamp) -> Exercise:
    return catalog.load(slug, root)


@functools.lru_cache(maxsize=_KEPT)
def _expectations(root: Path, slug: str, stamp: Stamp) -> tuple[Expectations, Mapping[str, Pattern]]:
    return _expected(_exercise(root, slug, stamp))


def _expected(read: Exercise) -> tuple[Expectations, Mapping[str, Pattern]]:
    if (known := recorded.load(read)) is not None:
        return known
    return expect(read, Seed(PUBLIC), Reference(f"solutions/{read.slug}.py", "cpu", _torch_version())), {}


def _torch_version() -> str:
    import importlib.metadata  # here, because it brings half of Python's mail, and is rarely needed

    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return ""


# ---------------------------------------------------------------------------- stamps


def _stamp(root: Path, slug: str) -> Stamp:
    """Return the stamp of all files that an exercise is read from; empty where one of them is missing."""
    folder = root / "exercises" / slug
    found = []
    with contextlib.suppress(OSError):
        folders = [folder, folder / "wrong", folder / "right"]
        for path in (str(root / "solutions" / f"{slug}.py"), *(path for each in folders for path in _files(each))):
            entry = os.stat(path)
            found.append((path, entry.st_ino, entry.st_size, entry.st_mtime_ns, entry.st_ctime_ns))
        return tuple(found)
    return ()


def _files(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        yield from sorted(entry.path for entry in entries if not _decides_nothing(entry.name))


def _decides_nothing(name: str) -> bool:
    # The notebook that the student works in, and what Jupyter and Python leave beside it.
    return name.endswith(".ipynb") or name.startswith(".") or name == "__pycache__"


def _is_settled(stamp: Stamp) -> bool:
    last = max((max(content, entry) for *_, content, entry in stamp), default=time.time_ns())
    return time.time_ns() - last > SETTLED * 1e9
