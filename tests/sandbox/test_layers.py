"""Each layer alone: attacks that it stops when others are missing, and that succeed when it is missing too.

An attack is a function f() that returns what it reached, or None. ``off`` names the layers that must be missing for it
to succeed, the tested one included; with the tested one in place it must fail.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
from doubling import Room

from autograder.sandbox import inner, landlock, walls
from autograder.sandbox.layers import HOST, Layers
from autograder.sandbox.zygote import SandboxError, Zygote

pytestmark = pytest.mark.needs("bubblewrap")

ROOT = os.geteuid() == 0


@dataclass(frozen=True)
class Attack:
    """One attack, and the layers without which it succeeds."""

    layer: str
    off: tuple[str, ...]
    does: str
    """Statements; what it reached is returned. @CANARY@, @OWN@, @FOLDER@, @PORT@, @NAME@, @PID@ are the test's."""
    killed: bool = False
    """Whether the layer ends the submission."""


LIBC = "ctypes.CDLL(None, use_errno=True)"
ATTACKS = {
    # The file system that bubblewrap makes.
    "read a file of the machine": Attack("bubblewrap", ("landlock",), f"return open('{HOST}@CANARY@').read()"),
    "list the machine's root": Attack("bubblewrap", ("landlock",), f"return os.listdir('{HOST}')"),
    "write among the machine's files": Attack(
        "bubblewrap", ("landlock",), f"return open('{HOST}@FOLDER@/bubblewrap', 'w').write('was here')"
    ),
    # Namespaces.
    "see another process": Attack("namespaces", (), "return os.path.exists('/proc/@PID@') or None"),
    "end another process": Attack("namespaces", ("landlock", "seccomp"), "os.kill(@PID@, 0)\nreturn 'ended'"),
    "connect to a port of the machine": Attack(
        "namespaces",
        ("landlock", "seccomp"),
        "return socket.create_connection(('127.0.0.1', @PORT@), 2).getpeername()",
    ),
    "connect to an abstract socket": Attack(
        "namespaces",
        ("landlock", "seccomp"),
        "s = socket.socket(socket.AF_UNIX)\ns.connect('\\0@NAME@')\nreturn 'connected'",
    ),
    # Landlock.
    "read past bubblewrap": Attack("landlock", ("bubblewrap",), f"return open('{HOST}@CANARY@').read()"),
    "write past bubblewrap": Attack(
        "landlock", ("bubblewrap",), f"return open('{HOST}@FOLDER@/landlock', 'w').write('was here')"
    ),
    "delete past bubblewrap": Attack(
        "landlock", ("bubblewrap",), f"os.rmdir('{HOST}@FOLDER@/empty')\nreturn 'deleted'"
    ),
    "list what is mounted": Attack("landlock", (), "return os.listdir('/')"),
    "start a program": Attack("landlock", ("seccomp",), "os.execv('/bin/sh', ['sh', '-c', 'exit 6'])"),
    "connect past the network's namespace": Attack(
        "landlock",
        ("namespaces", "seccomp"),
        "return socket.create_connection(('127.0.0.1', @PORT@), 2).getpeername()",
    ),
    "listen at a port": Attack(
        "landlock", ("seccomp",), "s = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\nreturn s.getsockname()"
    ),
    "reach an abstract socket past the namespace": Attack(
        "landlock",
        ("namespaces", "seccomp"),
        "s = socket.socket(socket.AF_UNIX)\ns.connect('\\0@NAME@')\nreturn 'connected'",
    ),
    "signal past the namespace": Attack("landlock", ("namespaces", "seccomp"), "os.kill(@PID@, 0)\nreturn 'ended'"),
    # The filter of system calls.
    "a user namespace": Attack(
        "seccomp", (), f"return 'made' if {LIBC}.unshare(0x10000000) == 0 else None", killed=True
    ),
    "trace itself": Attack("seccomp", (), f"return 'traced' if {LIBC}.ptrace(0, 0, 0, 0) == 0 else None", killed=True),
    "a key for the next submission": Attack(
        "seccomp", (), f"return 'kept' if {LIBC}.syscall(KEY, b'user', b'answer', b'42', 2, -3) > 0 else None"
    ),
    "System V memory": Attack("seccomp", (), f"return 'made' if {LIBC}.shmget(4711, 4096, 0o1666) >= 0 else None"),
    "a file without a place": Attack("seccomp", (), "return os.memfd_create('x')"),
    "AF_NETLINK": Attack("seccomp", (), "return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).fileno()"),
    "AF_INET": Attack("seccomp", (), "return socket.socket().fileno()"),
    "datagrams to any socket": Attack("seccomp", (), "return socket.socketpair(type=socket.SOCK_DGRAM)[0].fileno()"),
    "another's priority": Attack("seccomp", (), "os.setpriority(os.PRIO_PROCESS, 1, 19)\nreturn 'lowered'"),
    "another's disk priority": Attack(
        "seccomp", (), f"return 'lowered' if {LIBC}.syscall(IOPRIO, 1, 1, 3 << 13) == 0 else None"
    ),
    "another's limits": Attack("seccomp", (), "return resource.prlimit(1, resource.RLIMIT_CORE, (0, 0))"),
    "its timer slack": Attack("seccomp", (), f"return 'set' if {LIBC}.prctl(29, 10**7, 0, 0, 0) == 0 else None"),
    "a named pipe": Attack("seccomp", ("landlock",), "os.mkfifo('/scratch/pipe')\nreturn 'made'"),
    "io_uring": Attack(
        "seccomp", (), f"return 'ring' if {LIBC}.syscall(425, 1, ctypes.create_string_buffer(200)) >= 0 else None"
    ),
    "locks, which the kernel keeps": Attack(
        "seccomp",
        (),
        "kept = open('/scratch/lock', 'w')\nfcntl.lockf(kept, fcntl.LOCK_EX)\n"
        "return [line for line in open('/proc/locks') if 'POSIX' in line] or None",
    ),
    # Limits.
    "a gibibyte": Attack("rlimits", (), "return torch.empty(2**28).nbytes"),
    "a file of 20 MiB": Attack("rlimits", (), "return open('/scratch/big', 'wb').write(bytes(20 * 2**20))"),
    "a hundred descriptors": Attack("rlimits", (), "return [os.dup(0) for _ in range(100)][-1]"),
    "a process": Attack(
        "rlimits", ("seccomp",), "child = os.fork()\nif child == 0:\n    os._exit(0)\nreturn os.waitpid(child, 0)[1]"
    ),
    "a thread": Attack(
        "rlimits", ("seccomp",), "t = threading.Thread(target=print)\nt.start()\nt.join()\nreturn 'started'"
    ),
}
AS_ROOT = {
    "read what is root's own": Attack("uid", ("bubblewrap", "landlock"), f"return open('{HOST}@OWN@').read()"),
    "write what is root's own": Attack(
        "uid", ("bubblewrap", "landlock"), f"return open('{HOST}@OWN@', 'a').write('more')"
    ),
    "threads past their limit": Attack(
        "uid", ("seccomp",), "t = threading.Thread(target=print)\nt.start()\nt.join()\nreturn 'started'"
    ),
}
HEAD = """
import ctypes, fcntl, os, platform, resource, socket, threading, torch
KEY, IOPRIO = (248, 251) if platform.machine() == "x86_64" else (217, 30)
def f():
"""


