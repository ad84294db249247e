"""The trusted side of the confined process: start it, hand it submissions, end them."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Self

from autograder.errors import CourseError
from autograder.limits import STUDENT as STUDENT
from autograder.limits import Limits as Limits
from autograder.loaded import Loaded as Loaded
from autograder.models import Case, Cell, Observation
from autograder.observations import decode_observation, encode_arguments
from autograder.sandbox import frames, waiting, walls
from autograder.sandbox.layers import ALL, Layers
from autograder.sandbox.questions import Questions
from autograder.values import BadValue

START_SECONDS: Final = 60.0
"""How long the confined process may take to import torch."""
_ANSWER_SECONDS: Final = 10.0
"""How long a warm process may take to answer: one that ended is noticed at once, so this is for one that hangs."""
_CLOSE_SECONDS: Final = 0.5
_CLOSE_COLD_SECONDS: Final = 30.0
"""How long a process may take to end that was told to before it was warm: as long as it imports torch."""
_NAMESPACES: Final = ("pid", "net", "ipc", "uts", "mnt")


class SandboxError(CourseError):
    """The confined process cannot be started, or is of no more use; one sentence says why."""


class Zygote:
    """A warm confined process. Use as a context manager, from one thread at a time."""

    def __init__(
        self,
        *,
        walled: bool,
        preload: Sequence[str] = (),
        limits: Limits = STUDENT,
        layers: Layers = ALL,
        many: bool = False,
    ) -> None:
        """Start it; it imports torch while the caller goes on (``ready`` waits).

        Args:
            walled: put bubblewrap around it. Without, it is an ordinary process: for a student's own code only.
            preload: modules to import besides torch and NumPy.
            limits: of each submission.
            layers: what surrounds a submission; only tests leave one out.
            many: take a third of a second more to start, and less for each submission; see ``huge``.
        """
        self._walled, self._limits, self._asked = walled, limits, layers
        self._drops = walled and layers.uid and os.geteuid() == 0
        self._facts: dict[str, Any] = {}
        self._buffer = b""
        self._handles: list[int] = []
        self._learned: set[str] = set()
        self._waiting = waiting.Waiting()
        self._number: int | None = None
        command = walls.python_command(inside=walled)
        if walled:
            program = walls.bubblewrap()
            if program is None:
                raise SandboxError("bubblewrap is not installed; on Debian: apt-get install bubblewrap")
            command = [*walls.bubblewrap_command(program, layers), *command]
        options = {
            "uid": walls.CONFINED_UID if self._drops else None,
            "preload": list(preload),
            "many": many,
            "outer_pid_namespace": _own_namespace("pid") if walled else "",
            "seccomp": walled and layers.seccomp,
            "landlock": [walls.readable(), walls.writable()] if walled and layers.landlock else None,
            "limits": _limits(limits) if layers.rlimits else None,
        }
        self._control, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [*command, str(theirs.fileno()), json.dumps(options)],
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env=walls.environment(),
                )
        except OSError as error:
            self._control.close()
            raise SandboxError(f"the confined process did not start: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process and everything in it."""
        # At this a process ends by itself, a cold one once it is warm; bubblewrap, killed too soon, leaves one behind.
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)  # at once, although another thread may be waiting at it
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_CLOSE_SECONDS if self._facts else _CLOSE_COLD_SECONDS)
        self._kill()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _kill(self) -> None:
        # Bubblewrap may lack the right to end what it started, which has taken another user.
        while self._handles:
            handle = self._handles.pop()
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)
        self._process.kill()
        self._process.wait()

    def ready(self) -> dict[str, Any]:
        """Wait until it is warm; return what it says of itself: torch's version, user, namespaces.

        Raises:
            SandboxError: it did not start, or its walls are not what they must be.
        """
        if not self._facts:
            try:
                self._facts = self._hear(START_SECONDS)["ready"]
            except (SandboxError, KeyError):
                raise SandboxError(f"the confined process did not start: {self._last_words()}") from None
            if self._walled:
                self._verify()
        return self._facts

    def _verify(self) -> None:
        shared = [k for k in _NAMESPACES if self._facts["namespaces"].get(k) in ("", _own_namespace(k))]
        if shared and self._asked.namespaces:
            raise SandboxError(f"the confined process shares the {', '.join(shared)} namespace with this machine")
        if self._asked.uid and (self._facts["uid"] == 0 or int(self._facts["capabilities"] or "1", 16) != 0):
            raise SandboxError("the confined process has privileges of root")
        if not self._facts["no_new_privs"] or (self._asked.namespaces and not self._facts["owns_pid_namespace"]):
            raise SandboxError("the confined process may gain privileges, or cannot end what a submission starts")
        if self._asked.rlimits and "rlimits" not in self._facts["inner"]:
            raise SandboxError("a submission's limits are not in force, so it could use up this machine")

    def layers(self) -> tuple[str, ...]:
        """Return the names of the layers that really surround a submission, as verified from inside.

        ``landlock`` and ``seccomp`` are missing where this machine does not offer them.
        """
        inner = tuple(self.ready()["inner"])
        if not self._walled:
            return inner
        outer = {
            "bubblewrap": self._asked.bubblewrap,
            "namespaces": self._asked.namespaces,
            "uid": self._drops,
        }
        return (*(name for name, there in outer.items() if there), *inner)

    def session(self, questions: Questions | None = None) -> Session:
        """Fork a child for one submission, which can be asked these questions by number.

        Raises:
            SandboxError: there is none, or one without the layers that there were at the start.
        """
        layers = self.ready()["inner"]
        if questions is not None and questions.name not in self._learned:
            self._teach(questions)
        ours, theirs = socket.socketpair()
        try:
            self._order({"do": "fork", "questions": questions.name if questions else ""}, theirs)
            self._hear(_ANSWER_SECONDS)
            session = Session(self, ours, self._limits, questions)
            # No byte of a submission has been sent yet, so this is our own code's word.
            said = session.began(_ANSWER_SECONDS)
        except (SandboxError, OSError, frames.Closed, frames.Late, frames.BadFrame):
            ours.close()
            raise SandboxError("the confined process is gone") from None
        if said != {"inner": layers}:
            ours.close()
            raise SandboxError("a submission's process lacks a layer that was there at the start")
        return session

    def child(self) -> int | None:
        """Return the number of the current child's process; None where there is none, or it is not seen."""
        # The oldest child is ours: what a submission leaves behind comes later.
        return None if self._own is None else waiting.descendant(self._own, 1)

    @property
    def _own(self) -> int | None:
        if not self._number:
            number = waiting.descendant(self._process.pid, int(self._walled))  # bubblewrap is one generation more
            if not self._facts:
                return number  # it is not there yet, or may be on its way to be another
            self._number = number
        return self._number

    def _teach(self, questions: Questions) -> None:
        ours, theirs = socket.socketpair()
        try:
            with ours:
                self._order({"do": "learn", "questions": questions.name}, theirs)
                frames.send_bytes(ours, questions.data, time.monotonic() + START_SECONDS)
            self._hear(START_SECONDS)
        except (OSError, frames.Closed, frames.Late):
            raise SandboxError("the confined process is gone") from None
        self._learned.add(questions.name)

    def _order(self, order: dict[str, str], theirs: socket.socket) -> None:
        with theirs:
            socket.send_fds(self._control, [json.dumps(order).encode()], [theirs.fileno()])

    def end(self, grace: float = 0.0) -> tuple[int | None, float]:
        """End the current child and all it left behind.

        Args:
            grace: seconds to wait for a child that seems to be ending by itself.

        Returns:
            Its wait status, None where it had to be killed; and for how many seconds it ran on meanwhile.

        Raises:
            SandboxError: the zygote does not answer, or cannot get clean: it must be replaced.
        """
        with contextlib.suppress(OSError):
            self._control.sendall(json.dumps({"do": "end", "grace": grace}).encode())
        answer = self._hear(_ANSWER_SECONDS + (grace + waiting.ENDING if grace else 0.0))
        if answer.get("clean") is not True:
            raise SandboxError("a submission left something behind")
        return None if answer["ended"] is None else int(answer["ended"]), float(answer["lived"])

    def _hear(self, seconds: float) -> dict[str, Any]:
        deadline, patience = time.monotonic() + seconds, START_SECONDS
        self._waiting.counted(self._own)  # what it waited before
        child: waiting.Waiting | None = None
        while b"\n" not in self._buffer:
            try:
                self._control.settimeout(max(0.001, deadline - time.monotonic()))
                part, handles, _, _ = socket.recv_fds(self._control, 4096, 1)
                self._handles += handles
            except TimeoutError:
                # On a busy machine it is slow, and not gone; or it waits for a child that was killed and has to end.
                late = time.monotonic() - deadline
                more = self._waiting.more(self._own, late, patience)
                if child is None:
                    child = waiting.Waiting()
                    child.counted(self.child())
                if more := more or child.more(self.child(), late, patience):
                    deadline, patience = deadline + more, patience - more
                    continue
                part = b""
            except OSError:
                part = b""
            if not part:
                raise SandboxError("the confined process is gone")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer = json.loads(line)
        return answer if isinstance(answer, dict) else {}

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_ANSWER_SECONDS)
        said = b""
        if self._process.stderr is not None:
            os.set_blocking(self._process.stderr.fileno(), False)
            said = self._process.stderr.read() or b""
        if lines := said.decode(errors="replace").strip().splitlines():
            return lines[-1]
        status = self._process.poll()
        return f"no answer within {START_SECONDS:.0f} s" if status is None else f"it ended with status {status}"


