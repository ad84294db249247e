"""Length-limited JSON frames on a socket: the only thing that crosses between the two sides.

A frame is four bytes of length, most significant first, and that many bytes of JSON (UTF-8, no NaN or Infinity).
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable
from json import encoder
from typing import Any, Final

LIMIT: Final = 16 * 2**20
"""Bytes a frame may have."""
EXIT_OUT_OF_MEMORY: Final = 213
"""Exit status of a child that ran out of memory outside the student's call; of a number that no program takes."""
EXIT_TOO_LARGE: Final = 214
"""Exit status of a child whose answer does not fit a frame."""
TOO_MANY_FILES: Final = 1 << 16
"""What is told as the wait status of a child that was ended for the files that it made; no process ends with it."""

CONTAINERS: Final = 200_000
"""Lists and objects that a frame may have; each costs its reader far more than its two bytes."""


_AHEAD: Final = 2**16
"""Bytes that are read at a time where frames are small."""

# Bound here, so that a frame holds what was meant whatever becomes of the modules that these come from.
_ENCODE: Final = encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, json.JSONEncoder().default, encoder.encode_basestring_ascii, None, ":", ",", False, False, False
)
_SEND_ALL: Final = socket.socket.sendall
_PACK: Final = struct.pack


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
    send_bytes(sock, written(message), deadline)


def send_bytes(sock: socket.socket, data: bytes, deadline: float | None = None) -> None:
    """Send one frame that holds these bytes; as ``send``."""
    if len(data) > LIMIT:
        raise TooLarge(f"{len(data)} bytes, more than {LIMIT}")
    _set_timeout(sock, deadline)
    try:
        _SEND_ALL(sock, _PACK(">I", len(data)) + data)
    except TimeoutError:
        raise Late from None
    except OSError:
        raise Closed from None


def send_patiently(sock: socket.socket, message: Any, deadline: float, more: Callable[[float], float]) -> None:
    """Send one frame, to one that may be kept from reading it; as ``send``, with ``more`` as of ``Reader``."""
    data = written(message)
    left = memoryview(_PACK(">I", len(data)) + data)
    while left:
        try:
            _set_timeout(sock, deadline)
            left = left[sock.send(left) :]
        except (Late, TimeoutError):
            put_off = more(time.monotonic() - deadline)
            if put_off <= 0.0:
                raise Late from None
            deadline += put_off
        except OSError:
            raise Closed from None


def receive(sock: socket.socket, deadline: float | None = None, limit: int = LIMIT) -> Any:
    """Return the next frame's message; nothing is read beyond it. As ``Reader.message``."""
    return read(receive_bytes(sock, deadline, limit), limit)


def receive_bytes(sock: socket.socket, deadline: float | None = None, limit: int = LIMIT) -> bytes:
    """Return the bytes of the next frame; nothing is read beyond it. As ``Reader.data``."""
    (size,) = struct.unpack(">I", _exactly(sock, 4, deadline))
    _within(size, limit)
    return _exactly(sock, size, deadline)


class Reader:
    """The frames that come from a socket, which nobody else reads from."""

    def __init__(self, sock: socket.socket, more: Callable[[float], float] = lambda late: 0.0) -> None:
        """Nothing is read yet.

        Args:
            sock: where they come from.
            more: asked at a deadline, with the seconds since; returns by how many it is put off, 0.0 to be late.
        """
        self._sock, self._more = sock, more
        self._buffer = bytearray()

    def message(self, deadline: float, limit: int = LIMIT) -> Any:
        """Return the next frame's message.

        Args:
            deadline: of ``time.monotonic``; ``more`` may put it off.
            limit: bytes that it may have. Small ones keep a stranger's answer from costing its reader time and memory.

        Raises:
            Closed: the other side ended first.
            Late: the frame was not complete before ``deadline``.
            BadFrame: what came is no frame.
        """
        return read(self.data(deadline, limit), limit)

    def data(self, deadline: float, limit: int = LIMIT) -> bytes:
        """Return the bytes of the next frame; as ``message``."""
        deadline = self._fill(4, deadline)
        size = int.from_bytes(self._buffer[:4], "big")
        _within(size, limit)
        self._fill(4 + size, deadline)
        data = bytes(memoryview(self._buffer)[4 : 4 + size])
        del self._buffer[: 4 + size]
        return data

    def _fill(self, size: int, deadline: float) -> float:
        while len(self._buffer) < size:
            # No more than is asked for is read ahead of a large frame, and of small ones as many as have come.
            try:
                self._buffer += _part(self._sock, max(_AHEAD, min(size - len(self._buffer), 2**20)), deadline)
            except Late:
                more = self._more(time.monotonic() - deadline)
                if more <= 0.0:
                    raise
                deadline += more
        return deadline


def written(message: Any) -> bytes:
    """Return a message as bytes; TooLarge where there are more than LIMIT."""
    data = "".join(_ENCODE(message, 0)).encode("ascii")
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
        part = _part(sock, min(size, 2**20), deadline)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _part(sock: socket.socket, size: int, deadline: float | None) -> bytes:
    try:
        _set_timeout(sock, deadline)
    except Late:
        sock.settimeout(0.0)  # what has come in time counts, although it is looked at late
    try:
        part = sock.recv(size)
    except (TimeoutError, BlockingIOError):
        raise Late from None
    except OSError:
        raise Closed from None
    if not part:
        raise Closed
    return part


def _set_timeout(sock: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        if sock.gettimeout() is not None:
            sock.settimeout(None)
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise Late
    sock.settimeout(left)


def _refuse(constant: str) -> None:
    raise ValueError(f"the constant {constant}")
