"""What surrounds the confined process: the bubblewrap command line, and what this machine offers."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Final

from autograder.sandbox.layers import ALL, HOST, Layers

CONFINED_UID: Final = 61_987
"""User and group id that the confined process takes when the grader is root; no account has it."""
WORK: Final = "/scratch"
"""The one folder, empty at first, that submissions can write to. /tmp leads there unless Python itself lies in /tmp."""
TMPFS_BYTES: Final = 64 * 2**20
_SYSTEM: Final = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin")
_LIBRARIES: Final = "/etc/ld.so.cache"
_READ_DEVICES: Final = ("/dev/urandom", "/dev/random")
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full")
_PACKAGE: Final = Path(__file__).resolve().parent.parent
_INSIDE: Final = "/grader"
_NEEDED_INSIDE: Final = (
    "__init__.py", "checks.py", "floats.py", "models.py", "observations.py", "scenarios.py", "tensors.py", "values.py",
    "sandbox",
)  # fmt: skip
"""What the confined process imports of this package. The rest stays outside: it holds what answers are judged by."""


def bubblewrap() -> str | None:
    """Return the path of bubblewrap, None where it is not installed or the platform is not Linux."""
    return shutil.which("bwrap") if sys.platform == "linux" else None


def environment() -> dict[str, str]:
    """Return the confined process's whole environment; of the grader's, only how NumPy finds its kernels passes."""
    kept = {name: os.environ[name] for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if name in os.environ}
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": WORK,
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "IPYTHONDIR": f"{WORK}/.ipython",
        **kept,
    }


def python_command(inside: bool) -> list[str]:
    """Return the command that starts the confined process's module; ``inside`` bubblewrap or beside it."""
    where = _INSIDE if inside else str(_PACKAGE.parent)
    # -P keeps the working folder, which students write to, out of the import path.
    start = f"import sys; sys.path.insert(0, {where!r}); import runpy; runpy.run_module("
    return [
        sys.executable,
        "-P",
        "-s",
        "-c",
        start + "'autograder.sandbox.confined', run_name='__main__', alter_sys=True)",
    ]


def readable() -> list[str]:
    """Return what a submission may read, as it is named inside: what is bound there, and its own process's affairs."""
    return [*_SYSTEM, _LIBRARIES, *_interpreter(), _INSIDE, "/proc", *_READ_DEVICES]


def writable() -> list[str]:
    """Return what a submission may write to, as it is named inside."""
    return [WORK, *_DEVICES]


def bubblewrap_command(program: str, layers: Layers = ALL) -> list[str]:
    """Return bubblewrap's command line: the interpreter and its packages read-only, an empty folder, nothing else.

    As root no user namespace is made: bubblewrap mounts as root and the confined process then drops to
    CONFINED_UID, which resource limits bind, as they do not bind root. The packages may lie under a folder that
    only root can enter. The confined process is the first of its pid namespace: bubblewrap's own first process would
    belong to the same user and could be traced, while this one cannot, nor can a submission kill or stop it.

    Args:
        program: the path of bubblewrap.
        layers: what to leave out, in tests.
    """
    root = os.geteuid() == 0
    command = [program]
    if layers.namespaces:
        command += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        command += ["--as-pid-1", "--hostname", "confined"]
    command += ["--cap-drop", "ALL"]
    if root:
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user"]
    command += ["--die-with-parent", "--new-session", "--clearenv"]
    for name, value in environment().items():
        command += ["--setenv", name, value]
    command += ["--size", str(TMPFS_BYTES), "--perms", "0777", "--tmpfs", WORK]
    command += ["--proc", "/proc"] if layers.namespaces else ["--ro-bind", "/proc", "/proc"]
    command += ["--dev", "/dev"]
    for folder in _SYSTEM:
        command += _system_folder(folder)
    command += [*_parents(_LIBRARIES), "--ro-bind-try", _LIBRARIES, _LIBRARIES]
    if not any(path.startswith("/tmp/") for path in _interpreter()):
        command += ["--symlink", WORK, "/tmp"]
    for path in _interpreter():
        command += [*_parents(path), "--ro-bind", path, path]
    for hidden in _copies_among_the_packages():
        command += ["--tmpfs", hidden]
    for name in _NEEDED_INSIDE:
        path = f"{_INSIDE}/autograder/{name}"
        command += [*_parents(path), "--ro-bind", str(_PACKAGE / name), path]
    if not layers.bubblewrap:
        command += ["--bind", "/", HOST]
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORK, "--"]


def _system_folder(folder: str) -> list[str]:
    path = Path(folder)
    if path.is_symlink():
        return ["--symlink", os.readlink(folder), folder]
    return ["--ro-bind", folder, folder] if path.is_dir() else []


def _parents(path: str) -> list[str]:
    """Return the arguments that make a path's parent folders passable: by itself bubblewrap makes them for one user."""
    folders = [str(folder) for folder in reversed(Path(path).parents)][1:]
    return [part for folder in folders for part in ("--perms", "0755", "--dir", folder)]


def _interpreter() -> list[str]:
    """Return the folders that hold Python and the packages, without those inside another."""
    folders = {str(Path(p).resolve()) for p in (sys.base_prefix, sys.prefix, sys.base_exec_prefix)}
    folders |= {sys.prefix, sys.base_prefix}  # as the interpreter names them, symbolic links included
    for name in ("torch", "numpy"):
        spec = importlib.util.find_spec(name)  # does not import it
        if spec is not None and spec.origin is not None:
            folders.add(str(Path(spec.origin).parent.parent))
    kept = [f for f in sorted(folders) if not f.startswith("/usr/") and f != "/usr"]
    return [f for f in kept if not any(f != other and f.startswith(other + "/") for other in kept)]


def _copies_among_the_packages() -> list[str]:
    """Return copies of this package inside the bound folders: they hold checks, solutions and recorded traces."""
    copies = [str(Path(folder) / "autograder") for folder in sys.path if (Path(folder) / "autograder").is_dir()]
    return [copy for copy in copies if any(copy.startswith(f"{folder}/") for folder in _interpreter())]
