"""Persistence: what stays for a later submission; some look for what an earlier one left."""

from __future__ import annotations

import pytest
from attack import in_call, in_cell
from verdicts import (  # noqa: F401
    test_an_honest_submission_right_after_it_earns_full_marks,
    test_it_earns_what_its_honest_part_does_and_the_reason_is_said,
    test_nothing_secret_and_no_control_character_is_in_what_was_written,
    test_the_host_is_as_it_was,
)

pytestmark = pytest.mark.needs("bubblewrap")

LOOK = """\
    import glob, socket
    found = [path for path in glob.glob("/scratch/**", recursive=True, include_hidden=True) if path != "/scratch/"]
    found += os.listxattr("/scratch") + glob.glob("/dev/shm/*")
    if os.stat("/scratch").st_mode & 0o777 != 0o777: found.append("mode")
    found += [name for name in ("LEFT",) if name in os.environ]
    for kind in ("shm", "msg", "sem"):
        found += open(f"/proc/sysvipc/{kind}").read().splitlines()[1:]
    found += [line for line in open("/proc/net/unix") if "@MARK@" in line]
    found += [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())]
    import builtins, json
    if hasattr(builtins, "LEFT") or hasattr(json, "LEFT"): found.append("an attribute")
    if os.umask(0) == 0o777: found.append("umask")
    if socket.gethostname() != "confined": found.append("name")
    if found: got("what another left", found)
    """

ATTACKS = (
    in_cell(
        "files",
        """\
        open("/scratch/answers", "w").write("x"); os.makedirs("/scratch/.a/b"); os.symlink("/usr", "/scratch/usr")
        os.mkfifo("/scratch/pipe")
        attempt("mode", lambda: os.chmod("/scratch", 0o500)) if os.stat("/scratch").st_uid != os.getuid() else None
        """,
    ),
    in_cell("a look after files", LOOK),
    in_call(
        "folders deeper than Python recurses, and an exit at every call",
        "os._exit(0)",
        before="""\
            import os
            os.chdir("/scratch")
            for _ in range(1500):
                os.mkdir("d"); os.chdir("d")
            """,
        says="exited by itself, with status 0",
    ),
    in_cell("a look after deep folders", LOOK),
    in_cell(
        "a folder of folders, closed and without a way back",
        """\
        for wide in range(20):
            os.makedirs(f"/scratch/{wide}/a/b")
            os.mkfifo(f"/scratch/{wide}/a/b/pipe")
            for name, mode in (("a/b", 0), ("a", 0o500), (".", 0)):
                os.chmod(f"/scratch/{wide}/{name}", mode)
        """,
    ),
    in_cell("a look after closed folders", LOOK),
    in_cell(
        "objects that outlive their process",
        """\
        LIBC.shmget(0x4711, 2**20, 0o1666); LIBC.msgget(0x4711, 0o1666); LIBC.semget(0x4711, 1, 0o1666)
        LIBC.mq_open(b"/left", 0o102, 0o666, None)
        """,
    ),
    in_cell("a look after objects", LOOK),
    in_cell(
        "a daemon",
        """\
        import signal
        for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)
        def act():
            if (child := os.fork()) == 0:
                os.setsid()
                while True: signal.pause()
            return child
        attempt("fork", act)
        attempt("vfork", lambda: os.posix_spawn("/bin/sleep", ["sleep", "1000"], {}, setsid=True))
        """,
    ),
    in_cell(
        "sockets with names",
        """\
        import socket
        kept = []
        for address in ("\\0@MARK@-left", "/scratch/left"):
            kept.append(socket.socket(socket.AF_UNIX)); kept[-1].bind(address); kept[-1].listen()
        kept.append(socket.socket()); kept[-1].bind(("127.0.0.1", 4711)); kept[-1].listen()
        """,
    ),
    in_cell("a look after sockets and daemons", LOOK),
    in_cell(
        "state of Python",
        """\
        import builtins, json
        builtins.LEFT = json.LEFT = 1
        os.environ["LEFT"] = "1"; os.umask(0o777); os.chdir("/usr"); del builtins.len
        """,
        earns=0,
        statuses="crashed",
        says="exited by itself",
    ),
    in_cell("a look after state", LOOK),
    in_cell(
        "modules for the next import",
        """\
        import py_compile
        for name in ("torch", "numpy", "json", "sitecustomize", "usercustomize"):
            open(f"/scratch/{name}.py", "w").write("print('GOT imported')")
        os.makedirs("/scratch/.local/lib/python3.11/site-packages", exist_ok=True)
        open("/scratch/.local/lib/python3.11/site-packages/x.pth", "w").write("import os; print('GOT pth')")
        os.makedirs("/scratch/.ipython/profile_default/startup", exist_ok=True)
        open("/scratch/.ipython/profile_default/startup/a.py", "w").write("print('GOT startup')")
        for folder in sys.path:
            attempt(folder, lambda: os.mkdir(f"{folder}/__pycache__/left") or "made")
            attempt(folder, lambda: open(f"{folder}/left.pth", "w"))
        """,
    ),
    in_cell("a magic that would read a profile", "%time x = 1\nimport wave, json, torch"),
    in_cell(
        "limits and priority of the warm process",
        """\
        import resource
        for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_STACK, resource.RLIMIT_FSIZE):
            try: resource.prlimit(1, kind, (3, 3))
            except OSError: pass
        for act in (lambda: os.setpriority(0, 1, 19), lambda: os.sched_setaffinity(1, {0}), lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))):
            try: act()
            except OSError: pass
        """,
    ),
    in_cell(
        "a look after limits",
        LOOK
        + """
    import resource
    if resource.getrlimit(resource.RLIMIT_NOFILE) != (64, 64) or os.getpriority(0, 0) > @NICE@: got("limits", 0)
    """,
    ),
    in_cell(
        "priority of all disks' work",
        """\
        if INTEL:
            LIBC.syscall(251, 1, 1, (3 << 13) | 7)  # ioprio_set: the warm process becomes idle
        """,
    ),
    in_cell(
        "a look after priority",
        """\
        if INTEL and LIBC.syscall(252, 1, 0) == (3 << 13) | 7: got("the priority that another left", 0)
        """,
    ),
    in_cell(
        "a key that stays",
        """\
        if INTEL:
            LIBC.syscall(248, b"user", b"@MARK@-left", b"answers", 7, -4)
        """,
    ),
    in_cell(
        "a look after keys",
        """\
        if INTEL:
            buffer = ctypes.create_string_buffer(100)
            key = LIBC.syscall(250, 10, -4, b"user", b"@MARK@-left", 0)
            if key >= 0: got("the key that another left", key)
        """,
    ),
)
