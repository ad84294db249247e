"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import filecmp
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

_ASIDE: Final = ".writing-"


def write(path: Path, text: str, *, durable: bool = False) -> bool:
    """Write text atomically, as UTF-8, making its folders; return whether the file changed.

    A lone surrogate (from a student's text) is written as its escape. ``durable`` waits until the disk has it, so that
    not even a power failure takes it back.

    Raises:
        OSError: it cannot be written; the error names the path, and what was there is as it was.
    """
    data = _bytes(text)
    with contextlib.suppress(OSError):
        if path.read_bytes() == data:
            return False
    with replacing(path, durable=durable) as (stream, _):
        stream.write(data)
    return True


def write_lines(path: Path, lines: Iterable[str], *, durable: bool = False) -> None:
    """Write lines, each with a newline after it, as ``write`` does, but never hold them all.

    Raises:
        OSError: as for ``write``.
    """
    write_parts(path, (part for line in lines for part in (line, "\n")), durable=durable)


def write_parts(path: Path, parts: Iterable[str], *, durable: bool = False) -> None:
    """Write a text that comes in parts, as ``write`` does, but never hold it whole.

    Raises:
        OSError: as for ``write``.
    """
    with replacing(path, durable=durable) as (stream, _):
        for part in parts:
            stream.write(_bytes(part))


@contextlib.contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[tuple[BinaryIO, Path]]:
    """Give an empty file beside ``path``, open and by name; after the block it takes the place of what is there.

    A file that holds the same already is left alone. After an exception nothing has changed. Everybody may read it.

    Raises:
        OSError: it cannot be written; the error names ``path``.
    """
    aside = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=_ASIDE)
        with os.fdopen(descriptor, "wb") as stream:
            yield stream, Path(aside)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        if _same(Path(aside), path):
            os.unlink(aside)
            return
        os.chmod(aside, 0o644)
        os.replace(aside, path)
        if durable:
            sync_folder(path.parent)
    except BaseException as error:
        if aside:
            with contextlib.suppress(OSError):
                os.unlink(aside)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep(folder: Path, *, below: bool) -> None:
    """Remove what a process that was killed had not finished writing; ``below``: in the folders of a folder, too."""
    for parent, folders, names in os.walk(folder):
        for name in names:
            if name.startswith(_ASIDE):
                os.unlink(os.path.join(parent, name))
        if not below:
            folders.clear()


def _same(one: Path, other: Path) -> bool:
    with contextlib.suppress(OSError):
        return other.is_file() and filecmp.cmp(one, other, shallow=False)
    return False


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
