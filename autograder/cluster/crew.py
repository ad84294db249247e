"""What stands on a worker of the cluster: grading processes, as many as Dask gave the worker threads.

They are those of ``worker``, at the other end of a socket pair. So a submission is parsed, run and judged in no process
of Dask's; whatever ends the worker ends them and what they confine; and what is under way can be ended. The functions
are what the main process asks for; they are told by bytes, which only a grading process unpacks.

A crew whose main process does not call any more, for it was killed, ends by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import threading
import time
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from distributed import get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from autograder.cluster.alike import difference, standing
from autograder.errors import CourseError, sentence
from autograder.pool import Process
from autograder.sandbox import walls
from autograder.tasks import Fault, Layers, unread

IDLE_SECONDS: Final = 60.0
"""A crew that nobody calls for so long ends."""
_TRIES: Final = 2
_ENDING: Final = "the grading processes end by themselves; is the machine short of memory?"


class Crew(WorkerPlugin):  # type: ignore[misc]
    """The grading processes of one run on one worker of the cluster."""

    def __init__(self, count: int, *, walled: bool) -> None:
        """Start nothing yet.

        Args:
            count: how many processes.
            walled: as for ``pool.Class``.
        """
        self._count, self._walled = count, walled
        self._orders = b""
        self._briefing = threading.Lock()
        self._free: list[Process] = []
        self._all: list[Process] = []
        self._change = threading.Condition()
        self._over = threading.Event()
        self._open: dict[int, tuple[deque[bytes], list[bytes]]] = {}
        """Of each chunk that is under way, what is not begun and what came of the others."""
        self._called = time.monotonic()
        self.halted = False
        """Whether no submission is begun any more."""

    def start(self) -> None:
        """Start the processes; they warm up while the caller goes on."""
        for _ in range(self._count):
            _send(self._start(), pickle.dumps(Layers()))

    def warm(self) -> tuple[str, ...]:
        """Return the layers around a submission, once all processes are warm.

        Raises:
            CourseError: they do not stand.
        """
        for hand in list(self._all):
            answer = _unpacked(_receive(hand))
            if isinstance(answer, Fault):
                raise CourseError(answer.text)
            self._put(hand)
        return tuple(answer.names)

    def brief(self, orders: bytes) -> str:
        """Tell all processes what they grade by; return why they cannot, "" where they can."""
        with self._briefing:  # two that take all of them would wait for each other
            self._orders = orders
            hands = [self._take() for _ in range(self._count)]
        for hand in hands:
            _send(hand, orders)
        trouble = ""
        for hand in hands:
            answer = _unpacked(_receive(hand))
            trouble = trouble or (answer.text if isinstance(answer, Fault) else "")
            self._put(hand)
        return trouble

    def grade(self, chunk: int, tasks: Sequence[bytes], seconds: float) -> list[bytes]:
        """Grade one task after the other until so much time is over, at least one; return what each came to."""
        hand = self._take()
        until = time.monotonic() + seconds
        rest, answers = self._open[chunk] = deque(tasks), []
        try:
            while rest and not self.halted and (not answers or time.monotonic() < until):
                try:
                    task = rest.popleft()
                except IndexError:  # it was given back in this very moment
                    break
                hand, answer = self._answer(hand, task)
                answers.append(answer)
        except (EOFError, OSError):
            if not self._over.is_set():
                raise
        except BaseException:  # it may have an answer still, which is none to what it is asked next
            hand = self._replaced(hand)
            raise
        finally:
            self._open.pop(chunk, None)
            self._put(hand)
        return answers

    def give_back(self, chunk: int) -> tuple[list[bytes], int]:
        """Begin no more of a chunk; return what came of it so far, and how many tasks, from the last, are not begun."""
        rest, answers = self._open.get(chunk, (deque(), []))
        given = 0
        while rest:
            with contextlib.suppress(IndexError):
                rest.pop()
                given += 1
        return list(answers), given

    def end(self) -> None:
        """End the processes and all that they started, whatever is under way."""
        with self._change:
            self._over.set()
            hands, self._all = self._all, []
            for hand in hands:
                hand.hang_up()
            self._change.notify_all()
        for hand in hands:
            hand.end()

    async def teardown(self, worker: Any) -> None:
        """End them when Dask takes the crew away, or closes the worker."""
        await asyncio.to_thread(self.end)

    def end_when_idle(self, worker: Any, name: str) -> None:
        """Wait until nobody has called for long, and take the crew away."""
        while not self._over.wait(IDLE_SECONDS / 10):
            with self._change:
                idle = len(self._free) >= len(self._all) and time.monotonic() - self._called > IDLE_SECONDS
            if idle:
                self.end()
        worker.loop.add_callback(self._leave, worker, name)

    def _leave(self, worker: Any, name: str) -> None:
        if worker.plugins.get(name) is self:  # and not one that has taken its place
            del worker.plugins[name]

    def _answer(self, hand: Process, task: bytes) -> tuple[Process, bytes]:
        """Return what a task came to, and the process that did it: one that dies is replaced, as the pool does."""
        for lost in range(_TRIES + 1):
            if lost == _TRIES:
                told = pickle.loads(task)  # the main process made it
                task = pickle.dumps(unread(told))
            try:
                hand.connection.send_bytes(task)
                return hand, hand.connection.recv_bytes()
            except (EOFError, OSError):
                if self._over.is_set():
                    raise
                hand = self._replaced(hand)
        return hand, pickle.dumps(Fault(_ENDING))

    def _replaced(self, hand: Process) -> Process:
        hand.end()
        with self._change:
            if hand in self._all:
                self._all.remove(hand)
        new = self._start()
        _send(new, self._orders)
        _receive(new)
        return new

    def _start(self) -> Process:
        hand = Process(walled=self._walled)
        with self._change:
            self._all.append(hand)
            if self._over.is_set():
                hand.hang_up()
        return hand

    def _take(self) -> Process:
        with self._change:
            self._change.wait_for(lambda: self._free or self._over.is_set())
            self._called = time.monotonic()
            if self._over.is_set():
                raise EOFError
            return self._free.pop()

    def _put(self, hand: Process) -> None:
        with self._change:
            self._free.append(hand)
            self._called = time.monotonic()
            self._change.notify()


def _send(hand: Process, message: bytes) -> None:
    try:
        hand.connection.send_bytes(message)
    except OSError:  # it ended, or is ended, which the receiving says
        hand.hang_up()


def _receive(hand: Process) -> bytes:
    try:
        return hand.connection.recv_bytes()
    except (EOFError, OSError):
        return pickle.dumps(Fault(_ENDING))


def _unpacked(answer: bytes) -> Any:
    return pickle.loads(answer)  # a grading process made it


# ------------------------------------------------------------------------ what is asked for


def enlist(run: str, wanted: Mapping[str, str], slugs: Sequence[str], walled: bool) -> dict[str, Any]:
    """Start a crew on this worker, if a mark comes about here as it does where the run is.

    Args:
        run: its name.
        wanted: ``alike.standing`` there.
        slugs: the exercises.
        walled: whether walls must stand.

    Returns:
        Plain data, for a main process of any version: ``trouble``, a sentence's end after the worker's name, or
        ``layers`` and ``count``.
    """
    worker = get_worker()
    if walled and walls.bubblewrap() is None:
        missing = "bubblewrap is missing there (apt-get install bubblewrap)"
        return {"trouble": f"cannot confine strangers' code: {missing}"}
    crew = Crew(worker.state.nthreads, walled=walled)
    asyncio.run_coroutine_threadsafe(_add(worker, crew, run), worker.loop.asyncio_loop).result()
    threading.Thread(target=crew.end_when_idle, args=(worker, _name(run)), daemon=True).start()
    try:
        crew.start()
        if not (differs := difference(standing(slugs), wanted)):
            return {"trouble": "", "layers": list(crew.warm()), "count": worker.state.nthreads}
        trouble = f"has {differs}; install the same on both"
    except (CourseError, OSError) as error:
        trouble = f"cannot grade: {sentence(error)}"
    crew.end()
    return {"trouble": trouble}


def brief(run: str, orders: bytes) -> str | None:
    """Tell this worker's crew what all tasks are graded by; return why it cannot, None where there is no crew."""
    crew = _crew(run)
    with contextlib.suppress(EOFError):
        return None if crew is None else crew.brief(orders)
    return None


