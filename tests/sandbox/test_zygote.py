"""The confined process: what code in it can see and reach, what it can leave behind, and what its words are worth.

Every attack is bounded in time, memory and number, and stays inside the walls.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from doubling import RIGHT, Room, cells, exercise, expected

from autograder.attempt import Cage
from autograder.checks import case
from autograder.sandbox import walls
from autograder.sandbox.layers import Layers
from autograder.sandbox.runner import Runner
from autograder.sandbox.zygote import Limits, SandboxError, Zygote, how_it_ended

pytestmark = pytest.mark.needs("bubblewrap")

REPOSITORY = Path(__file__).resolve().parents[2]


# --------------------------------------------------------------------- what it can see


def test_it_is_nobody_with_no_capability(room: Room) -> None:
    source = """\
        import os
        def f():
            status = {line.partition(":")[0]: line.partition(":")[2].strip() for line in open("/proc/self/status")}
            return {"ids": [*os.getresuid(), *os.getresgid()], "groups": os.getgroups(), **status}
    """
    seen = room.look(source)
    assert set(seen["ids"]) == ({walls.CONFINED_UID} if os.geteuid() == 0 else {os.getuid(), os.getgid()})
    if os.geteuid() == 0:
        assert seen["groups"] == []
    for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(seen[kind], 16) == 0
    assert seen["NoNewPrivs"] == "1"


def test_it_cannot_become_another_user(open_room: Room) -> None:
    source = """\
        import os
        def f():
            done = []
            for call, value in ((os.setuid, 0), (os.setgid, 0), (os.setgroups, [0]), (os.chroot, "/scratch")):
                try:
                    done.append(call(value))
                except OSError:
                    pass
            return done
    """
    assert open_room.look(source) == []


def test_it_sees_no_process_but_its_own(room: Room) -> None:
    source = """\
        import os
        def f():
            return [sorted(int(name) for name in os.listdir("/proc") if name.isdigit()), os.getpid(), os.getppid()]
    """
    processes, own, parent = room.look(source)
    assert processes == [1, own]
    assert parent == 1


def test_it_is_in_namespaces_of_its_own(room: Room) -> None:
    source = """\
        import os
        def f():
            return {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in ("pid", "net", "ipc", "uts", "mnt")}
    """
    for kind, name in room.look(source).items():
        assert name != os.readlink(f"/proc/self/ns/{kind}"), kind


def test_it_has_no_descriptor_but_its_socket(room: Room) -> None:
    source = """\
        import os
        def f():
            links = {}
            for fd in range(4096):
                try:
                    links[str(fd)] = os.readlink(f"/proc/self/fd/{fd}")
                except OSError:
                    pass
            return links
    """
    links = room.look(source)
    assert [links.pop(fd) for fd in "012"] == ["/dev/null"] * 3
    (link,) = links.values()
    assert link.startswith("socket:")


def test_it_has_nothing_to_read_from_stdin(room: Room) -> None:
    source = """\
        import os, sys
        def f():
            try:
                said = input()
            except EOFError:
                said = "nothing"
            return [said, sys.stdin.read(), os.read(0, 10).decode()]
    """
    assert room.look(source) == ["nothing", "", ""]


def test_its_environment_is_ours_and_not_the_graders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "swordfish")
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    source = """\
        import ctypes, os
        def f():
            ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # may read its own again
            return {"names": sorted(os.environ), "text": open("/proc/self/environ").read() + repr(dict(os.environ))}
    """
    fresh = Room(walled=True, layers=Layers(seccomp=False))
    try:
        seen = fresh.look(source)
    finally:
        fresh.cage.drop()
    assert set(seen["names"]) <= {*walls.environment(), "PWD", "LC_CTYPE"}
    assert "swordfish" not in seen["text"]
    assert str(REPOSITORY) not in seen["text"]


@pytest.mark.parametrize(
    "path",
    [
        *(REPOSITORY / name for name in ("solutions", "exercises", "tests", "autograder", "pyproject.toml", ".git")),
        *map(Path, ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/resolv.conf", "/var", "/run", "/sys", "/srv")),
        *map(Path, ("/boot", "/mnt", "/opt", "/dev/sda", "/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/kvm")),
    ],
    ids=lambda path: str(path).replace(str(REPOSITORY), "checkout"),
)
def test_it_cannot_see(room: Room, path: Path) -> None:
    assert room.look(f"import os\ndef f():\n    return os.path.lexists({str(path)!r})") is False


def test_the_rest_of_the_file_system_holds_the_interpreter_and_nothing_else(room: Room) -> None:
    # Every file outside of the system's folders, the interpreter's and ours.
    source = f"""\
        import os, sys
        KNOWN = ("/usr", "/proc", "/dev", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/grader/autograder")
        KNOWN += {tuple(map(str, walls._interpreter()))!r}
        def f():
            found = []
            for folder, folders, files in os.walk("/"):
                found += [os.path.join(folder, name) for name in files]
                folders[:] = [name for name in folders if os.path.join(folder, name) not in KNOWN]
            return found
    """
    assert set(room.look(source)) <= {"/etc/ld.so.cache"}


def test_the_package_inside_holds_no_exercise_and_no_solution(room: Room) -> None:
    source = """\
        import os
        def f():
            return [os.path.join(folder, name) for folder, _, files in os.walk("/grader") for name in files]
    """
    names = [name.removeprefix("/grader/autograder/") for name in room.look(source)]
    assert "sandbox/confined.py" in names
    assert {name for name in names if "__pycache__" not in name} <= {
        "__init__.py", "checks.py", "floats.py", "models.py", "observations.py", "scenarios.py", "tensors.py",
        "values.py",
        *(f"sandbox/{path.name}" for path in (REPOSITORY / "autograder" / "sandbox").glob("*.py")),
    }  # fmt: skip


def test_it_can_write_nowhere_but_in_its_work_folder(open_room: Room) -> None:
    source = """\
        import os, sys
        def f():
            writable, tried = [], ["/", "/grader", "/grader/autograder", sys.prefix, os.path.dirname(os.__file__)]
            for folder, folders, _ in os.walk("/"):
                tried.append(folder)
                if folder.count("/") >= 3 or folder.startswith("/proc") or folder == "/scratch":
                    folders.clear()
            for folder in tried:
                path = os.path.join(folder, "mine")
                try:
                    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
                    os.unlink(path)
                    writable.append(folder)
                except OSError:
                    pass
            return [sorted(set(writable)), len(tried)]
    """
    writable, tried = open_room.look(source)
    assert writable == ["/scratch"]
    assert tried > 50


def test_its_working_folder_is_its_own_and_no_import_comes_from_there(room: Room) -> None:
    source = """\
        import os, sys
        open("/scratch/wave.py", "w").write("raise SystemExit('imported from the working folder')")
        import wave
        def f():
            return [os.getcwd(), "" in sys.path or "/scratch" in sys.path, wave.__file__.startswith("/scratch")]
    """
    assert room.look(source) == ["/scratch", False, False]


def test_it_reaches_no_network(open_room: Room) -> None:
    with socket.socket() as listener, socket.socket(socket.AF_UNIX) as named:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        name = f"autograder-test-{os.getpid()}"
        named.bind("\0" + name)
        named.listen()
        source = f"""\
            import socket
            def f():
                reached = []
                for family, address in (
                    (socket.AF_INET, ("127.0.0.1", {listener.getsockname()[1]})),
                    (socket.AF_INET, ("192.0.2.1", 80)),
                    (socket.AF_INET6, ("2001:db8::1", 80)),
                    (socket.AF_UNIX, "\\0{name}"),
                ):
                    try:
                        with socket.socket(family) as sock:
                            sock.settimeout(0.5)
                            sock.connect(address)
                            reached.append(str(address))
                    except OSError:
                        pass
                return [reached, [name for _, name in socket.if_nameindex()]]
        """
        with socket.create_connection(listener.getsockname()), socket.socket(socket.AF_UNIX) as sock:
            sock.connect("\0" + name)  # they are there, for those outside
        assert open_room.look(source) == [[], ["lo"]]


@pytest.mark.parametrize(
    "attempt",
    [
        "os.fork()",
        "subprocess.run(['/bin/true'])",
        "os.system('true') and 1 / 0",
        "threading.Thread(target=print).start()",
        "multiprocessing.Process(target=print).start()",
        "os.posix_spawn('/bin/true', ['true'], {})",
    ],
)
def test_it_can_start_no_process_and_no_thread(room: Room, attempt: str) -> None:
    source = f"import multiprocessing, os, subprocess, threading\ndef f():\n    {attempt}"
    assert room.outcome(source).raised is not None


def test_honest_work_with_torch_and_numpy_needs_none_of_these(room: Room) -> None:
    source = """\
        import numpy as np
        import torch
        torch.set_num_threads(4)
        def f():
            model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
            optimizer = torch.optim.Adam(model.parameters())
            for _ in range(3):
                optimizer.zero_grad()
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    loss = model(torch.randn(256, 64)).float().pow(2).mean()
                loss.backward()
                optimizer.step()
            big = torch.randn(700, 700) @ torch.randn(700, 700)
            also = np.ones((500, 500)) @ np.ones((500, 500))
            return bool(torch.isfinite(big).all()) and bool(np.isfinite(also).all())
    """
    assert room.look(source) is True


def test_the_warm_process_cannot_be_traced_read_or_ended(open_room: Room) -> None:
    source = """\
        import ctypes, os, resource, signal
        def f():
            libc = ctypes.CDLL(None, use_errno=True)
            done = []
            for what in ("mem", "environ", "fd/3", "maps", "cwd"):
                try:
                    os.open(f"/proc/1/{what}", os.O_RDWR if what == "mem" else os.O_RDONLY)
                    done.append(what)
                except OSError:
                    pass
            if libc.ptrace(16, 1, 0, 0) == 0 or libc.ptrace(0x4206, 1, 0, 0) == 0:
                done.append("ptrace")
            for name in ("KILL", "STOP", "TERM", "INT", "SEGV", "HUP", "USR1"):
                number = signal.Signals["SIG" + name]
                try:
                    os.kill(1, number)
                except PermissionError:
                    pass
            return done
    """
    before = open_room.cage.take()
    assert open_room.look(source) == []
    assert open_room.cage.take() is before
    assert open_room.look(RIGHT.replace("x", "a"), a=2) == 4


# ------------------------------------------------------------------ nothing is left behind

LEFT = {
    "a file": "open('/scratch/left', 'w').write('answer')",
    "a hidden folder": "os.makedirs('/scratch/.a/b/c'); open('/scratch/.a/b/c/d', 'w').write('answer')",
    "a link to elsewhere": "os.symlink('/usr', '/scratch/usr'); os.symlink('/scratch', '/scratch/loop')",
    "a folder that cannot be entered": "os.makedirs('a/b'); [os.chmod(p, 0) for p in ('a/b', 'a')]",
    "a folder that cannot be changed": "os.makedirs('/scratch/a/b'); os.chmod('/scratch/a', 0o555)",
    "a thousand folders, each in the other": "[(os.mkdir('a'), os.chdir('a')) for _ in range(1000)]",
    "names that are no text": "open(b'/scratch/\\xff\\n', 'w').close()",
    "a named pipe and a socket": "os.mkfifo('/scratch/pipe'); socket.socket(socket.AF_UNIX).bind('/scratch/socket')",
    "a full disk": "[open(f'/scratch/{n}', 'wb').write(bytes(2**20)) for n in range(60)]",
    "an attribute of the folder": "os.setxattr('/scratch', 'user.left', b'answer')",
    "a mode of the folder": "os.chmod('/scratch', 0o500)",
    "no mode of the folder": "os.chmod('/scratch', 0)",
    "shared memory": "ctypes.CDLL(None).shmget(4711, 2**20, 0o1666)",
    "a message queue and a semaphore": "l = ctypes.CDLL(None); l.msgget(7, 0o1666); l.semget(7, 1, 0o1666)",
    "a POSIX message queue": "ctypes.CDLL(None).mq_open(b'/left', 0o102, 0o666, None)",
    "less memory for the next": "limit(resource.RLIMIT_DATA, 2**27)",
    "a smaller stack for the next": "limit(resource.RLIMIT_STACK, 2**16)",
    "less of all else for the next": "[limit(kind, 3) for kind in (0, 1, 7)]",  # time, files, descriptors
    "a low priority and one core": "os.setpriority(0, 1, 19); os.sched_setaffinity(1, {min(os.sched_getaffinity(1))})",
    "a lazy clock": "open('/proc/1/timerslack_ns', 'w').write('10000000')",
    "the last place at the disk": "ctypes.CDLL(None).syscall(251 if x86 else 30, 1, 1, 3 << 13)",
    "an idle scheduler": "os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))",
}
CLEAN = """\
    import ctypes, os, platform, resource
    def f():
        libc_lines = [len(open(f"/proc/sysvipc/{kind}").readlines()) for kind in ("shm", "msg", "sem")]
        open("/scratch/mine", "w").write("1" * 1000)
        mine = os.listdir("/scratch")
        os.unlink("/scratch/mine")
        kinds = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
        return {
            "files": mine, "attributes": os.listxattr("/scratch"), "system v": libc_lines,
            "limits": [list(resource.getrlimit(kind)) for kind in kinds if kind not in MEMORY],
            "disk": ctypes.CDLL(None).syscall(252 if platform.machine() == "x86_64" else 31, 1, 0),
            "scheduling": [os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), len(os.sched_getaffinity(0))],
        }
    MEMORY = (resource.RLIMIT_DATA, resource.RLIMIT_AS)  # above what the warm process happens to have
