"""Programs for the kernel's packet filter, which also judges system calls: an emitter of the few forms that we need.

A program is a list of instructions that looks at four-byte words of what it is given, jumps forward only, and returns
a number. See ``seccomp`` for what is looked at and what the number means.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

LOAD: Final = 0x20
"""BPF_LD | BPF_W | BPF_ABS: the word at offset k."""
AND: Final = 0x54
"""BPF_ALU | BPF_AND | BPF_K."""
JUMP: Final = 0x05
"""BPF_JMP | BPF_JA: over the next k instructions."""
EQUAL: Final = 0x15
"""BPF_JMP | BPF_JEQ | BPF_K: over jt instructions where the word is k, else over jf."""
AT_LEAST: Final = 0x35
"""BPF_JMP | BPF_JGE | BPF_K: as EQUAL, where the word, without a sign, is k or more."""
RETURN: Final = 0x06
"""BPF_RET | BPF_K."""
FARTHEST: Final = 255
"""Instructions that a conditional jump can skip."""
LONGEST: Final = 4096
"""Instructions that a program may have."""
_FORM: Final = struct.Struct("=HBBI")
WORD: Final = 4
"""Where k lies in the bytes of an instruction."""
SIZE: Final = _FORM.size
"""Bytes of an instruction."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction, with the kernel's names for its parts."""

    code: int
    k: int = 0
    jt: int = 0
    jf: int = 0


Code = tuple[Instruction, ...]


def load(offset: int) -> Code:
    """Return code that loads the word at an offset in bytes."""
    return (Instruction(LOAD, offset),)


def give(value: int) -> Code:
    """Return code that ends the program with a value."""
    return (Instruction(RETURN, value),)


def choose(test: int, value: int, then: Code, otherwise: Code) -> Code:
    """Return code that goes on with ``then`` where the test (EQUAL, AT_LEAST) holds for the word, else ``otherwise``.

    Both must end in a return.
    """
    if len(then) <= FARTHEST:
        return (Instruction(test, value, 0, len(then)), *then, *otherwise)
    # Too far for the test itself: where it holds it skips the long jump.
    return (Instruction(test, value, 1, 0), Instruction(JUMP, len(then)), *then, *otherwise)


def one_of(values: Iterable[int], then: Code, otherwise: Code) -> Code:
    """Return code that goes on with ``then`` where the word is one of the values; each code must end in a return."""
    code = otherwise
    for value in sorted(values, reverse=True):
        code = choose(EQUAL, value, then, code)
    return code


def lookup(starts: Sequence[tuple[int, Code]]) -> Code:
    """Return code that finds the range in which the word lies, by halving.

    Args:
        starts: the first word of each range and what to do there, in order; the first starts at 0.
    """
    if len(starts) == 1:
        return starts[0][1]
    middle = len(starts) // 2
    return choose(AT_LEAST, starts[middle][0], lookup(starts[middle:]), lookup(starts[:middle]))


def pack(code: Code) -> bytes:
    """Return the program as the kernel reads it, an array of ``struct sock_filter``.

    Raises:
        ValueError: it is longer than the kernel takes.
    """
    if len(code) > LONGEST:
        raise ValueError(f"{len(code)} instructions, more than {LONGEST}")
    return b"".join(_FORM.pack(step.code, step.jt, step.jf, step.k) for step in code)


def unpack(data: bytes) -> Code:
    """Return the instructions of a packed program."""
    return tuple(Instruction(code, k, jt, jf) for code, jt, jf, k in _FORM.iter_unpack(data))
