"""What surrounds the confined process: bubblewrap's command line, and walls that stand for an ordinary user too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox import walls

REPOSITORY = Path(__file__).resolve().parents[2]
ROOT, ORDINARY = 0, 1000


def command(monkeypatch: pytest.MonkeyPatch, user: int) -> list[str]:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    return walls.bubblewrap_command("/usr/bin/bwrap")


def arguments(line: list[str], option: str, count: int = 1) -> Iterator[tuple[str, ...]]:
    for index, word in enumerate(line):
        if word == option:
            yield tuple(line[index + 1 : index + 1 + count])


# ------------------------------------------------------------------------ command line


@pytest.mark.parametrize("user", [ROOT, ORDINARY], ids=["root", "ordinary user"])
def test_every_wall_is_asked_for(monkeypatch: pytest.MonkeyPatch, user: int) -> None:
    line = command(monkeypatch, user)
    for wall in ("ipc", "pid", "net", "uts"):
        assert f"--unshare-{wall}" in line
    for option in ("--die-with-parent", "--as-pid-1", "--new-session", "--clearenv"):
        assert option in line
    assert list(arguments(line, "--cap-drop")) == [("ALL",)]
    assert "--share-net" not in line
    assert line[0] == "/usr/bin/bwrap"
    assert line[-1] == "--"


def test_root_keeps_only_what_it_takes_to_become_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    line = command(monkeypatch, ROOT)
    assert "--unshare-user" not in line
    assert list(arguments(line, "--cap-add")) == [("CAP_SETUID",), ("CAP_SETGID",)]


def test_an_ordinary_user_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    line = command(monkeypatch, ORDINARY)
    assert "--unshare-user" in line
    assert "--cap-add" not in line


def test_nothing_is_bound_but_for_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    line = command(monkeypatch, ROOT)
    for option in ("--bind", "--bind-try", "--dev-bind", "--dev-bind-try"):
        assert option not in line
    assert {path for (path,) in arguments(line, "--remount-ro")} == {"/", "/dev"}


def test_what_is_bound_is_the_system_the_interpreter_and_our_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    line = command(monkeypatch, ROOT)
    bound = {source for source, _ in arguments(line, "--ro-bind", 2)}
    modules = {str(REPOSITORY / "autograder" / name) for name in walls._NEEDED_INSIDE}
    assert bound - modules <= {"/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", *walls._interpreter()}
    assert modules <= bound
    assert {source for source, _ in arguments(line, "--ro-bind-try", 2)} == {"/etc/ld.so.cache"}


@pytest.mark.parametrize(
    "name", ["grading.py", "reference", "report", "commands", "secret.py", "prove.py", "catalog.py"]
)
def test_what_answers_are_judged_by_stays_outside(name: str) -> None:
    assert (REPOSITORY / "autograder" / name).exists()
    assert name not in walls._NEEDED_INSIDE


def test_a_copy_of_the_package_among_the_bound_ones_is_covered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "site-packages"
    (packages / "autograder" / "_course" / "solutions").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    line = command(monkeypatch, ROOT)
    covered = [path for (path,) in arguments(line, "--tmpfs")]
    assert str(packages / "autograder") in covered
    after = line[line.index(str(packages / "autograder")) :]
    assert str(tmp_path) not in after, "bound again after it was covered"


def test_the_folders_of_the_interpreter_do_not_lie_in_each_other() -> None:
    folders = walls._interpreter()
    for folder in folders:
        assert Path(folder).is_dir()
        assert not any(other != folder and folder.startswith(f"{other}/") for other in folders)


def test_an_interpreter_of_the_system_needs_no_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("prefix", "base_prefix", "base_exec_prefix"):
        monkeypatch.setattr(sys, name, "/usr")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert walls._interpreter() == []


def test_folders_above_are_made_passable_from_the_top() -> None:
    assert walls._parents("/a/b/c") == ["--perms", "0755", "--dir", "/a", "--perms", "0755", "--dir", "/a/b"]


def test_the_work_folder_is_small_and_open_to_the_confined_user(monkeypatch: pytest.MonkeyPatch) -> None:
    line = command(monkeypatch, ROOT)
    place = line.index("--tmpfs")
    assert line[place - 4 : place + 2] == ["--size", str(walls.TMPFS_BYTES), "--perms", "0777", "--tmpfs", walls.WORK]


# ------------------------------------------------------------------------- environment


def test_of_the_graders_environment_only_how_numpy_counts_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    bare = walls.environment()
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("PGPASSWORD", "swordfish")
    monkeypatch.setenv("LD_PRELOAD", "evil.so")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    assert walls.environment() == {**bare, "OPENBLAS_CORETYPE": "Haswell"}


def test_the_same_environment_is_set_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    assert dict(arguments(command(monkeypatch, ROOT), "--setenv", 2)) == walls.environment()


def test_what_decides_a_result_is_fixed() -> None:
    fixed = walls.environment()
    assert fixed["PYTHONHASHSEED"] == "0"
    assert {fixed[f"{name}_NUM_THREADS"] for name in ("OMP", "OPENBLAS", "MKL")} == {"1"}


@pytest.mark.parametrize(("inside", "where"), [(True, "/grader"), (False, str(REPOSITORY))])
def test_the_package_is_found_where_it_is(inside: bool, where: str) -> None:
    line = walls.python_command(inside)
    assert line[0] == sys.executable
    assert "-P" in line  # the working folder is the student's
    assert f"sys.path.insert(0, {where!r})" in line[-1]


# ------------------------------------------------------------------------- is it there?


def test_bubblewrap_is_looked_up_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert walls.bubblewrap() is None
    (tmp_path / "bwrap").touch(mode=0o755)
    monkeypatch.setattr(sys, "platform", "linux")
    assert walls.bubblewrap() == str(tmp_path / "bwrap")


def test_on_another_platform_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bwrap").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert walls.bubblewrap() is None


# ------------------------------------------------------------------- an ordinary user's

ATTACKS = {
    "trace": """
        import ctypes
        def f(x):
            libc = ctypes.CDLL(None)
            return x * 2 if libc.ptrace(16, 1, 0, 0) == libc.ptrace(0x4206, 1, 0, 0) == -1 else None
    """,
    "read": """
        def f(x):
            for name in ("mem", "environ", "fd/0", "fd/2", "fd/3"):
                try:
                    open("/proc/1/" + name, "rb")
                    return name
                except OSError:
                    pass
            return x * 2
    """,
    "kill": """
        import os
        def f(x):
            for number in (9, 19):
                try:
                    os.kill(1, number)
                except PermissionError:
                    pass
            return x * 2
    """,
    "fork": "import os\ndef f(x):\n    try: os.fork()\n    except OSError: return x * 2",
    "mode": "import os\nos.chmod('/scratch', 0)\ndef f(x):\n    return x * 2",
    "limits": """
        import resource
        try:
            resource.prlimit(1, resource.RLIMIT_DATA, (2**27,) * 2)
        except PermissionError:
            pass
        def f(x):
            return x * 2
    """,
}
SCRIPT = f"""
import json, os, sys
sys.path[:0] = {[str(REPOSITORY), str(REPOSITORY / "tests" / "sandbox")]!r}
from doubling import RIGHT, Room
from autograder.sandbox.layers import Layers