"""


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT.keys())
@pytest.mark.parametrize("which", ["room", "open_room"], ids=["all layers", "outer layers"])
def test_nothing_of_a_submission_is_there_for_the_next(which: str, left: str, request: pytest.FixtureRequest) -> None:
    source = f"""\
        import ctypes, os, platform, resource, socket
        x86 = platform.machine() == "x86_64"
        def limit(kind, value):
            resource.prlimit(1, kind, (value, value))
        try:
            {left}
        except OSError:
            pass
        def f(x):
            return x * 2
    """
    room: Room = request.getfixturevalue(which)
    before = room.look(CLEAN)
    room.grade(source)
    after = room.look(CLEAN)
    assert after == before
    assert after["files"] == ["mine"]
    assert after["attributes"] == []
    assert after["system v"] == [1, 1, 1]
    assert room.grade(RIGHT).points == 3


def test_a_daemon_cannot_be_left(room: Room) -> None:
    source = """\
        import os, signal
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        try:
            os.setsid()
        except OSError:
            pass
        try:
            if os.fork() == 0:
                while True:
                    pass
        except OSError:
            pass
        def f(x):
            while True:
                pass
    """
    assert room.grade(source, seconds=0.6, checks=1).statuses == ["timeout"]
    assert room.look("import os\ndef f():\n    return [n for n in os.listdir('/proc') if n.isdigit()]")[0] == "1"
    assert len(room.look("import os\ndef f():\n    return [n for n in os.listdir('/proc') if n.isdigit()]")) == 2


def test_what_a_submission_changes_in_python_is_gone_for_the_next(room: Room) -> None:
    source = """\
        import builtins, json, os, sys, torch
        torch.ones = torch.isfinite = json.dumps = None
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(7)
        sys.modules["numpy"] = None
        os.environ["LEFT"] = "answer"
        builtins.left = 1
        del builtins.len
    """
    room.grade(source)
    assert room.look("import torch\ndef f():\n    return [len(torch.ones(2)), str(torch.ones(1).dtype)]") == [
        2, "torch.float32",
    ]  # fmt: skip
    assert room.grade(RIGHT).points == 3


def test_random_numbers_are_the_same_for_everyone(room: Room) -> None:
    source = """\
        import random, numpy, torch
        def f():
            return [random.random(), float(numpy.random.rand()), float(torch.rand(1)), hash("text")]
    """
    seen = room.look(source)
    assert room.look(source) == seen
    assert seen[0] == random.Random(0).random()  # also of another process, on another day


# --------------------------------------------------------------- ended and started again


@pytest.fixture
def cage() -> Iterator[Cage]:
    cage = Cage(walled=True)
    yield cage
    cage.drop()


def inside(zygote: Zygote) -> int:
    """Return the number that the confined process has outside."""
    return child_of(zygote._process.pid)


def child_of(process: int) -> int:
    return int(Path(f"/proc/{process}/task/{process}/children").read_text())


@contextlib.contextmanager
def namespace(process: int) -> Iterator[str]:
    """Give the name of a process's pid namespace, which is no other's for so long.

    Numbers of namespaces are given out again, so it is kept open: otherwise one that another test makes meanwhile may
    bear the same name.
    """
    held = os.open(f"/proc/{process}/ns/pid", os.O_RDONLY)
    try:
        yield os.readlink(f"/proc/self/fd/{held}")
    finally:
        os.close(held)


def namespace_is_empty(name: str, patience: int = 1200) -> bool:
    """Return whether no process is left in a pid namespace, waiting a little for the last ones to go."""
    for _ in range(patience):
        found = False
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                here = os.readlink(f"/proc/{process}/ns/pid") == name
                found |= here and "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
            except OSError:
                continue  # it ended, or is somebody else's
        if not found:
            return True
        time.sleep(0.05)
    return False


def test_closing_ends_everything_inside(cage: Cage) -> None:
    zygote = cage.take()
    session = zygote.session()
    session.load([], "f", (), time.monotonic() + 60)
    with namespace(inside(zygote)) as name:
        assert name == zygote.ready()["namespaces"]["pid"]
        assert not namespace_is_empty(name, patience=1)
        cage.drop()
        assert namespace_is_empty(name)
    with pytest.raises(SandboxError, match="gone"):
        session.end()


@pytest.mark.parametrize("sign", [None, signal.SIGKILL], ids=["alive", "killed"])
def test_closing_ends_a_process_that_does_not_listen(cage: Cage, sign: signal.Signals | None) -> None:
    zygote = cage.take()
    zygote.ready()
    with namespace(inside(zygote)) as name:
        os.kill(inside(zygote), signal.SIGSTOP)
        if sign is not None:
            zygote._process.send_signal(sign)  # bubblewrap itself
        cage.drop()
        assert namespace_is_empty(name)


def test_when_the_grader_is_killed_nothing_of_it_stays() -> None:
    script = f"""
