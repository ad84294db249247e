"""The confined process: a warm zygote that forks one child a submission.

It holds torch and NumPy and nothing else: no test, no solution, no expected value, no secret. Started by ``zygote`` as
``python -m autograder.sandbox.confined <fd> <JSON options>``, it speaks newline-ended JSON on its control socket::

    -> {"do": "fork", "limits": {...}}  with the child's socket attached    <- {"forked": true}
    -> {"do": "end"}                                                        <- {"ended": status, "clean": bool}
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import Any, Final

from autograder.models import Case, Cell, Observation
from autograder.observations import encode_observation, observe
from autograder.sandbox import cells as student
from autograder.sandbox import forbid, frames
from autograder.scenarios import SCENARIOS
from autograder.values import decode

WORK: Final = Path("/tmp")
_PR_SET_DUMPABLE: Final = 4
_PR_SET_NO_NEW_PRIVS: Final = 38

# --------------------------------------------------------------------------- zygote


def main(control_fd: int, options: dict[str, Any]) -> None:
    """Serve fork requests until the control socket closes."""
    control = socket.socket(fileno=control_fd)
    _drop_privileges(options.get("uid"))
    _warm_up(options.get("preload", []))
    owned = _own_pid_namespace(options.get("outer_pid_namespace", ""))
    _say(control, {"ready": _facts(owned)})
    child = 0
    while True:
        data, fds, _, _ = socket.recv_fds(control, 4096, 1)
        if not data:
            return
        message = json.loads(data)
        if message["do"] == "fork":
            child = os.fork()
            if child == 0:
                control.close()
                _child(socket.socket(fileno=fds[0]), message["limits"])
            os.close(fds[0])
            _say(control, {"forked": True})
        else:
            _say(control, _end(child, owned))


def _say(control: socket.socket, message: dict[str, Any]) -> None:
    control.sendall(json.dumps(message).encode() + b"\n")


def _drop_privileges(uid: int | None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    if sys.platform == "linux":
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # no child may trace or read the zygote


def _warm_up(preload: list[str]) -> None:
    import numpy
    import torch

    torch.set_num_threads(1)  # a forked child has only this thread
    torch.isfinite(torch.ones(2) / 2.0).all().item()  # the first use of an operator sets it up
    numpy.isfinite(numpy.ones(2)).all()
    for name in preload:
        __import__(name)


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


def _end(child: int, owned: bool) -> dict[str, Any]:
    """Kill what is left of a submission and say how its process ended."""
    # While it is not reaped its number cannot have passed to another process.
    done, status = os.waitpid(child, os.WNOHANG)
    if not done:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        status = 0
    if owned:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)  # everything in this namespace but its first process and this one
        _reap_all()
    return {"ended": status, "clean": _clear(WORK) if owned else True}


def _reap_all() -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _clear(folder: Path) -> bool:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
    return not os.listdir(folder)


# ---------------------------------------------------------------------------- child


def _child(sock: socket.socket, limits: dict[str, int]) -> None:
    status = 1
    try:
        os.setsid()
        _close_all_but(sock.fileno())
        _limit(limits)
        _seed()
        _serve(sock)
        status = 0
    except (frames.Closed, frames.BadFrame):
        status = 0  # the grader has seen enough, or will not read what this answer is
    except MemoryError:
        status = 3
    finally:
        os._exit(status)


def _close_all_but(keep: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.closerange(3, keep)
    os.closerange(keep + 1, 4096)


def _limit(limits: dict[str, int]) -> None:
    # Address space is no measure: a CUDA build of torch maps hundreds of GB. Data is, above what the zygote has.
    data = _data_bytes() + limits["memory"]
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits["cpu"]),
        (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_DATA, data),
    ):
        with contextlib.suppress(ValueError, OSError):  # a lower hard limit is in force already
            resource.setrlimit(kind, (value, value))


def _data_bytes() -> int:
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 2**31


def _seed() -> None:
    import random

    import numpy
    import torch

    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)


def _serve(sock: socket.socket) -> None:
    order = frames.receive(sock)["load"]
    hits: list[str] = []
    parsed = student.parse([Cell(number, source) for number, source in order["cells"]])
    frames.send(sock, {"forbidden": student.forbidden(parsed, order["forbids"])})
    forbid.guard(order["forbids"], hits)
    loaded = student.run(parsed)
    function = student.entry_of(loaded, order["entry"])
    errors = [[e.type_name, e.message, e.cell, e.line, e.source] for e in loaded.errors[:20]]
    frames.send(
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
        task = frames.receive(sock)["try"]
        frames.send(sock, _try(function, task, hits))


def _try(function: Any, task: dict[str, Any], hits: list[str]) -> dict[str, Any]:
    arguments = tuple({name: decode(value) for name, value in call.items()} for call in task["calls"])
    scenario = task["scenario"] if task["scenario"] in SCENARIOS else "call"
    seen = observe(function, Case("", arguments), scenario, cell_of=student.cell_of)
    try:
        data = encode_observation(seen)
    except MemoryError:
        data = encode_observation(Observation(seen.outcomes[:0]))
    return {"token": task["token"], "seen": data, "hits": hits[:1]}


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))
