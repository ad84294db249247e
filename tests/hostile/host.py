"""The machine that an attack must leave as it was: canaries that it would touch, and a picture of all else."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import hashlib
import os
import resource
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MARK = f"hostile-{os.getpid()}"
"""In the name of every socket, key and object that an attack tries to leave."""
SYSTEM_V_KEY = 0x4711
_CHILD_SUBREAPER = 36


Process = tuple[int, str]
"""Its number and when it began, in ticks of the machine's clock: a number alone is given away again."""


@dataclass(frozen=True, slots=True)
class Host:
    """A home, a working folder, a class and an output folder, each with a file that holds the secret."""

    folder: Path
    secret: str
    listener: socket.socket
    others: frozenset[Process] = frozenset()
    """What ran below this process before: another test's browser, say, whose own processes come and go."""

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def cwd(self) -> Path:
        return self.folder / "cwd"

    @property
    def tree(self) -> Path:
        return self.folder / "class"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def fill(self, text: str) -> str:
        """Return a notebook with this host's places put in."""
        places = {
            "@HOME@": self.home, "@CWD@": self.cwd, "@TREE@": self.tree, "@OUT@": self.out, "@ROOT@": ROOT,
            "@PORT@": self.listener.getsockname()[1], "@PID@": os.getpid(), "@MARK@": MARK,
            "@NICE@": os.getpriority(os.PRIO_PROCESS, 0),
        }  # fmt: skip
        for name, value in places.items():
            text = text.replace(name, str(value))
        return text


@contextlib.contextmanager
def host(folder: Path) -> Iterator[Host]:
    """Give a host to attack: home, environment and working folder of this process, and two listening sockets."""
    secret = "canary-" + hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    with socket.socket() as listener, socket.socket(socket.AF_UNIX) as abstract:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        abstract.bind(f"\0{MARK}-{os.getpid()}")
        abstract.listen()
        made = Host(folder, secret, listener, frozenset(_below(os.getpid())))
        for place in (made.home / ".ssh", made.cwd, made.tree / "victim" / "notes", made.out):
            place.mkdir(parents=True)
            (place / "canary.txt").write_text(secret)
        kept, here = dict(os.environ), os.getcwd()
        os.environ.update(HOME=str(made.home), CANARY=secret)
        os.chdir(made.cwd)
        _adopt_orphans(True)
        try:
            yield made
        finally:
            _adopt_orphans(False)
            os.chdir(here)
            os.environ.clear()
            os.environ.update(kept)


def _adopt_orphans(wanted: bool) -> None:
    # So that a daemon, wherever it came from, is found among this process's descendants.
    ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, int(wanted), 0, 0, 0)


def picture(made: Host) -> dict[str, Any]:
    """Return what must be the same before and after: files, processes, descriptors, sockets, objects, limits."""
    kinds = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
    return {
        "files": {
            str(path.relative_to(made.folder)): _of(path)
            for place in (made.home, made.cwd, made.tree)
            for path in sorted(place.rglob("*"))
        },
        "canary in the output": (made.out / "canary.txt").read_text(),
        "working folder": os.getcwd(),
        "environment": dict(os.environ),
        "processes": _settled(lambda: descendants(os.getpid(), made.others)),
        "descriptors": _descriptors(),
        "sockets": _marked_sockets() + _settled(_confined_sockets),
        "System V objects": _marked_objects(),
        "checkout": [_of(path) for path in sorted((ROOT / "solutions").iterdir()) if path.is_file()],
        "limits": [resource.getrlimit(kind) for kind in kinds],
        "scheduling": [os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), os.sched_getaffinity(0)],
        "host name": socket.gethostname(),
    }


def _of(path: Path) -> tuple[Any, ...]:
    found = path.lstat()
    text = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
    return (found.st_mode, found.st_uid, found.st_nlink, found.st_mtime_ns, text)


def _settled(look: Callable[[], list[str]], patience: float = 60.0) -> list[str]:
    # A process that was killed a moment ago may still be giving back its memory, and another test has its own sockets.
    until = time.monotonic() + patience
    while (found := look()) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def descendants(process: int, others: frozenset[Process] = frozenset()) -> list[str]:
    """Return the names of all processes below this one but for ``others`` and theirs; the ended are reaped."""
    return sorted(_below(process, others).values())


def _below(process: int, others: frozenset[Process] = frozenset()) -> dict[Process, str]:
    children: dict[int, list[tuple[Process, str]]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                name, _, rest = (entry / "stat").read_text().rpartition(")")
                state, parent, *fields = rest.split()
                one = (int(entry.name), fields[17])
                if one in others:  # who started it waits for it, and would miss what it ended with
                    continue
                if state == "Z" and int(parent) == os.getpid():
                    os.waitpid(one[0], os.WNOHANG)
                else:
                    children.setdefault(int(parent), []).append((one, name.partition("(")[2]))
    found: dict[Process, str] = {}
    new = [process]
    while new:
        below = dict(one for parent in new for one in children.get(parent, []))
        found |= below
        new = [number for number, _ in below]
    return found


def _descriptors() -> dict[str, str]:
    gc.collect()  # what an earlier test let go of is closed before either picture, not between the two
    links = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            links[name] = os.readlink(f"/proc/self/fd/{name}")
    return {name: link for name, link in links.items() if not link.startswith("/proc/")}


# Other programs of this machine come and go; what an attack leaves bears the mark or belongs to the confined user.


def _marked_sockets() -> list[str]:
    return sorted(line.split()[-1] for line in Path("/proc/net/unix").read_text().splitlines() if MARK in line)


def _confined_sockets() -> list[str]:
    users = []
    for table in ("tcp", "tcp6", "udp", "udp6", "raw", "packet"):
        with contextlib.suppress(OSError):
            lines = Path("/proc/net", table).read_text().splitlines()[1:]
            users += [f"{table} {line}" for line in lines if " 61987 " in line]
    return users


def _marked_objects() -> list[str]:
    found = []
    for kind in ("shm", "msg", "sem"):
        with contextlib.suppress(OSError):
            lines = Path("/proc/sysvipc", kind).read_text().splitlines()[1:]
            found += [f"{kind} {line}" for line in lines if line.split()[0] == str(SYSTEM_V_KEY)]
    return found