import sys, time
sys.path[:0] = {[str(REPOSITORY), str(Path(__file__).parent)]!r}
from doubling import Room, cells
room = Room(walled=True)
session = room.cage.take().session()
print(room.cage.take()._process.pid, flush=True)
session.load(cells(["while True: pass"]), "f", (), time.monotonic() + 60)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as grader:
        assert grader.stdout is not None
        with namespace(child_of(int(grader.stdout.readline()))) as name:
            assert not namespace_is_empty(name, patience=1)
            grader.kill()
            assert namespace_is_empty(name)


def test_closing_twice_is_harmless(cage: Cage) -> None:
    zygote = cage.take()
    zygote.close()
    zygote.close()


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
def test_when_the_confined_process_is_lost_the_next_submission_is_graded_right(sign: signal.Signals) -> None:
    room = Room(walled=True)
    try:
        lost = room.cage.take()
        os.kill(inside(lost), sign)
        assert room.grade(RIGHT).points == 3
        assert room.cage.take() is not lost
    finally:
        room.cage.drop()


@pytest.mark.parametrize("delay", [0, 0.01, 0.05, 0.4])
def test_a_process_that_is_closed_before_it_is_warm_ends(delay: float) -> None:
    mark = "nturl2path"  # a module that nobody else asks for, so that the command line can be told from others
    zygote = Zygote(walled=True, preload=(mark,))
    time.sleep(delay)
    zygote.close()
    assert zygote._process.returncode is not None
    deadline = time.monotonic() + 60
    while with_argument(mark) and time.monotonic() < deadline:  # what was inside is left a moment to end
        time.sleep(0.05)
    assert not with_argument(mark)


