"""The line to a scheduler: asks workers for things, and brings the news, in a thread of its own.

Dask's client lives in that thread's event loop; the rest of the grader sees a queue. What a worker answers stays with
it until there is room for it here, so that a slow disk on this machine does not fill its memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import ssl
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Coroutine, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

from distributed import Client, wait
from distributed.versions import VersionMismatchWarning

from autograder.cluster.greeting import GreetingError, expect_greeting
from autograder.errors import CourseError, first_line

CONNECT_SECONDS: Final = 10.0
_CONNECT_LEAST: Final = 2.0
"""A scheduler that is busy takes so long to answer, however little is to be waited for workers."""
_LOOK_SECONDS: Final = 0.3
"""How often the scheduler is asked for its workers."""
_SILENT_SECONDS: Final = 60.0
"""A scheduler that does not answer for so long is lost."""
_ROOM: Final = 4
"""Answers that are here and not taken yet."""
_END_SECONDS: Final = 5.0
_LIKELY: Final = "is this a worker's port, or is the scheduler at other work?"


class LinkError(CourseError):
    """The scheduler cannot be reached."""


@dataclass(frozen=True, slots=True)
class Present:
    """The workers that the scheduler has: their threads, by address."""

    threads: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker answered."""

    tag: Hashable
    value: Any = None
    trouble: str = ""
    """Why there is no value."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The scheduler is gone, and nothing more comes."""

    why: str


News = Present | Answer | Lost


