"""A machine that runs packet filter programs as the kernel does, written from the kernel's description of them."""

from __future__ import annotations

import struct
from collections.abc import Sequence


def run(program: bytes, number: int, architecture: int, arguments: Sequence[int] = ()) -> int:
    """Return what a filter answers to a system call.

    Raises:
        AssertionError: the program has an instruction that we do not make, reads elsewhere, or runs off its end.
    """
    given = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<iIQ6Q", number if number < 2**31 else number - 2**32, architecture, 0, *given)
    steps = [struct.unpack_from("<HBBI", program, place) for place in range(0, len(program), 8)]
    word, at = 0, 0
    while True:
        code, jt, jf, k = steps[at]
        at += 1
        if code == 0x20:
            assert k % 4 == 0
            assert k <= len(data) - 4
            (word,) = struct.unpack_from("<I", data, k)
        elif code == 0x54:
            word &= k
        elif code == 0x05:
            at += k
        elif code == 0x15:
            at += jt if word == k else jf
        elif code == 0x35:
            at += jt if word >= k else jf
        else:
            assert code == 0x06
            return k