def with_argument(mark: str) -> list[str]:
    """Return the processes with this word in their command line that have not ended."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in Path(f"/proc/{process}/cmdline").read_text(errors="replace"):
                found.append(process)
        except OSError:
            continue
    return found


# --------------------------------------------------------------------- it must be walled


def bubblewrap_that(does: str, folder: Path) -> str:
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)
    return str(folder)


def test_without_bubblewrap_no_walled_process_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="bubblewrap is not installed"):
        Zygote(walled=True)


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions to create new namespace"),
        ("exit 3", "it ended with status 3"),
        ("exec sleep 0", "it ended with status 0"),
    ],
)
def test_a_bubblewrap_that_does_not_work_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, does: str, says: str
) -> None:
    monkeypatch.setenv("PATH", f"{bubblewrap_that(does, tmp_path)}:{os.environ['PATH']}")
    with Zygote(walled=True) as zygote, pytest.raises(SandboxError, match=says):
        zygote.ready()


def test_a_bubblewrap_that_builds_no_walls_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # It drops its own arguments and starts the command as it is.
    does = f'while [ "$1" != "--" ]; do shift; done; shift; PYTHONPATH={REPOSITORY} exec "$@"'
    monkeypatch.setattr(walls, "CONFINED_UID", os.getuid())  # this interpreter may lie where nobody else can read
    monkeypatch.setenv("PATH", f"{bubblewrap_that(does, tmp_path)}:{os.environ['PATH']}")
    with Zygote(walled=True) as zygote, pytest.raises(SandboxError, match="shares the pid, net, ipc, uts, mnt"):
        zygote.ready()


def test_the_layers_are_named() -> None:
    with Zygote(walled=True) as zygote:
        outer = ("bubblewrap", "namespaces", "uid") if os.geteuid() == 0 else ("bubblewrap", "namespaces")
        assert zygote.layers() == (*outer, "landlock", "seccomp", "rlimits")


# ------------------------------------------------------------------------ false messages

FORGER = """\
    import json, os, struct, sys

    def raw(data):
        for fd in range(3, 64):
            try:
                os.write(fd, data)
            except OSError:
                pass

    def frame(message):
        data = json.dumps(message).encode()
        raw(struct.pack(">I", len(data)) + data)

    def question():
        here = sys._getframe(2)  # answer() has names like these of its own
        while "token" not in here.f_locals or "number" not in here.f_locals:
            here = here.f_back
        return here.f_locals

    def answer(seen, mark="=", token=None, number=None):
        here = question()
        begin = (here["token"] if token is None else token) + f"{here['number'] if number is None else number:06}"
        data = (begin + mark).encode() + (seen if type(seen) is bytes else json.dumps(seen).encode())
        raw(struct.pack(">I", len(data)) + data)

    def tensor(*values):
        return {"tensor": "float32", "shape": [len(values)], "data": list(values)}

    SEEN = {"outcomes": [{"returned": tensor(0.0), "after": {"x": tensor(0.0)}}]}
    LOADED = {"defined": True, "callable": True, "errors": [], "notes": [], "output": ""}