@pytest.fixture(scope="module")
def rooms() -> Iterator[dict[tuple[str, ...], Room]]:
    """Rooms that were needed so far, by the layers that they lack."""
    rooms: dict[tuple[str, ...], Room] = {}
    yield rooms
    for room in rooms.values():
        room.cage.drop()


@pytest.fixture(scope="module")
def host() -> Iterator[dict[str, str]]:
    """What attacks look for: files that anyone may read and write, root's own, a port, a socket, a process."""
    # Not in pytest's folder, which only its owner may enter.
    with tempfile.TemporaryDirectory(prefix="autograder-layers-") as name:
        Path(name).chmod(0o755)
        yield from inhabited(Path(name))


def inhabited(folder: Path) -> Iterator[dict[str, str]]:
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    (folder / "open" / "empty").mkdir()
    (folder / "canary").write_text("canary")
    (folder / "canary").chmod(0o644)
    (folder / "own").write_text("canary")
    (folder / "own").chmod(0o600)
    name = f"autograder-layers-{os.getpid()}"
    user = {"user": walls.CONFINED_UID, "group": walls.CONFINED_UID, "extra_groups": []} if ROOT else {}
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_UNIX) as named,
        subprocess.Popen(["sleep", "600"], **user) as sleeper,
    ):
        named.bind("\0" + name)
        named.listen()
        yield {
            "@CANARY@": f"{folder}/canary", "@OWN@": f"{folder}/own", "@FOLDER@": f"{folder}/open",
            "@PORT@": str(listener.getsockname()[1]), "@NAME@": name, "@PID@": str(sleeper.pid),
        }  # fmt: skip
        sleeper.kill()