def _limits(limits: Limits) -> dict[str, int]:
    return {"memory": limits.memory, "cpu": limits.cpu, "file": limits.file}


def _own_namespace(kind: str) -> str:
    try:
        return os.readlink(f"/proc/self/ns/{kind}") if sys.platform == "linux" else ""
    except OSError:
        return ""


class Session:
    """One submission's child. What it says is a claim: everything is checked for form before it is used."""

    def __init__(self, zygote: Zygote, sock: socket.socket, limits: Limits, questions: Questions | None = None) -> None:
        self._zygote, self._sock, self._limits, self._questions = zygote, sock, limits, questions
        self._reader = frames.Reader(sock, self.more)
        self._token, self._number = "", 0
        self.heard = time.monotonic()
        """When the last answer had come in whole, of ``time.monotonic``."""
        self.patience = START_SECONDS
        """Seconds for which deadlines may be put off from now on."""
        self.put_off = 0.0
        """Seconds for which deadlines were put off until now, because the child had no processor."""
        self._waiting = waiting.Waiting()

    def began(self, seconds: float) -> Any:
        """Return what the child says first, before it has read anything; as ``load`` raises."""
        return self._reader.message(time.monotonic() + seconds)

    def more(self, late: float) -> float:
        """Return by how many seconds a deadline is put off that was so long ago: the child had no processor."""
        return self._put(self._waiting.more(self._child, late, self.patience))

    def count(self) -> None:
        """Put off what comes by what the child waited until now."""
        self._put(self._waiting.counted(self._child, self.patience))

    @functools.cached_property
    def _child(self) -> int | None:
        return self._zygote.child()  # until it is waited for, at the end, its number is no other's

    def _put(self, more: float) -> float:
        self.patience -= more
        self.put_off += more
        return more

    def load(self, cells: Sequence[Cell], entry: str, forbids: Sequence[str], deadline: float) -> Loaded:
        """Send the cells, let them run, and return what came of it.

        Raises:
            frames.Late, frames.Closed, frames.BadFrame: as their names say; BadFrame also for a message of another
            form.
        """
        order = {"cells": [[cell.number, cell.source] for cell in cells], "entry": entry, "forbids": list(forbids)}
        before = self.put_off
        frames.send_patiently(self._sock, {"load": order}, deadline, self.more)
        hits = _expect(self._reader.message(deadline + self.put_off - before), "forbidden", list)
        forbidden = tuple((hit[0], hit[1], str(hit[2])[:200]) for hit in hits[:20] if _is_hit(hit))
        if forbidden:
            return Loaded(forbidden)
        return _loaded(_expect(self._reader.message(deadline + self.put_off - before), "loaded", dict))

    def observe(self, case: Case, scenario: str, deadline: float) -> tuple[Observation, str]:
        """Run one case; return what was observed and the forbidden name that was used, if any."""
        calls = [encode_arguments(arguments) for arguments in case.calls]
        self._ask({"try": {"token": self._new_token(), "scenario": scenario, "calls": calls}}, deadline)
        size, elements = self._limits.answer(case)
        data, hit = self._answer(size, deadline)
        return observation(data, elements), hit

    def ask(self, checks: Sequence[str], deadline: float) -> None:
        """Ask for all cases of some checks, by their ids; ``next_answer`` then returns one after the other.

        Of a check in which a forbidden name is used no more answers come after that one.
        """
        assert self._questions is not None
        numbers = [self._questions.numbers[check] for check in checks]
        self._ask({"run": {"token": self._new_token(), "checks": numbers}}, deadline)

    def next_answer(self, check: str, number: int, deadline: float) -> tuple[bytes, str]:
        """Return the answer to a case, for ``observation`` to read, and the forbidden name that was used, if any."""
        assert self._questions is not None
        return self._answer(self._questions.sizes[check][number][0], deadline)

    def _new_token(self) -> str:
        self._token, self._number = secrets.token_hex(8), 0  # an answer sent ahead of its question cannot know it
        return self._token

    def _ask(self, order: dict[str, Any], deadline: float) -> None:
        frames.send_patiently(self._sock, order, deadline, self.more)

    def _answer(self, size: int, deadline: float) -> tuple[bytes, str]:
        answer = self._reader.data(deadline, min(frames.LIMIT, size))
        self.heard = time.monotonic()
        begins = f"{self._token}{self._number:06}".encode()
        self._number += 1
        began, data = answer[: len(begins)], answer[len(begins) + 1 :]
        mark = answer[len(begins) : len(begins) + 1]
        if began != begins or mark not in (b"=", b"!"):
            raise frames.BadFrame("an answer to another question")
        if mark == b"=":
            return data, ""
        both = frames.read(data)
        if type(both) is not list or len(both) != 2 or type(both[0]) is not str or not both[0]:
            raise frames.BadFrame("malformed hits")
        return frames.written(both[1]), both[0][:200]

    def end(self, grace: float = 0.0) -> tuple[int | None, float]:
        """End the child; return what ``Zygote.end`` returns."""
        self._sock.close()
        return self._zygote.end(grace)


