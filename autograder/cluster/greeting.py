"""Whether a Dask scheduler is at an address at all, before Dask is let talk to it.

Dask takes the first eight bytes that it hears for a size, makes room for so many, and waits for them without an end.
So whatever else listens there - SSH, a page's server, a program that waits to be asked - would cost memory or time, and
end in an error of any kind. Here the first bytes are read by hand: at Dask, whoever is called speaks first.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from typing import Final
from urllib.parse import urlsplit

from autograder.errors import CourseError, first_line

_NUMBER: Final = struct.Struct("<Q")
_MOST: Final = 2**16
"""Bytes of a greeting, at most; Dask's has about a hundred."""
_AGAIN_SECONDS: Final = 0.1
"""A scheduler that is just being started is called again after that."""


class GreetingError(CourseError):
    """What is at an address does not begin as Dask does; the text says what it does instead."""


async def expect_greeting(address: str, context: ssl.SSLContext | None, seconds: float) -> None:
    """Wait until Dask is heard at an address; call again where nobody takes the call.

    Args:
        address: of the scheduler.
        context: for tls; else None.
        seconds: to try for.

    Raises:
        GreetingError: nobody is there, or something else, or it takes longer.
    """
    found = f"no connection within {seconds:g} s"
    try:
        async with asyncio.timeout(seconds):
            while True:
                try:
                    reader, writer = await _called(address, context)
                except ssl.SSLError as error:
                    raise GreetingError(first_line(error)) from None
                except OSError as error:
                    found = first_line(error)
                    await asyncio.sleep(_AGAIN_SECONDS)
                    continue
                found = f"it takes the connection and says nothing; is this {_likely(context)}?"
                try:
                    return await _hear(reader)
                finally:
                    writer.transport.abort()  # nothing is to be said, nor waited for
    except TimeoutError:
        raise GreetingError(found) from None


async def _called(address: str, context: ssl.SSLContext | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(address)
    return await asyncio.open_connection(parts.hostname, parts.port, ssl=context)


async def _hear(reader: asyncio.StreamReader) -> None:
    """Read a greeting: its size, the number of its frames, their sizes, and the frames; what they say is Dask's."""
    first = b""
    try:
        first = await reader.readexactly(_NUMBER.size)
        (size,) = _NUMBER.unpack(first)
        if not _NUMBER.size < size <= _MOST:
            raise GreetingError(_strange(first))
        greeting = await reader.readexactly(size)
    except asyncio.IncompleteReadError as error:
        raise GreetingError(_strange(first + error.partial)) from None
    except OSError as error:  # a certificate that does not fit may be refused only now
        raise GreetingError(first_line(error)) from None
    numbers = [number for (number,) in _NUMBER.iter_unpack(greeting[: size - size % _NUMBER.size])]
    if size != _NUMBER.size * (1 + numbers[0]) + sum(numbers[1 : 1 + numbers[0]]):
        raise GreetingError(_strange(first + greeting))


def _strange(heard: bytes) -> str:
    if not heard:
        return "it ends the connection without a word"
    begins = heard[: _NUMBER.size * 2]
    return f"it speaks another protocol and begins with {begins!r}; is this the scheduler's port?"


def _likely(context: ssl.SSLContext | None) -> str:
    return "the dashboard's port" if context is not None else "the dashboard's port, or a scheduler's that wants tls://"