def grade(run: str, chunk: int, tasks: bytes, seconds: float) -> bytes | None:
    """Grade a chunk, or as much of it as is done in that time; None where there is no crew.

    Args:
        run: its name.
        chunk: its number.
        tasks: a list of tasks, each packed for itself.
        seconds: after which no further one is begun.

    Returns:
        What the first of them came to, see ``unpacked``.
    """
    crew = _crew(run)
    with contextlib.suppress(EOFError):
        return None if crew is None else packed(crew.grade(chunk, pickle.loads(tasks), seconds))
    return None


def packed(answers: Sequence[bytes]) -> bytes:
    """Return answers as they travel: pages of one exercise have most of their bytes in common."""
    return zlib.compress(pickle.dumps(answers), 1)


def unpacked(answers: bytes) -> list[Any]:
    """Return answers, each as its grading process gave it: a ``Done``, or a ``Fault``."""
    return [pickle.loads(answer) for answer in pickle.loads(zlib.decompress(answers))]  # our own processes made them


async def give_back(run: str, chunk: int, dask_worker: Any) -> tuple[bytes, int]:
    """As ``Crew.give_back``, with the answers packed."""
    crew = dask_worker.plugins.get(_name(run))
    answers, count = ([], 0) if crew is None else crew.give_back(chunk)
    return packed(answers), count


async def halt(run: str, dask_worker: Any) -> None:
    """Let the crew begin no further submission."""
    crew = dask_worker.plugins.get(_name(run))
    if crew is not None:
        crew.halted = True


async def dismiss(run: str, dask_worker: Any) -> None:
    """End the crew."""
    if _name(run) in dask_worker.plugins:
        await dask_worker.plugin_remove(name=_name(run))


async def _add(worker: Any, crew: Crew, run: str) -> None:
    await worker.plugin_add(plugin=crew, name=_name(run))


def _crew(run: str) -> Crew | None:
    found = get_worker().plugins.get(_name(run))
    return found if isinstance(found, Crew) else None


def _name(run: str) -> str:
    return f"autograder-{run}"