def reached(room: Room, attack: Attack, host: dict[str, str]) -> object:
    """Return what the attack reached, None for nothing; of a submission that ended, how it ended."""
    does = attack.does
    for word, value in host.items():
        does = does.replace(word, value)
    graded = room.grade(HEAD + textwrap.indent(does, "    "), "def g(): pass\ng.f, f = f, lambda x: g.f()", checks=1)
    (result,) = graded.results
    if result.status == "crashed":
        return result.message
    assert result.status in ("error", "memory", "failed"), result
    return result.returned if result.status == "failed" and "None" not in result.returned else None


def room_without(rooms: dict[tuple[str, ...], Room], off: tuple[str, ...]) -> Room:
    off = tuple(sorted(set(off)))
    if off not in rooms:
        rooms[off] = Room(walled=True, layers=Layers(**dict.fromkeys(off, False)))
    return rooms[off]


def check(rooms: dict[tuple[str, ...], Room], attack: Attack, host: dict[str, str]) -> None:
    within = reached(room_without(rooms, attack.off), attack, host)
    without = reached(room_without(rooms, (*attack.off, attack.layer)), attack, host)
    if attack.killed:
        assert "SIGSYS" in str(within)
    else:
        assert within is None
    assert without is not None
    # Only a program that takes the submission's place ends it.
    assert "the process" not in str(without) or "with status 6" in str(without)


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=[f"{a.layer}: {name}" for name, a in ATTACKS.items()])
def test_the_layer_stops_it_and_without_the_layer_it_succeeds(
    rooms: dict[tuple[str, ...], Room], host: dict[str, str], attack: Attack
) -> None:
    check(rooms, attack, host)


if ROOT:  # an ordinary user has nobody to become, so there is no such layer

    @pytest.mark.parametrize("attack", AS_ROOT.values(), ids=AS_ROOT.keys())
    def test_becoming_nobody_stops_it_and_as_root_it_succeeds(
        rooms: dict[tuple[str, ...], Room], host: dict[str, str], attack: Attack
    ) -> None:
        check(rooms, attack, host)


def test_every_layer_has_attacks_of_its_own() -> None:
    tried = [attack.layer for attack in (*ATTACKS.values(), *AS_ROOT.values())]
    assert set(tried) == {field.name for field in fields(Layers)}
    assert all(tried.count(layer) >= 3 for layer in tried)


# ----------------------------------------------------------------------- what is reported


@pytest.mark.parametrize("layer", [field.name for field in fields(Layers)])
def test_a_layer_that_is_missing_is_not_reported(rooms: dict[tuple[str, ...], Room], layer: str) -> None:
    everything = ["bubblewrap", "namespaces", *(["uid"] if ROOT else []), "landlock", "seccomp", "rlimits"]
    zygote = room_without(rooms, (layer,)).cage.take()
    assert list(zygote.layers()) == [name for name in everything if name != layer]


def test_a_child_without_a_layer_that_was_there_at_the_start_is_not_used(room: Room) -> None:
    with Zygote(walled=True, layers=Layers(seccomp=False)) as zygote:
        facts = zygote.ready()
        facts["inner"] = [*facts["inner"], "seccomp"]
        with pytest.raises(SandboxError, match="lacks a layer"):
            zygote.session()


def test_a_kernel_without_landlock_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    prepared = inner.prepare([["/usr"], ["/tmp"]], True, None)
    assert (prepared.landlock, prepared.seccomp) == (None, None)
    assert "does not offer Landlock" in prepared.missing["landlock"]
    assert "riscv64" in prepared.missing["seccomp"]


@pytest.mark.parametrize(
    ("version", "files", "network", "scopes"),
    [(1, 13, 0, 0), (2, 14, 0, 0), (3, 15, 0, 0), (4, 15, 3, 0), (5, 16, 3, 0), (6, 16, 3, 3), (7, 16, 3, 3)],
)
def test_each_version_of_landlock_is_asked_for_all_it_knows(
    version: int, files: int, network: int, scopes: int
) -> None:
    assert landlock.handled(version) == (2**files - 1, network, scopes)


# ----------------------------------------------------------------------------- honest work

