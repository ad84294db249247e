"""Landlock: what a process may do to files, by a list that the kernel holds, whatever is mounted where.

The list is made once, in the warm process; each submission's child puts itself under it, which cannot be undone.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Sequence
from typing import Final

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_VERSION: Final = 1
_BENEATH: Final = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_DIR, MAKE_REG, MAKE_SYM = 1 << 7, 1 << 8, 1 << 12
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_ON_FILES: Final = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""What may be said of something that is no folder."""
READING: Final = READ_FILE | READ_DIR
"""Not EXECUTE: nothing needs to start a program here."""
WRITING: Final = (
    READING | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SYM | REFER
)  # no pipes, sockets and devices


def abi() -> int:
    """Return the version of the interface that this kernel offers, 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(0, _call(_CREATE, None, 0, _VERSION))


def handled(version: int) -> tuple[int, int, int]:
    """Return what is forbidden unless allowed, at a version: to files, to the network, and across its own border.

    From version 4 TCP (binding, connecting), from 6 abstract sockets of others and signals to others.
    """
    newest = 13 if version < 2 else 14 if version < 3 else 15 if version < 5 else 16
    return (1 << newest) - 1, 3 if version >= 4 else 0, 3 if version >= 6 else 0


def ruleset(read: Sequence[str], write: Sequence[str], version: int) -> int:
    """Return a descriptor of the list: what may be read, what may be read and written, and nothing else at all.

    Args:
        read: files and folders, with all in them. What is not there is left out.
        write: files and folders where files may be made, changed and deleted as well.
        version: of the interface, as ``abi`` gives it.

    Raises:
        OSError: the kernel does not take it.
    """
    if version < 1:
        raise OSError(errno.EOPNOTSUPP, "this kernel does not offer Landlock, or it is turned off")
    files, network, scopes = handled(version)
    form = struct.pack("=QQQ", files, network, scopes)[: 8 if version < 4 else 16 if version < 6 else 24]
    made = _checked(_call(_CREATE, form, len(form), 0))
    try:
        for rights, paths in ((READING, read), (WRITING, write)):
            for path in paths:
                _allow(made, path, rights & files)
    except OSError:
        os.close(made)
        raise
    return made


def _allow(made: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):  # what cannot be reached needs no permission
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _ON_FILES
        _checked(_call(_ADD, made, _BENEATH, struct.pack("=Qi", rights, place), 0))
    finally:
        os.close(place)


def restrict(made: int) -> None:
    """Put this process under the list; it must have given up new privileges.

    Raises:
        OSError: the kernel does not take it.
    """
    _checked(_call(_RESTRICT, made, 0))


def holds() -> bool:
    """Return whether the list is in force: the topmost folder, which anyone may read, is on no list of ours."""
    try:
        os.close(os.open("/", os.O_RDONLY))
    except PermissionError:
        return True
    return False


def _call(number: int, *arguments: int | bytes | None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]  # a long: the kernel reads all of it
    return int(libc.syscall(ctypes.c_long(number), *given))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock's list was not taken: {os.strerror(number)}")
    return result