room = Room(walled=True)
facts = room.cage.take().ready()
said = {{"uid": os.geteuid(), "facts": facts, "layers": room.cage.take().layers()}}
for name, source in json.loads(sys.argv[1]).items():
    said[name] = [room.grade(source).statuses, room.grade(RIGHT).statuses]
room.cage.drop()
bare = Room(walled=True, layers=Layers(landlock=False, seccomp=False))
for name, source in json.loads(sys.argv[1]).items():
    said[name + ", open"] = [bare.grade(source).statuses, bare.grade(RIGHT).statuses]
bare.cage.drop()
print(json.dumps(said))
"""


def as_an_ordinary_user() -> list[str]:
    """Return what to put before a command so that it runs as an ordinary user who can read this interpreter."""
    if os.geteuid() != 0:
        return []
    drop = "import os, sys; os.setgroups([]); os.setgid(1000); os.setuid(1000); os.execv(sys.argv[1], sys.argv[1:])"
    line = ["bwrap", "--dev-bind", "/", "/", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    needed = [*walls._interpreter(), str(REPOSITORY)]
    for path in needed:
        closed = [parent for parent in reversed(Path(path).parents) if not parent.stat().st_mode & 0o001]
        if closed:  # it lies under a home that nobody else may enter: an empty one takes its place
            line += ["--perms", "0755", "--tmpfs", str(closed[0]), *walls._parents(path), "--ro-bind", path, path]
    return [*line, "--", sys.executable, "-c", drop]


@pytest.mark.needs("bubblewrap")
def test_the_walls_stand_for_an_ordinary_user() -> None:
    line = [*as_an_ordinary_user(), sys.executable, "-B", "-c", SCRIPT, json.dumps(ATTACKS)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["uid"] == (os.geteuid() or 1000)
    assert said["facts"]["uid"] == said["uid"]
    assert int(said["facts"]["capabilities"], 16) == 0
    assert said["facts"]["owns_pid_namespace"] is True
    assert said["layers"] == ["bubblewrap", "namespaces", "landlock", "seccomp", "rlimits"]
    for name in ATTACKS:
        assert said[f"{name}, open"] == [["passed"] * 3, ["passed"] * 3], name
        ends = "crashed" if name == "trace" else "passed"
        assert said[name] == [[ends] * 3, ["passed"] * 3], name


@pytest.mark.needs("bubblewrap")
def test_a_checkout_under_tmp_keeps_its_warm_process() -> None:
    """Python's folder is mounted where it lies; were submissions to write there too, nothing could be cleared."""
    room = tempfile.mkdtemp(prefix="checkout-", dir="/tmp")
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", f"{room}/venv"], check=True)
    (site,) = Path(room, "venv").glob("lib/python*/site-packages")
    (site / "others.pth").write_text(f"{packages}\n{REPOSITORY}\n")
    program = """
        import time
        from autograder.models import Cell
        from autograder.sandbox.zygote import Zygote
        with Zygote(walled=True) as zygote:
            for _ in range(2):
                session = zygote.session()
                source = "import os\\nopen('mine', 'w').close()\\nf = lambda: 1\\nprint(os.getcwd(), os.listdir())"
                print(session.load([Cell(1, source)], "f", (), time.monotonic() + 20).output.strip())
                session.end()
    """
    try:
        done = subprocess.run(
            [f"{room}/venv/bin/python", "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False
        )
    finally:
        shutil.rmtree(room)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["/scratch ['mine']"] * 2
