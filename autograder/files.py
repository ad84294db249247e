"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, Final, Self

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


class Spool:
    """Lines on their way to a file, kept on the disk under no name: they are gone when the process is, in whatever way.

    Use as a context manager. What ``put`` was not called for leaves nothing.
    """

    def __init__(self, path: Path) -> None:
        """``path`` is the file; its folder must exist when the block begins."""
        self._path = path

    def __enter__(self) -> Self:
        with _naming(self._path):
            self._stream: IO[bytes] = tempfile.TemporaryFile(dir=self._path.parent, prefix=_ASIDE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # what is still buffered is of no use
            self._stream.close()

    def add(self, line: str) -> None:
        """Add a line, without its newline.

        Raises:
            OSError: there is no room; the error names the file.
        """
        with _naming(self._path):
            self._stream.write(_bytes(f"{line}\n"))

    def put(self, *, durable: bool = False) -> None:
        """Make the lines the file's, as ``write`` does.

        Raises:
            OSError: as for ``write``.
        """
        with _naming(self._path), replacing(self._path, durable=durable) as (stream, _):
            self._stream.seek(0)
            shutil.copyfileobj(self._stream, stream, 1 << 20)


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


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
