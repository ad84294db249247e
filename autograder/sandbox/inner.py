"""The layers that each submission's child puts around itself, after its fork and before it reads any of the code.

In this order: Landlock, no descriptor but its socket, limits, the filter of system calls. All that can be made ahead is
made in the warm process. What cannot be had on this machine is found out there, by a child that runs nothing, and is
then not asked for again; what could be had once must be had by every child.
"""

from __future__ import annotations

import contextlib
import os
import platform
import resource
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from autograder.sandbox import landlock, seccomp

DESCRIPTORS: Final = 64
"""Files, sockets and pipes that a submission may have open."""
PROCESSES: Final = 0
"""Processes and threads that it may start."""
_ORDER: Final = ("landlock", "seccomp", "rlimits")
_REFUSED: Final = "it was not in force in a process that had asked for it"


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a child is to put around itself."""

    landlock: int | None
    """Descriptor of Landlock's list."""
    seccomp: seccomp.Filter | None
    limits: dict[int, int] | None
    """By the number of the kind."""
    names: tuple[str, ...] = ()
    """What was found to hold, in the order of records."""
    missing: dict[str, str] = field(default_factory=dict)
    """Why a layer that was asked for does not hold."""


def prepare(paths: Sequence[Sequence[str]] | None, filtered: bool, limits: dict[str, int] | None) -> Prepared:
    """Make what each child will use.

    Args:
        paths: what may be read and what may be written; None for no Landlock.
        filtered: whether system calls are filtered.
        limits: memory (bytes above what this process has now), cpu (seconds), file (bytes); None for none.
    """
    made, code, missing = None, None, {}
    if paths is not None:
        try:
            made = landlock.ruleset(paths[0], paths[1], landlock.abi())
        except OSError as error:
            missing["landlock"] = str(error)
    if filtered and seccomp.offered():
        code = seccomp.make(platform.machine())
    elif filtered:
        missing["seccomp"] = f"the kernel filters no system calls, or none are listed for {platform.machine()}"
    return Prepared(made, code, None if limits is None else _above_what_there_is(limits), missing=missing)


def renewed(layers: Prepared, limits: dict[str, int] | None) -> Prepared:
    """Return the layers with limits above what this process has by now."""
    return replace(layers, limits=None if limits is None else _above_what_there_is(limits))


def tried(layers: Prepared) -> Prepared:
    """Return the layers that a child, forked for this alone, really gets."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        names: tuple[str, ...] = ()
        try:
            _enter_what_there_is(layers, writing)
            names = holding()
        finally:
            os.write(writing, " ".join(names).encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        names = tuple(pipe.read().decode().split())
    os.waitpid(child, 0)
    refused = {"landlock": layers.landlock, "seccomp": layers.seccomp, "rlimits": layers.limits}
    missing = {name: _REFUSED for name, asked in refused.items() if asked is not None and name not in names}
    return replace(
        layers,
        landlock=layers.landlock if "landlock" in names else None,
        seccomp=layers.seccomp if "seccomp" in names else None,
        names=names,
        missing={**layers.missing, **missing},
    )


def _enter_what_there_is(layers: Prepared, keep: int) -> None:
    none = Prepared(None, None, None)
    for part in (
        replace(none, landlock=layers.landlock),
        replace(none, limits=layers.limits),
        replace(none, seccomp=layers.seccomp),
    ):
        with contextlib.suppress(OSError):
            enter(part, keep)


def enter(layers: Prepared, keep: int) -> None:
    """Put the layers around this process, and close every descriptor but one.

    Raises:
        OSError: a layer cannot be had.
    """
    if layers.landlock is not None:
        landlock.restrict(layers.landlock)
    _close_all_but(keep)
    if layers.limits is not None:
        _limit(layers.limits)
    if layers.seccomp is not None:
        seccomp.load(layers.seccomp.of_process(os.getpid()))


def holding() -> tuple[str, ...]:
    """Return the layers that are in force around this process, each found out by trying."""
    found = {"landlock": landlock.holds(), "seccomp": seccomp.holds(), "rlimits": _limited()}
    return tuple(name for name in _ORDER if found[name])


def _limited() -> bool:
    return resource.getrlimit(resource.RLIMIT_NPROC)[1] == 0


def _close_all_but(keep: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.closerange(3, keep)
    os.closerange(keep + 1, 4096)


def _above_what_there_is(limits: dict[str, int]) -> dict[int, int]:
    """Return each kind of limit with its value, for a child of this process."""
    # Both memory limits are above what the warm process has: a CUDA build of torch maps hundreds of GB. Shared mappings
    # are no data, so the address space is limited too, with room for the libraries that a student imports.
    chosen = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: limits["cpu"],
        resource.RLIMIT_FSIZE: limits["file"],
        resource.RLIMIT_NOFILE: DESCRIPTORS,
        resource.RLIMIT_NPROC: PROCESSES,
    }
    used = _used_bytes()
    if "VmData" in used and "VmSize" in used:
        chosen[resource.RLIMIT_DATA] = used["VmData"] + limits["memory"]
        chosen[resource.RLIMIT_AS] = used["VmSize"] + 2 * limits["memory"]
    if hasattr(resource, "RLIMIT_MSGQUEUE"):
        chosen[resource.RLIMIT_MSGQUEUE] = 0
    return chosen


def _limit(limits: dict[int, int]) -> None:
    for kind, value in limits.items():
        with contextlib.suppress(ValueError, OSError):  # a lower hard limit is in force already
            resource.setrlimit(kind, (value, value))


def _used_bytes() -> dict[str, int]:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return {}
    return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.endswith(" kB")}
