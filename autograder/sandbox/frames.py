"""Length-limited JSON frames on a socket: the only thing that crosses between the two sides.

A frame is four bytes of length, most significant first, and that many bytes of JSON (UTF-8, no NaN or Infinity).
"""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any, Final

LIMIT: Final = 16 * 2**20
"""Bytes a frame may have."""
EXIT_OUT_OF_MEMORY: Final = 3
"""Exit status of a child that ran out of memory outside the student's call."""
EXIT_TOO_LARGE: Final = 4
"""Exit status of a child whose answer does not fit a frame."""


CONTAINERS: Final = 200_000
"""Lists and objects that a frame may have; each costs its reader far more than its two bytes."""


class Closed(Exception):
    """The other side ended before the frame was complete."""


class Late(Exception):
    """The frame was not complete at the deadline."""


class BadFrame(Exception):
    """What came is no frame: too long, not JSON, or nested beyond reason."""


class TooLarge(BadFrame):
    """The message to send is larger than a frame."""


def send(sock: socket.socket, message: Any, deadline: float | None = None) -> None:
    """Send one frame.

    Raises:
        Closed: the other side is gone.
        Late: it did not take the frame before ``deadline`` (of ``time.monotonic``).
        TooLarge: the message is larger than LIMIT.
    """
    data = written(message)
    _set_timeout(sock, deadline)
    try:
        sock.sendall(struct.pack(">I", len(data)) + data)
    except TimeoutError:
        raise Late from None
    except OSError:
        raise Closed from None


def receive(sock: socket.socket, deadline: float | None = None, limit: int = LIMIT) -> Any:
    """Return the next frame's message.

    Args:
        sock: where it comes from.
        deadline: of ``time.monotonic``; None to wait for ever.
        limit: bytes that it may have. Small ones keep a stranger's answer from costing its reader time and memory.

    Raises:
        Closed: the other side ended first.
        Late: the frame was not complete before ``deadline`` (of ``time.monotonic``).
        BadFrame: what came is no frame.
    """
    (size,) = struct.unpack(">I", _exactly(sock, 4, deadline))
    _within(size, limit)
    return read(_exactly(sock, size, deadline), limit)


def written(message: Any) -> bytes:
    """Return a message as bytes; TooLarge where there are more than LIMIT."""
    data = json.dumps(message, allow_nan=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(data) > LIMIT:
        raise TooLarge(f"{len(data)} bytes, more than {LIMIT}")
    return data


def read(data: bytes, limit: int = LIMIT) -> Any:
    """Return the message that bytes hold; BadFrame where they are none, or more than ``limit``."""
    _within(len(data), limit)
    if data.count(b"[") + data.count(b"{") > CONTAINERS:
        raise BadFrame("too many lists and objects")
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"not JSON: {type(error).__name__}") from None


def _within(size: int, limit: int) -> None:
    if size > limit:
        raise BadFrame(f"{size} bytes, more than {limit}")


def _exactly(sock: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = []
    while size:
        try:
            _set_timeout(sock, deadline)
        except Late:
            sock.settimeout(0.0)  # what has come in time counts, although it is looked at late
        try:
            part = sock.recv(min(size, 2**20))
        except (TimeoutError, BlockingIOError):
            raise Late from None
        except OSError:
            raise Closed from None
        if not part:
            raise Closed
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _set_timeout(sock: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        sock.settimeout(None)
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise Late
    sock.settimeout(left)


def _refuse(constant: str) -> None:
    raise ValueError(f"the constant {constant}")