class Link:
    """A client of a scheduler."""

    def __init__(self, address: str, security: Any, wait: float = CONNECT_SECONDS) -> None:
        """Connect.

        Args:
            address: of the scheduler.
            security: Dask's, for tls; else None.
            wait: seconds to try for, if that is less than it would be tried for.

        Raises:
            LinkError: nobody answers there.
        """
        _quiet()
        self._address, self._security = address, security
        self._patience = max(_CONNECT_LEAST, min(CONNECT_SECONDS, wait))
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._asked: dict[Hashable, Any] = {}
        self._opened: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="cluster", daemon=True)
        self._thread.start()
        try:
            self._opened.result()
        except BaseException:
            self.close()
            raise

    def ask(self, tag: Hashable, worker: str, function: Callable[..., Any], *args: Any) -> None:
        """Have a worker call a function; its answer comes as news with this tag."""
        self._begin(self._ask(tag, worker, function, args))

    def call(self, tag: Hashable, worker: str, function: Callable[..., Any], *args: Any) -> None:
        """As ``ask``, in the event loop of a worker that may be at something."""
        self._begin(self._call(tag, worker, function, args))

    def drop(self, tag: Hashable) -> None:
        """Forget what was asked; no answer comes, and it is not begun where it was not."""
        self._begin(self._drop(tag))

    def tell(self, workers: Sequence[str], function: Callable[..., Any], run: str, seconds: float) -> None:
        """Call a function in the event loop of workers that may be at something; wait for it so long."""
        if workers and self._thread.is_alive():
            told = self._begin(self._tell(list(workers), function, run, seconds))
            with contextlib.suppress(Exception):  # whoever is not there need not be told
                told.result(seconds + 1.0)

    def news(self, seconds: float) -> Iterable[News]:
        """Yield what there is; wait for it so long. An answer is let go of when the next is taken."""
        until = time.monotonic() + seconds
        while True:
            try:
                one = self._news.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return
            yield one
            if isinstance(one, Answer):
                self._loop.call_soon_threadsafe(self._room.release)
            until = 0.0

    def close(self) -> None:
        """End it; what was asked is not waited for."""
        with contextlib.suppress(RuntimeError, AttributeError):  # the loop ended, or never was
            self._loop.call_soon_threadsafe(self._end)
        self._thread.join(_END_SECONDS)

    # -------------------------------------------------------------------- in the thread

    _client: Client | None = None

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._fail(first_line(error))
            self._news.put(Lost(first_line(error)))

    def _fail(self, why: str) -> None:
        """Let whoever waits for the connection know why there is none."""
        if not self._opened.done():
            self._opened.set_exception(LinkError(f"nobody answers at {self._address} as a Dask scheduler ({why})"))

    def _end(self) -> None:
        self._over.set()
        if not self._opened.done() and self._task is not None:
            self._task.cancel()

    async def _serve(self) -> None:
        self._loop, self._over, self._room = asyncio.get_running_loop(), asyncio.Event(), asyncio.Semaphore(_ROOM)
        self._task = asyncio.current_task()
        until = time.monotonic() + self._patience
        try:
            await expect_greeting(self._address, _context(self._security), self._patience)
        except GreetingError as error:
            return self._fail(str(error))
        client = Client(
            self._address,
            security=self._security,
            timeout=self._patience,
            set_as_default=False,
            asynchronous=True,
            name="autograder",
        )
        try:
            try:
                # Dask's own limit is not one on each of its steps.
                async with asyncio.timeout(max(_CONNECT_LEAST, until - time.monotonic())):
                    await client
            except Exception as error:  # whatever comes of taking another program's bytes for Dask's
                return self._fail(f"it begins as Dask does, and then comes {first_line(error)}; {_LIKELY}")
            self._client = client
            self._opened.set_result(None)
            with client.as_current():
                watch = asyncio.create_task(self._watch(client))
                await self._over.wait()
                watch.cancel()
        finally:
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await client.close(timeout=_END_SECONDS / 2)
            client.status = "closed"  # else it would try once more when it is let go of, and complain

    async def _watch(self, client: Client) -> None:
        present: Any = None
        try:
            while True:
                asked, since = asyncio.ensure_future(client.nthreads()), time.monotonic()
                while not (await asyncio.wait([asked], timeout=_LOOK_SECONDS))[0]:
                    # Dask would come back by itself, but has forgotten by then all that was asked.
                    if client.status != "running" or time.monotonic() - since > _SILENT_SECONDS:
                        raise TimeoutError("it does not answer")
                now = asked.result()
                if now != present:
                    self._news.put(Present(dict(now)))
                    present = now
                await asyncio.sleep(_LOOK_SECONDS)
        except Exception as error:  # whatever Dask has for it
            self._news.put(Lost(first_line(error)))

    async def _ask(self, tag: Hashable, worker: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        assert self._client is not None
        value, trouble = None, ""
        with self._client.as_current():
            try:
                future = self._asked[tag] = self._client.submit(
                    function,
                    *args,
                    key=f"autograder-{function.__name__}-{uuid.uuid4().hex}",
                    workers=[worker],
                    allow_other_workers=False,
                    pure=False,
                )
                await wait([future])
            except (Exception, asyncio.CancelledError):
                if self._over.is_set():
                    return  # else the next step says why
            await self._room.acquire()
            try:
                value = await self._client.gather(future)
            except (Exception, asyncio.CancelledError) as error:
                trouble = self._trouble(error)
        if self._asked.pop(tag, None) is None:  # it was dropped
            self._room.release()
        else:
            self._news.put(Answer(tag, value, trouble))

    def _trouble(self, error: BaseException) -> str:
        """Return why there is no answer; of a lost scheduler tell first, for then it is no worker's fault."""
        assert self._client is not None
        if self._client.status != "running":
            self._news.put(Lost(first_line(error)))
        return first_line(error)

    async def _tell(self, workers: list[str], function: Callable[..., Any], run: str, seconds: float) -> None:
        if self._client is not None and self._client.status == "running":
            told = self._client.run(function, run, workers=workers, on_error="ignore")
            await asyncio.wait_for(told, seconds)

    async def _call(self, tag: Hashable, worker: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        assert self._client is not None
        value, trouble = None, ""
        try:
            value = (await self._client.run(function, *args, workers=[worker]))[worker]
        except (Exception, asyncio.CancelledError) as error:
            trouble = first_line(error)
        await self._room.acquire()
        self._news.put(Answer(tag, value, trouble))

    async def _drop(self, tag: Hashable) -> None:
        assert self._client is not None
        future = self._asked.pop(tag, None)
        if future is not None:
            await self._client.cancel([future], force=True)

    def _begin(self, step: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(step, self._loop)


def _quiet() -> None:
    """Let Dask say nothing on its own: what is of interest comes as news, and is said in one sentence."""
    names = ["distributed", *(name for name in logging.root.manager.loggerDict if name.startswith("distributed."))]
    for name in (*names, "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.simplefilter("ignore", VersionMismatchWarning)  # what marks depend on is compared, see ``alike``
    warnings.filterwarnings("ignore", message="Sending large graph")  # one notebook may be that large


def _context(security: Any) -> ssl.SSLContext | None:
    found: ssl.SSLContext | None = None if security is None else security.get_connection_args("client")["ssl_context"]
    return found
