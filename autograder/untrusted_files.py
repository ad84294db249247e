"""Read files that a stranger made: no link is followed, nothing but a regular file is opened, nothing large is read."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

LIMIT: Final = 20 * 2**20
"""Bytes of the largest file that is read."""
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)  # Windows has none of these, and `check FILE` runs there too
_FILE: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Refused(Exception):
    """A file or folder that is not read; the message says why, then what to do."""


@contextmanager
def open_folder(name: str | Path, parent: int | None = None) -> Iterator[int]:
    """Open a folder, and give its descriptor; one inside an open folder must be no link.

    Raises:
        Refused: it is no folder, or a link.
        OSError: it cannot be opened.
    """
    inside = parent is not None
    if inside:
        _expect(stat.S_IFDIR, os.stat(name, dir_fd=parent, follow_symlinks=False), name, parent)
    descriptor = os.open(name, _FOLDER | (_NOFOLLOW if inside else 0), dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_bytes(name: str | Path, parent: int | None = None, *, follow: bool = False) -> bytes:
    """Return a regular file's bytes; what is none is not opened, and what became none since is not read.

    Args:
        name: a path, or the name of a file in the open folder ``parent``.
        parent: descriptor of a folder.
        follow: whether the name may be a symbolic link.

    Raises:
        Refused: it is no regular file, a link, or too large.
        OSError: it cannot be read.
    """
    _expect(stat.S_IFREG, os.stat(name, dir_fd=parent, follow_symlinks=follow), name, parent)
    descriptor = os.open(name, _FILE | (0 if follow else _NOFOLLOW), dir_fd=parent)
    try:
        _expect(stat.S_IFREG, os.fstat(descriptor), name, parent)
        with open(descriptor, "rb", closefd=False) as stream:
            data = stream.read(LIMIT + 1)
    finally:
        os.close(descriptor)
    _expect_size(len(data))  # it may have grown since
    return data


def _expect(kind: int, found: os.stat_result, name: str | Path, parent: int | None) -> None:
    mode = stat.S_IFMT(found.st_mode)
    wanted = _KINDS[kind]
    if mode == stat.S_IFLNK:
        why = "which could show another student's work" if _leads_somewhere(name, parent) else "and leads to nothing"
        raise Refused(f"it is a symbolic link, {why}; put the {wanted.split()[-1]} itself there")
    if mode != kind:
        raise Refused(f"it is {_KINDS.get(mode, 'something else')}, not {wanted}; put {wanted} there")
    if kind == stat.S_IFREG:
        _expect_size(found.st_size)


def _expect_size(size: int) -> None:
    if size > LIMIT:
        sizes = f"{size / 2**20:.1f} MiB, and at most {LIMIT / 2**20:.0f} MiB are read"
        raise Refused(f"the file has {sizes}; clear the outputs of its cells and hand it in again")


def _leads_somewhere(name: str | Path, parent: int | None) -> bool:
    try:
        os.stat(name, dir_fd=parent)
    except OSError:
        return False
    return True


def trouble(error: Exception) -> str:
    """Return why a file or folder could not be read, then what to do, as part of a sentence."""
    if not isinstance(error, OSError):
        return str(error)
    if isinstance(error, PermissionError):
        return "permission denied; let the account that grades read it"
    if error.errno == errno.ENOENT:
        return "it was removed while it was read; hand it in again"
    return f"it cannot be read ({error.strerror or error}); copy it anew"


def shown(name: str) -> str:
    """Return a name with what does not print, and backslashes, as backslash escapes."""
    return name if name.isprintable() and "\\" not in name else "".join(map(_escaped, name))


def _escaped(sign: str) -> str:
    if sign.isprintable() and sign != "\\":
        return sign
    code = ord(sign)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of the name that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if sign == "\\":
        return "\\\\"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
