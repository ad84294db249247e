"""Put a warm process's memory into huge pages, so that a fork of it copies few entries and its end frees few.

A process that holds torch has some 150 MB of its own in 40,000 small pages, and each fork copies an entry for every one
of them. In pages of 2 MiB there are some hundred entries; what a child writes to is copied in small pages all the
same. Linux does it on request from 6.1 on (``MADV_COLLAPSE``); where it does not, forks cost what they did.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Iterator
from typing import Final

PAGE: Final = 2 * 2**20
"""Bytes of a huge page on the machines that this runs on; another size is refused by the kernel, and costs nothing."""
_COLLAPSE: Final = 25


def collapse() -> int:
    """Collapse all memory that is this process's own; return how many bytes now lie in huge pages for it."""
    if sys.platform != "linux":
        return 0
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as lines:
            found = list(own(lines))
    except OSError:
        return 0
    # Page by page: one that is refused, as it holds a hole, does not keep the others from it.
    return sum(PAGE for start in found if madvise(start, PAGE, _COLLAPSE) == 0)


def own(lines: Iterable[str]) -> Iterator[int]:
    """Yield where each whole huge page of private, anonymous, writable memory begins, from lines of /proc/PID/maps."""
    for line in lines:
        where, rights, _, _, inode, *name = line.split(maxsplit=5)
        if rights.startswith("rw") and rights.endswith("p") and inode == "0" and not _is_special(name):
            start, end = (int(number, 16) for number in where.split("-"))
            yield from range(-(-start // PAGE) * PAGE, end // PAGE * PAGE, PAGE)


def _is_special(name: list[str]) -> bool:
    return bool(name) and name[0].startswith("[") and not name[0].startswith("[heap]")
