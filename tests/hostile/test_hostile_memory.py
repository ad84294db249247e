"""Ways to exhaust memory, processes and space."""

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
SECONDS = 30.0
"""No attack here is one on time; where other tests hold the memory, half a gigabyte may take seconds to be given."""

ATTACKS = (
    in_call("ten gigabytes at once", "return bytearray(10**10)", statuses="memory", says="ran out of memory"),
    in_call(
        "a list that grows",
        "kept = []\nwhile True: kept.append(bytes(2**26))",
        statuses="memory",
        says="ran out of memory",
    ),
    in_call(
        "a list that grows whatever happens",
        """\
        for _ in range(8):
            try:
                kept.append(bytearray(2**27))
            except MemoryError:
                pass
        if len(kept) * 2**27 > 2**29:
            got("memory", len(kept))
        return None
        """,
        before="kept = []",
        statuses="failed",
    ),
    in_call(
        "a tensor of 400 GB",
        "import torch; return torch.ones(10**11), 1.0",
        statuses="memory",
        says="ran out of memory",
    ),
    in_call(
        "tensors, one after the other",
        "import torch\nkept = []\nwhile True: kept.append(torch.empty(2**24))",
        statuses="memory",
        says="ran out of memory",
    ),
    in_call("an integer of a gigabyte", "return 1 << 2**33", statuses="memory", says="ran out of memory"),
    in_call("a text of ten gigabytes, printed", "print('x' * 10**10)", statuses="memory", says="ran out of memory"),
    in_call("a recursion", "return grad_scaler_step(grads, scale)", statuses="error", says="RecursionError"),
    in_call(
        "a recursion without its limit",
        "sys.setrecursionlimit(2**31 - 1)\nreturn deep(grads)",
        before="def deep(x):\n    return repr(Deep())\nclass Deep:\n    def __repr__(self): return str([self])",
    ),
    in_cell(
        "forks and threads",
        """\
        import multiprocessing, subprocess, threading
        for _ in range(20):
            attempt("fork", os.fork)
            attempt("thread", lambda: threading.Thread(target=print).start() or "started")
            attempt("process", lambda: multiprocessing.Process(target=print).start() or "started")
            attempt("command", lambda: subprocess.run(["/bin/true"]))
            attempt("posix_spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
        """,
    ),
    in_cell(
        "a full disk",
        """\
        written = 0
        try:
            for number in range(200):
                with open(f"/scratch/{number}", "wb") as file:
                    written += file.write(bytes(2**20))
        except OSError:
            pass
        if written > 100 * 2**20:
            got("space", written)
        attempt("a large file", lambda: open("/scratch/large", "wb").truncate(2**30))
        """,
    ),
    in_call(
        "empty files without end",
        "global made\nwhile True:\n    made += 1\n    os.close(os.open(f'/scratch/{made}', os.O_CREAT))",
        before="made = 0",
        says="more than 2,000 files",
    ),
    in_call(
        "folders without end, once it has closed its connection",
        """\
        import socket
        fd = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}"))
        socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RDWR)
        global made
        while True:
            made += 1
            os.mkdir(f"/scratch/{made}")
        """,
        before="made = 0",
        says="more than 2,000 files",
    ),
    in_cell(
        "empty files without end, before the answer",
        "for number in range(10**7):\n    os.close(os.open(f'/scratch/{number}', os.O_CREAT))",
        earns=0.0,
        statuses="crashed",
        says="more than 2,000 files",
    ),
    in_call(
        "names of one file without end",
        "os.close(os.open('/scratch/one', os.O_CREAT))\nglobal made\nwhile True:\n    made += 1\n    "
        "os.link('/scratch/one', f'/scratch/{made}')",
        before="made = 0",
        says="more than 2,000 files",
    ),
    in_cell(
        "memory that is a file",
        """\
        def act():
            file = os.memfd_create("m")
            os.truncate(file, 2**25)
        attempt("truncate", lambda: act() or "done")
        def act():
            file, written = os.memfd_create("m"), 0
            while written < 2**25:
                written += os.write(file, bytes(2**20))
            return written
        attempt("memfd", act)
        """,
    ),
    in_cell(
        "memory shared with nobody",
        """\
        import mmap
        kept = []
        def act():
            while len(kept) < 8:
                kept.append(mmap.mmap(-1, 2**28))
            return "2 GiB"
        attempt("mmap", act)
        del kept
        """,
    ),
    in_cell(
        "locks without end",
        """\
        import fcntl, struct
        lock = os.open("/scratch/lock", os.O_CREAT | os.O_RDWR)
        def of(kind, start, size):
            return struct.pack("hhqqi4x", kind, 0, start, size, 0)
        for command in (fcntl.F_SETLK, fcntl.F_OFD_SETLK):
            try:
                fcntl.fcntl(lock, command, of(fcntl.F_WRLCK, 0, 0))
                for number in range(1000, 0, -1):
                    fcntl.fcntl(lock, command, of(fcntl.F_UNLCK, 2 * number, 1))
            except OSError:
                pass
        if (kept := len(open("/proc/locks").readlines())) > 500:
            got("locks", kept)
        """,
    ),
    in_cell(
        "System V memory that nobody holds",
        """\
        LIBC.shmat.restype = ctypes.c_void_p
        LIBC.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
        LIBC.shmdt.argtypes = [ctypes.c_void_p]
        held = 0
        for number in range(4):  # together twice the limit; a page of each is touched
            segment = LIBC.shmget(0x4711 + number, 2**28, 0o1666)
            place = LIBC.shmat(segment, None, 0) if segment >= 0 else None
            if place and place != 2**64 - 1:
                ctypes.memset(place, 1, 4096)
                LIBC.shmdt(place)
                held += 2**28
        if held > 2**29:
            got("System V memory", held)
        """,
    ),
    in_cell(
        "limits raised again",
        """\
        import resource
        for name in ("DATA", "AS", "NPROC", "FSIZE", "NOFILE", "CPU", "CORE", "MSGQUEUE"):
            kind = getattr(resource, f"RLIMIT_{name}")
            for limit in ((2**40, 2**40), (-1, -1)):
                attempt(name, lambda: resource.setrlimit(kind, limit) or name)
        """,
    ),
    in_cell(
        "descriptors without end",
        "kept = []\nattempt('pipes', lambda: [kept.append(os.pipe()) for _ in range(40)])\ndel kept",
    ),
)
