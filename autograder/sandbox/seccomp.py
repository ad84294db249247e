"""The policy of ``syscalls`` as a filter of the kernel's, and its loading, without libseccomp.

The filter is made once, in the warm process; each submission's child fills in its own number and loads it, which
cannot be undone. It sees the call's number, the architecture whose number that is, and six arguments
(``struct seccomp_data``).
"""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import sys
from dataclasses import dataclass
from typing import Final

from autograder.sandbox import bpf, syscalls
from autograder.sandbox.syscalls import Answer

_PR_GET_SECCOMP: Final = 21
_PR_SET_SECCOMP: Final = 22
_MODE_FILTER: Final = 2
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in bytes
ARCHITECTURES: Final = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
"""How a filter sees the architectures that this one knows."""
X32: Final = 0x4000_0000
"""Bit of the numbers of the x32 interface, x86-64's second one: the same calls by other numbers."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter that lacks only the number of the process that it is for."""

    code: bytes
    own: tuple[int, ...]
    """Offsets, in bytes, where that number goes."""

    def of_process(self, pid: int) -> bytes:
        """Return the filter of one process."""
        code = bytearray(self.code)
        for place in self.own:
            code[place : place + 4] = pid.to_bytes(4, sys.byteorder)
        return bytes(code)


def offered() -> bool:
    """Return whether this kernel filters system calls, on an architecture whose calls are known."""
    if sys.platform != "linux" or sys.byteorder != "little" or platform.machine() not in ARCHITECTURES:
        return False
    return sys.maxsize > 2**32 and in_force() is not None


def in_force() -> bool | None:
    """Return whether a filter judges this process's calls; None where the kernel has no filters."""
    mode = ctypes.CDLL(None, use_errno=True).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0)
    return None if mode < 0 else mode == _MODE_FILTER


def make(machine: str) -> Filter:
    """Return the filter for an architecture, one of ARCHITECTURES."""
    code = program(machine)
    places = [
        index * bpf.SIZE + bpf.WORD
        for index, step in enumerate(code)
        if step.code == bpf.EQUAL and step.k == syscalls.SELF
    ]
    return Filter(bpf.pack(code), tuple(places))


def program(machine: str) -> bpf.Code:
    """Return the instructions of the filter for an architecture."""
    known = {number: syscalls.answer(name) for name, number in syscalls.numbers(machine).items()}
    ranges: list[tuple[int, Answer]] = []
    for number in range(syscalls.NEWEST + 1):
        found = known.get(number, syscalls.EPERM)
        if not ranges or ranges[-1][1] != found:
            ranges.append((number, found))
    ranges += [(syscalls.NEWEST + 1, syscalls.ENOSYS), (X32, syscalls.KILL)]
    # Looked up by halving: when a filter is loaded, the kernel runs it once for each number.
    found_by_number = bpf.lookup([(start, _code(found)) for start, found in ranges])
    return (
        *bpf.load(_ARCHITECTURE),
        *bpf.choose(
            bpf.EQUAL,
            ARCHITECTURES[machine],
            (*bpf.load(_NUMBER), *found_by_number),
            bpf.give(syscalls.KILL),
        ),
    )


def _code(answer: Answer) -> bpf.Code:
    if isinstance(answer, int):
        return bpf.give(answer)
    return (
        *bpf.load(_ARGUMENTS + 8 * answer.argument),
        *((bpf.Instruction(bpf.AND, answer.mask),) if answer.mask != 0xFFFF_FFFF else ()),
        *bpf.one_of(answer.values, _code(answer.then), _code(answer.otherwise)),
    )


def load(code: bytes) -> None:
    """Judge this process's system calls by a filter from now on; the process must have given up new privileges.

    Raises:
        OSError: the kernel does not take it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    kept = ctypes.create_string_buffer(code, len(code))
    asked = _Program(len(code) // bpf.SIZE, ctypes.addressof(kept))
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(asked), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"the seccomp filter was not taken: {os.strerror(number)}")


def holds() -> bool:
    """Return whether the filter is in force: the kernel says so, and a call that nothing else forbids is refused."""
    if not in_force():
        return False
    try:
        socket.socket(socket.AF_UNIX).close()
    except PermissionError:
        return True
    return False
