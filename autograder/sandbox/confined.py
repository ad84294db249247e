"""The confined process: a warm zygote that forks one child a submission.

It holds torch, NumPy and the inputs of the exercises that it is used for, and nothing else: no judge, no solution, no
expected value, no secret. Started by ``zygote`` as ``python -m autograder.sandbox.confined <fd> <JSON options>``, it
speaks newline-ended JSON on its control socket::

    -> {"do": "learn", "questions": name}  with a socket attached that brings them    <- {"learned": name}
    -> {"do": "fork", "questions": name}  with the child's socket attached    <- {"forked": true}
    -> {"do": "end", "grace": seconds}           <- {"ended": status, "lived": seconds, "clean": bool}

A child first says on its own socket which layers surround it, and only then reads what it is to run.
``ended`` is the child's wait status, null where it was still running and was killed; ``lived`` is for how long it ran
on meanwhile, without what it waited for a processor; ``clean`` is false where this process is not fit for another
submission.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import random
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from autograder import observations, scenarios, tensors, values
from autograder.models import Cell
from autograder.observations import observe_built
from autograder.sandbox import cells, forbid, frames, huge, inner, landlock, leftovers
from autograder.sandbox import ready as prepared
from autograder.sandbox.cells import cell_of, entry_of, forbidden, parse, run
from autograder.sandbox.frames import (
    EXIT_OUT_OF_MEMORY,
    EXIT_TOO_LARGE,
    TOO_MANY_FILES,
    Closed,
    TooLarge,
    receive,
    receive_bytes,
    send,
    send_bytes,
    written,
)
from autograder.sandbox.ready import Ready, ready, ready_of
from autograder.sandbox.sealed import hide, sealed
from autograder.sandbox.waiting import ENDING, Waiting, is_ending, waited

_PR_SET_DUMPABLE: Final = 4
_PR_SET_NO_NEW_PRIVS: Final = 38
_CAPABILITY_VERSION: Final = 0x20080522
_LOOK_SECONDS: Final = 0.05
"""How often it is looked at how many files a submission made: one makes some thousands meanwhile."""
_SET_TRACE: Final = sys.settrace
_SET_PROFILE: Final = sys.setprofile

# --------------------------------------------------------------------------- zygote


def main(control_fd: int, options: dict[str, Any]) -> None:
    """Serve fork requests until the control socket closes."""
    control = socket.socket(fileno=control_fd)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the first process of a namespace is spared what it does not handle
    _end_first_when_memory_is_short()
    _drop_privileges(options.get("uid"))
    if select.select([control], [], [], 0)[0]:
        os._exit(0)  # nothing is asked of a cold process, so this is the end of the socket: it is not wanted any more
    _warm_up(options.get("preload", []))
    owned = _own_pid_namespace(options.get("outer_pid_namespace", ""))
    layers = inner.prepare(options.get("landlock"), bool(options.get("seccomp")), options.get("limits"))
    layers = inner.tried(layers)
    before = leftovers.inherited() if owned else []
    serve = sealed([values, tensors, scenarios, observations, frames, cells, prepared, sys.modules[__name__]])[_serve]
    hide()  # once, here: to let go of modules in each child would copy all that they hold
    gc.freeze()  # nor does the collector list what was made here
    if options.get("many"):
        huge.collapse()
    work = Path.cwd()  # where bubblewrap put it: the one folder that submissions can write to
    most = leftovers.entries(work) + leftovers.MOST_ENTRIES
    _say(
        control,
        {"ready": {**_facts(owned), "inner": layers.names, "missing": layers.missing, "landlock": landlock.abi()}},
        _handle(),
    )
    asked: dict[str, tuple[Ready, ...]] = {"": ()}
    child, crowded = 0, False
    while True:
        if child and owned and not crowded and _crowds(control, work, most):
            os.kill(child, signal.SIGKILL)
            crowded = True
        data, fds, _, _ = socket.recv_fds(control, 4096, 1)
        if not data:
            if child:
                os.kill(child, signal.SIGKILL)
            os._exit(0)
        message = json.loads(data)
        if message["do"] == "fork":
            child = os.fork()
            if child == 0:
                control.close()
                _child(socket.socket(fileno=fds[0]), layers, partial(serve, asked=asked[message["questions"]]))
            os.close(fds[0])
            _say(control, {"forked": True})
        elif message["do"] == "learn":
            with socket.socket(fileno=fds[0]) as source:
                asked[message["questions"]] = ready(receive_bytes(source))
            gc.freeze()
            if options.get("many"):
                huge.collapse()
            layers = inner.renewed(layers, options.get("limits"))
            _say(control, {"learned": message["questions"]})
        else:
            is_full = (lambda: leftovers.entries(work) > most) if owned else None
            answer, child = _end(child, message["grace"], before, work, is_full), 0
            if crowded:
                answer["ended"], crowded = TOO_MANY_FILES, False
            _say(control, answer)


def _say(control: socket.socket, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
    socket.send_fds(control, [json.dumps(message).encode() + b"\n"], fds)


def _handle() -> list[int]:
    """Return a descriptor by which this process can be ended from outside, whatever its number is there."""
    try:
        return [os.pidfd_open(os.getpid())]
    except (AttributeError, OSError):  # not Linux, or an old one
        return []


def _end_first_when_memory_is_short() -> None:
    # Not every kind of memory has a limit of its own; where the machine's ends, this process goes and not the grader.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _drop_privileges(uid: int | None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    if sys.platform == "linux":
        libc.capset(struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24))  # also those that a program would inherit
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # no child may trace or read the zygote


def _warm_up(preload: list[str]) -> None:
    import numpy
    import torch

    torch.set_num_threads(1)  # a forked child has only this thread
    torch.isfinite(torch.ones(2) / 2.0).all().item()  # the first use of an operator sets it up
    tensors.plain(torch.ones(2))  # finds torch's own functions, before anyone replaces them
    numpy.isfinite(numpy.ones(2)).all()
    for name in preload:
        __import__(name)
    numpy.random.seed(0)  # each child is born with the generators in this state
    torch.manual_seed(0)
    # A collection in a child would write to, and so copy, every page of objects that it shares with this process.
    gc.collect()
    gc.freeze()


def _own_pid_namespace(outer: str) -> bool:
    return bool(outer) and _namespace("pid") not in ("", outer)


def _namespace(kind: str) -> str:
    try:
        return os.readlink(f"/proc/self/ns/{kind}")
    except OSError:
        return ""


def _facts(owned: bool) -> dict[str, Any]:
    # Said before any student code has run here: what the walls really are, seen from inside.
    import torch

    status = {}
    with contextlib.suppress(OSError):
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {
        "torch": torch.__version__.split("+")[0],
        "uid": os.getuid(),
        "namespaces": {kind: _namespace(kind) for kind in ("pid", "net", "ipc", "uts", "mnt", "user")},
        "no_new_privs": status.get("NoNewPrivs", "").strip() == "1",
        "capabilities": status.get("CapEff", "").strip(),
        "owns_pid_namespace": owned,
    }


def _crowds(control: socket.socket, work: Path, most: int) -> bool:
    """Wait until something is asked; return at once, and True, where there are more than ``most`` files before."""
    while not select.select([control], [], [], _LOOK_SECONDS)[0]:
        if leftovers.entries(work) > most:
            return True
    return False


def _end(child: int, grace: float, before: list[Any], work: Path, is_full: Callable[[], bool] | None) -> dict[str, Any]:
    """Kill what is left of a submission; say how its process ended, and whether this one is as it was ``before``.

    Without a pid namespace of its own (``before`` is empty) only the child itself is killed.
    """
    # While it is not reaped its number cannot have passed to another process.
    status, lived = _wait(child, grace, is_full)
    if status is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not before:
        return {"ended": status, "lived": lived, "clean": True}
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)  # everything in this namespace but this process
    _reap_all()
    return {"ended": status, "lived": lived, "clean": leftovers.clean(work, before)}


def _wait(child: int, grace: float, is_full: Callable[[], bool] | None = None) -> tuple[int | None, float]:
    """Wait for the end of a child that seems to be ending.

    Args:
        child: the process.
        grace: seconds to wait, without those for which it had no processor.
        is_full: whether it has made too many files, which ends it; None where that is not looked at.

    Returns:
        Its wait status, None where it has not ended; and for how many seconds it was seen to run on.
    """
    # A process that exits closes its sockets first and can be waited for a moment later, unless others go before it.
    began, lived = time.monotonic(), 0.0
    end, waiting, patience, over = began + grace, Waiting(), ENDING, not grace
    if grace:
        waiting.counted(child)  # what it waited until now
    before = waited(child)
    while True:
        now = time.monotonic()  # before the look: it was at it until then at least
        if not is_ending(child):
            lived = max(lived, now - began - (waited(child) - before))
            if is_full is not None and is_full():
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return TOO_MANY_FILES, lived
        done, status = os.waitpid(child, os.WNOHANG)
        if done or over:
            return status if done else None, lived
        if time.monotonic() >= end:
            more = waiting.more(child, time.monotonic() - end, patience)
            end, patience, over = end + more, patience - more, not more  # it may have ended during that look
        time.sleep(0.001)


def _reap_all() -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


# ---------------------------------------------------------------------------- child


def _child(sock: socket.socket, layers: inner.Prepared, serve: Callable[[socket.socket], None]) -> None:
    status = 1
    try:
        os.setsid()
        inner.enter(layers, sock.fileno())
        _stay_at_one_thread()
        random.seed(0)  # Python gives it another state at every fork
        send(sock, {"inner": inner.holding()})
        serve(sock)
        status = 0
    except Closed:
        status = 0  # the grader has seen enough
    except TooLarge:
        status = EXIT_TOO_LARGE
    except MemoryError:
        status = EXIT_OUT_OF_MEMORY
    finally:
        os._exit(status)


def _stay_at_one_thread() -> None:
    # No thread can be started here, and torch ends the process that tries; a wish for more of them is no fault.
    import torch

    torch.set_num_threads = torch.set_num_interop_threads = lambda count: None


def _serve(sock: socket.socket, asked: Sequence[Ready]) -> None:
    order = receive(sock)["load"]
    hits: list[str] = []
    parsed = parse([Cell(number, source) for number, source in order["cells"]])
    send(sock, {"forbidden": forbidden(parsed, order["forbids"])})
    forbid.guard(order["forbids"], hits)
    loaded = run(parsed)
    function = entry_of(loaded, order["entry"])
    errors = [[e.type_name, e.message, e.cell, e.line, e.source] for e in loaded.errors[:20]]
    send(
        sock,
        {
            "loaded": {
                "defined": order["entry"] in loaded.namespace,
                "callable": function is not None,
                "errors": errors,
                "notes": loaded.notes,
                "output": loaded.output,
            }
        },
    )
    while True:
        order = receive(sock)
        if "run" in order:
            _run_checks(
                sock, order["run"]["token"], function, [asked[number] for number in order["run"]["checks"]], hits
            )
        else:
            (check,) = ready_of([[order["try"]["scenario"], [order["try"]["calls"]]]])
            _run_checks(sock, order["try"]["token"], function, [check], hits)


def _run_checks(sock: socket.socket, token: str, function: Any, checks: Sequence[Ready], hits: list[str]) -> None:
    """Answer each case of each check, up to the first one of a check in which a forbidden name was used."""
    number = 0
    for check in checks:
        for calls in check.cases:
            seen = observe_built(function, calls, check.scenario, cell_of=cell_of, within=_untraced)
            _answer(sock, token, number, seen, hits)
            number += 1
            if hits:
                break


def _answer(sock: socket.socket, token: str, number: int, seen: dict[str, Any], hits: list[str]) -> None:
    """Send the question's token, the answer's number and, after a mark, what was observed.

    The mark says whether a forbidden name was used; that one then comes first.
    """
    what = b"!" + written([hits[0], seen]) if hits else b"=" + written(seen)
    send_bytes(sock, f"{token}{number:06}".encode() + what)


def _untraced(step: Callable[[], Any]) -> Any:
    """Run a step; what it traces ends with it: a trace can change what the reader of values reads."""
    try:
        return step()
    finally:
        _SET_TRACE(None)
        _SET_PROFILE(None)


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))