HONEST = {
    "asyncio": "import asyncio\nasync def a(): await asyncio.sleep(0); return 7\ndef f(): return asyncio.run(a())",
    "tempfile": "import tempfile\ndef f():\n    with tempfile.TemporaryFile() as t: return t.write(b'1234567')",
    "files": (
        "import os, pathlib, shutil\ndef f():\n    p = pathlib.Path('a/b'); p.mkdir(parents=True)\n"
        "    (p / 'c').write_text('1234567'); shutil.copy2(p / 'c', 'd'); shutil.move('d', 'a/d')\n"
        "    os.symlink('a', 'l'); n = (pathlib.Path('l') / 'd').stat().st_size; shutil.rmtree('a'); return n"
    ),
    "time": "import time\ndef f(): time.sleep(0.001); time.localtime(); time.strftime('%Y'); return 7",
    "random": "import os, random, secrets, uuid\ndef f(): secrets.token_hex(); uuid.uuid4(); os.urandom(2); return 7",
    "a signal to itself": (
        "import signal\ndef f():\n    got = []\n    signal.signal(signal.SIGALRM, lambda *a: got.append(7))\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)\n    signal.pause(); return got[0]"
    ),
    "torch": (
        "import torch\ndef f():\n    m = torch.nn.Linear(3, 1)\n    torch.save(m.state_dict(), 'm.pt')\n"
        "    m.load_state_dict(torch.load('m.pt')); (m(torch.ones(2, 3)).sum()).backward(); return 7"
    ),
    "NumPy": "import numpy as np\ndef f(): np.save('a.npy', np.ones(7)); return len(np.load('a.npy', mmap_mode='r'))",
    "SQLite": (
        "import sqlite3\ndef f():\n    a, b = sqlite3.connect('a.db'), sqlite3.connect('a.db')\n"
        "    with a: a.execute('create table t (x)'); a.execute('insert into t values (7)')\n"
        "    return b.execute('select x from t').fetchone()[0]"
    ),
    "a lock": (
        "import fcntl\ndef f():\n    with open('a', 'w') as a:\n"
        "        fcntl.lockf(a, fcntl.LOCK_EX); fcntl.flock(a, fcntl.LOCK_EX); fcntl.lockf(a, fcntl.LOCK_UN); return 7"
    ),
    "platform": "import getpass, locale, os, platform\ndef f(): platform.platform(); os.cpu_count(); return 7",
    "pickles and archives": (
        "import pickle, zipfile\ndef f():\n"
        "    with zipfile.ZipFile('a.zip', 'w') as z: z.writestr('b', pickle.dumps(7))\n"
        "    return pickle.loads(zipfile.ZipFile('a.zip').read('b'))"
    ),
    "a pipe and poll": (
        "import os, select\ndef f():\n    r, w = os.pipe(); os.write(w, b'1234567')\n"
        "    p = select.poll(); p.register(r); p.poll(10); return len(os.read(r, 10))"
    ),
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST.keys())
def test_honest_work_is_not_disturbed(room: Room, source: str) -> None:
    assert room.look(source) == 7


REFUSED = {
    "a thread": ("threading.Thread(target=print).start()", "RuntimeError"),
    "a pool of threads": ("concurrent.futures.ThreadPoolExecutor().submit(print)", "RuntimeError"),
    "a process": ("subprocess.run(['true'])", "BlockingIOError"),
    "multiprocessing": ("multiprocessing.Process(target=print).start()", "BlockingIOError"),
    "a program in its place": ("os.execv('/bin/true', ['true'])", "PermissionError"),
    "a socket": ("socket.create_connection(('127.0.0.1', 9))", "PermissionError"),
    "a lock of other processes": ("multiprocessing.Lock()", ""),
    "a name on the network": ("socket.getaddrinfo('example.org', 80)", "gaierror"),
    "a file elsewhere": ("open('/usr/x', 'w')", "OSError PermissionError"),
}


@pytest.mark.parametrize(("does", "kinds"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_raises_what_python_raises_elsewhere(room: Room, does: str, kinds: str) -> None:
    names = "concurrent.futures, multiprocessing, os, socket, subprocess, threading"
    raised = room.outcome(f"import {names}\ndef f():\n    {does}").raised
    assert raised is not None
    assert raised.type_name in kinds.split() or not kinds


@pytest.mark.parametrize(
    "source",
    [
        "import ctypes\ndef f(x): ctypes.CDLL(None).mount(0, 0, 0, 0, 0)",
        "import ctypes\ndef f(x): ctypes.CDLL(None).setns(0, 0)",
        "import ctypes, platform\ndef f(x):\n"
        "    ctypes.CDLL(None).syscall(321 if platform.machine() == 'x86_64' else 280, 0, 0, 0)",
        "import fcntl\ndef f(x): fcntl.ioctl(0, 0x5412, b'x')",
        "import ctypes\ndef f(x): ctypes.CDLL(None).syscall(0x40000000 | 39)",
    ],
    ids=["mount", "setns", "bpf", "typing into a terminal", "an x32 call"],
)
def test_what_only_an_attack_needs_ends_the_submission_and_is_said(room: Room, source: str) -> None:
    graded = room.grade(source, checks=1)
    assert graded.statuses == ["crashed"]
    assert "SIGSYS: it asked the system for something that only an attack needs" in graded.message