def observation(data: bytes, elements: int) -> Observation:
    """Return the observation that an answer holds, of so many elements at most.

    Raises:
        frames.BadFrame: it holds none.
    """
    try:
        return decode_observation(frames.read(data), elements=elements)
    except BadValue as error:
        raise frames.BadFrame(str(error)) from None


def _expect(message: Any, key: str, kind: type) -> Any:
    if type(message) is not dict or message.keys() != {key} or type(message[key]) is not kind:
        raise frames.BadFrame(f"not a message {key!r}")
    return message[key]


def _is_hit(hit: Any) -> bool:
    if type(hit) is not list or len(hit) != 3 or type(hit[2]) is not str:
        return False
    return all(type(number) is int and 0 <= number < 10**9 for number in hit[:2])


def _loaded(data: dict[str, Any]) -> Loaded:
    if data.keys() != {"defined", "callable", "errors", "notes", "output"}:
        raise frames.BadFrame("a malformed report on the cells")
    if type(data["defined"]) is not bool or type(data["callable"]) is not bool:
        raise frames.BadFrame("a malformed report on the cells")
    try:
        errors = decode_observation({"outcomes": [{"raised": error} for error in data["errors"]]}).outcomes
        texts = decode_observation({"outcomes": [], "output": data["output"]})
        notes = data["notes"]
        if type(notes) is not list or len(notes) > 20 or not all(type(n) is str and len(n) < 300 for n in notes):
            raise BadValue("malformed notes")
    except (BadValue, TypeError) as error:
        raise frames.BadFrame(str(error)) from None
    raised = tuple(outcome.raised for outcome in errors if outcome.raised is not None)
    return Loaded((), data["defined"], data["callable"], raised, tuple(notes), texts.output)


def how_it_ended(status: int | None) -> str:
    """Return how a process ended, in words, from its wait status; None where it was still running."""
    if status is None:
        return "the process cut its connection to the grader"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGSYS:
            return "the process was ended by SIGSYS: it asked the system for something that only an attack needs"
        try:
            return f"the process was ended by {signal.Signals(number).name}"
        except ValueError:
            return f"the process was ended by signal {number}"
    return f"the process exited by itself, with status {os.WEXITSTATUS(status)}"