"""
IN_A_CELL = {
    "a verdict": "frame({'passed': True})",
    "a verdict, many times": "[frame({'passed': True}) for _ in range(50)]",
    "an answer ahead of its question": (
        "data = b'0' * 22 + b'=' + json.dumps(SEEN).encode(); raw(struct.pack('>I', len(data)) + data)"
    ),
    "a report on the cells, so that ours is one too many": "frame({'loaded': LOADED})",
    "a report on the cells and an answer": (
        "frame({'loaded': LOADED}); data = b'000000=' + json.dumps(SEEN).encode();"
        " raw(struct.pack('>I', len(data)) + data)"
    ),
    "a report with another key": "frame({'loaded': {**LOADED, 'passed': True}})",
    "a report with 1 for True": "frame({'loaded': {**LOADED, 'callable': 1}})",
    "a report with a million errors": "frame({'loaded': {**LOADED, 'errors': [0] * 10**6}})",
    "a report with errors that are none": "frame({'loaded': {**LOADED, 'errors': 5}})",
    "a report with notes that are none": "frame({'loaded': {**LOADED, 'notes': [5]}})",
    "a report that is a list": "frame({'loaded': [1]})",
    "17 MB": "raw(struct.pack('>I', 17 * 2**20))",
    "the largest length": "raw(b'\\xff' * 4)",
    "no JSON": "raw(struct.pack('>I', 4) + b'true'[:3] + b'!')",
    "a pickle": "raw(struct.pack('>I', 3) + b'\\x80\\x04N')",
    "nothing any more": "[os.close(fd) for fd in range(3, 64) if os.path.exists(f'/proc/self/fd/{fd}')]",
    "half a frame and the end": "raw(struct.pack('>I', 100) + b'{'); os._exit(0)",
}
IN_A_CALL = {
    "another token": "answer(SEEN, token='0' * 16)",
    "a token that is too short": "answer(SEEN, token=question()['token'][1:])",
    "the next answer's number": "answer(SEEN, number=question()['number'] + 1)",
    "no mark": "answer(SEEN, mark='')",
    "a mark of its own": "answer(SEEN, mark='+')",
    "nothing after the mark": "answer(b'')",
    "an answer and a word more": "answer(json.dumps(SEEN).encode() + b' true')",
    "one key more": "answer({**SEEN, 'passed': True})",
    "one key less": "answer({})",
    "an end, which is not its to say": "answer({**SEEN, 'ended': ''})",
    "outcomes that are none": "answer({'outcomes': True})",
    "an outcome with a verdict": "answer({'outcomes': [{'passed': True}]})",
    "hits that are none": "answer(['', SEEN], mark='!')",
    "a hit without an answer": "answer('a', mark='!')",
    "hits in a list": "answer([['a'], SEEN], mark='!')",
    "too many outcomes": "answer({'outcomes': SEEN['outcomes'] * 100})",
    "a list": "answer([SEEN])",
    "10**15 elements in a few bytes": "answer({'outcomes': [{'returned': {'runs': [[1.0, 10**15]]}, 'after': {}}]})",
    "three million empty objects": "answer(b'[' + b'{},' * 3 * 10**6 + b'{}]')",
}


@pytest.mark.parametrize("forgery", IN_A_CELL.values(), ids=IN_A_CELL.keys())
def test_a_false_message_from_a_cell_earns_nothing(room: Room, forgery: str) -> None:
    graded = room.grade(FORGER, f"{forgery}\ndef f(x):\n    return x * 2")
    assert set(graded.statuses) == {"crashed"}
    assert graded.points == 0
    assert room.grade(RIGHT).points == 3


@pytest.mark.parametrize("forgery", IN_A_CALL.values(), ids=IN_A_CALL.keys())
def test_a_false_message_from_a_call_earns_nothing(room: Room, forgery: str) -> None:
    graded = room.grade(FORGER, f"def f(x):\n    {forgery}\n    os._exit(0)")
    assert set(graded.statuses) == {"crashed"}
    assert graded.points == 0
    assert room.grade(RIGHT).points == 3


def test_a_well_formed_claim_is_judged_like_any_other(room: Room) -> None:
    # It knows the token and the form, and not what the double of the input is unless it computes it.
    claim = "answer(SEEN)"
    graded = room.grade(FORGER, f"def f(x):\n    {claim}\n    import time\n    time.sleep(60)", seconds=1)
    assert "passed" not in graded.statuses
    graded = room.grade(FORGER, f"def f(x):\n    {claim}\n    return x * 2")
    assert "passed" not in graded.statuses


# ------------------------------------------------------------------- what it cannot know


def test_what_is_expected_is_not_in_its_memory(open_room: Room) -> None:
    # The whole writable memory is searched for the input, which must be there, and for what the judge knows, which must
    # not. What is searched for is written with every bit turned over, so that the search does not find itself.
    def turned(data: bytes) -> str:
        return bytes(255 - byte for byte in data).hex()

    x = 0.8471205634917263
    there = [struct.pack("<d", x)]
    secret = [struct.pack("<d", x * 2), b"the rule of this check", b"y + x  # the solution", b"title of it"]
    source = f"""\
        import ctypes
        TURN = bytes(255 - byte for byte in range(256))
        WANTED = [bytes.fromhex(text) for text in {[turned(data) for data in there + secret]}]

        def memory():
            ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # may read its own memory again
            with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as mem:
                for line in maps:
                    (start, end), rights = (int(n, 16) for n in line.split()[0].split("-")), line.split()[1]
                    if not rights.startswith("rw") or "[v" in line:
                        continue
                    for place in range(start, end, 2**20):
                        mem.seek(place)
                        try:
                            yield mem.read(min(2**20, end - place)).translate(TURN)
                        except OSError:
                            pass

        def f(x):
            counts = [0] * len(WANTED)
            for part in memory():
                counts = [count + part.count(one) for count, one in zip(counts, WANTED)]
            return counts
    """
    base = exercise(seconds=60, checks=1)
    check = replace(base.checks[0], title="title of it", rule="the rule of this check", cases=(case("secret", x=x),))
    chosen = replace(base, checks=(check,), solution="def f(x):\n    y = x\n    return y + x  # the solution\n")
    known = expected(chosen).checks[check.id]
    assert known.observations[0].outcomes[0].returned == x * 2

    runner = Runner(open_room.cage.take, open_room.cage.drop, cells([source]), chosen)
    try:
        (counts,) = [outcome.returned for outcome in runner.observe(check, known.cases[0]).outcomes]
    finally:
        runner.close()
    assert counts[0] > 0
    assert counts[1:] == [0] * len(secret)


# ---------------------------------------------------------------------------- in words


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "the process exited by itself, with status 0"),
        (7 << 8, "the process exited by itself, with status 7"),
        (9, "the process was ended by SIGKILL"),
        (31, "the process was ended by SIGSYS: it asked the system for something that only an attack needs"),
        (11 | 128, "the process was ended by SIGSEGV"),
        (63, "the process was ended by signal 63"),
        (None, "the process cut its connection to the grader"),
    ],
)
def test_how_a_process_ended_in_words(status: int | None, words: str) -> None:
    assert how_it_ended(status) == words


def test_limits_are_what_they_say(room: Room) -> None:
    source = """\
        import resource
        def f():
            names = ("CORE", "CPU", "FSIZE", "NOFILE", "NPROC", "MSGQUEUE")
            return {name: list(resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))) for name in names}
    """
    limits = Limits()
    assert room.look(source) == {
        "CORE": [0, 0], "CPU": [limits.cpu] * 2, "FSIZE": [limits.file] * 2, "NOFILE": [64, 64], "NPROC": [0, 0],
        "MSGQUEUE": [0, 0],
    }  # fmt: skip


def test_a_thousand_files_are_no_reason_to_end_a_submission(room: Room) -> None:
    source = """\
        import time
        def f():
            for number in range(1000):
                open(f"/scratch/{number}", "w").close()
            time.sleep(0.2)
            return "done"
    """
    assert room.look(source) == "done"


@pytest.mark.parametrize("size", [walls.TMPFS_BYTES, Limits().file], ids=["folder", "file"])
def test_files_are_limited(room: Room, size: int) -> None:
    source = """\
        def f(count, each):
            written = 0
            try:
                for number in range(count):
                    with open(f"/scratch/{number}", "wb", 0) as file:
                        for _ in range(each):
                            written += file.write(bytes(2**20))
            except OSError as error:
                return [written, error.strerror]
            return [written, ""]
    """
    count, each = (40, 8) if size == walls.TMPFS_BYTES else (1, 40)
    written, error = room.look(source, count=count, each=each)
    assert error in ("No space left on device", "File too large")
    assert size - 2**20 <= written <= size
