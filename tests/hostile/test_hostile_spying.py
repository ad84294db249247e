"""Spying: what is expected, who else handed in, what this machine holds."""

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

HONESTLY = "return honest(grads, scale, growth_factor, backoff_factor)"

ATTACKS = (
    in_call(
        "frames of all who called",
        f"""\
        here = sys._getframe()
        while here:
            for names in (here.f_locals, here.f_globals):
                for name in ("expected", "want", "judge", "plan", "expectations", "solution", "secret", "points", "CHECKS"):
                    if name in names: got(name, names[name])
            here = here.f_back
        {HONESTLY}
        """,
        earns=10,
        statuses="passed",
    ),
    in_call(
        "all objects of the process",
        f"""\
        import gc
        if not seen:
            seen.append(1)
            gc.unfreeze()
            for thing in gc.get_objects():
                name = type(thing).__name__
                if name in ("Exercise", "Check", "Plan", "Expectations", "Expected", "Score", "Submission", "Answer"):
                    got("an object", name)
        {HONESTLY}
        """,
        before="seen = []",
        earns=10,
        statuses="passed",
    ),
    in_cell(
        "modules that judge",
        """\
        import importlib
        for name in ("grading", "attempt", "plan", "catalog", "reference", "recorded", "secret", "gradebook", "pipeline",
                     "notebooks", "collect", "recognize", "known", "prove"):
            attempt(name, lambda: importlib.import_module(f"autograder.{name}"))
            if f"autograder.{name}" in sys.modules: got("a module", name)
        """,
    ),
    in_cell(
        "sources by inspect",
        """\
        import inspect
        for frame in inspect.stack():
            attempt("source", lambda: [line for line in inspect.getsource(frame.frame).split("\\n") if "solution" + "s/" in line][0])
        """,
    ),
    in_cell(
        "the environment",
        """\
        text = repr(dict(os.environ))
        for path in ("/proc/self/environ", "/proc/1/environ", "/proc/@PID@/environ"):
            try:
                text += open(path).read()
            except OSError:
                pass
        for word in ("CANARY", "@HOME@", "@CWD@"):
            if word in text: got("environment", word)
        print(text)
        """,
    ),
    in_cell(
        "home, working folder, checkout",
        """\
        for path in ("@HOME@", "@HOME@/.ssh/canary.txt", "@CWD@/canary.txt", "@ROOT@/solutions", "@ROOT@/exercises",
                     "@ROOT@/.git", "@ROOT@/.course_secret", "/etc/passwd", "/etc/shadow"):
            attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else open(path).read())
        """,
    ),
    in_cell(
        "others' submissions and the gradebook",
        """\
        for path in ("@TREE@", "@TREE@/victim/notes/canary.txt", "@OUT@", "@OUT@/gradebook.db", "@OUT@/canary.txt"):
            attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else open(path, "rb").read())
        """,
    ),
    in_cell(
        "notebooks anywhere",
        """\
        for folder, folders, files in os.walk("/"):
            if folder in ("/proc", "/usr", "/dev", sys.prefix, sys.base_prefix): folders.clear()
            for name in files:
                if name.endswith(".ipynb") or name in ("gradebook.db", "recorded.json", "canary.txt"): got("a file", name)
        """,
    ),
    in_cell(
        "processes of others",
        """\
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) not in (1, os.getpid()): got("a process", name)
        for name in ("@PID@", "self/task/../../@PID@"):
            attempt(name, lambda: os.listdir(f"/proc/{name}/fd"))
        """,
    ),
    in_cell(
        "memory of the warm process",
        """\
        for what in ("mem", "maps", "fd", "environ", "root", "cwd", "exe", "task/1/mem", "map_files", "stack", "auxv"):
            path = f"/proc/1/{what}"
            attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else os.open(path, os.O_RDONLY))
        for request in (16, 0x4206):  # attach, seize
            libc("ptrace", request, 1, 0, 0)
        class Part(ctypes.Structure):
            _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
        buffer = ctypes.create_string_buffer(8)
        part = Part(ctypes.addressof(buffer), 8)
        libc("process_vm_readv", 1, ctypes.byref(part), 1, ctypes.byref(Part(id(None), 8)), 1, 0)
        syscall("pidfd_getfd", 438, os.pidfd_open(1), 3, 0)
        """,
    ),
    in_call(
        "the question after this one",
        f"""\
        import socket
        fd = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{{n}}"))
        sock = socket.socket(fileno=os.dup(fd))
        attempt("a question to come", lambda: sock.recv(100, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        {HONESTLY}
        """,
        earns=10,
        statuses="passed",
    ),
    in_cell(
        "the grader's own questions, asked by itself",
        """\
        import socket, struct
        fd = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}"))
        sock = socket.socket(fileno=os.dup(fd))
        sock.sendall(struct.pack(">I", 14) + b'{"do": "fork"}')
        sock.settimeout(0.2)
        attempt("an answer", lambda: sock.recv(4) or 1 / 0)
        """,
        earns=0,
        statuses="crashed",
        says="not in the expected form",
    ),
    in_cell(
        "what torch left in memory",
        """\
        import torch
        for _ in range(50):
            data = torch.empty(2**16, dtype=torch.uint8).numpy().tobytes()
            if b"can" + b"ary-" in data: got("memory", data[:20])
        """,
    ),
    in_cell(
        "kernel logs and keys",
        """\
        for path in ("/dev/kmsg", "/proc/kcore", "/proc/kallsyms", "/proc/keys", "/sys/kernel", "/proc/sched_debug"):
            if path == "/proc/kallsyms":
                attempt(path, lambda: [line for line in open(path) if not line.startswith("0000000000000000")][0])
            elif path == "/proc/keys":
                attempt(path, lambda: [line for line in open(path) if "canary" in line][0])
            else:
                attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(10))
        """,
    ),
)
