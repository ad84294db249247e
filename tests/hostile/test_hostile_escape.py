"""Escape: mounts, namespaces, kernel interfaces, networks, privileges."""

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

ATTACKS = (
    in_cell(
        "mounts",
        """\
        for source, target, kind in ((b"tmpfs", b"/scratch", b"tmpfs"), (b"proc", b"/scratch", b"proc"), (b"/usr", b"/scratch", b"")):
            libc("mount", source, target, kind or None, 0 if kind else 4096, None)
        libc("mount", None, b"/", None, 0x20 | 4096, None)  # remounted, writable
        libc("umount2", b"/proc", 2)
        syscall("open_tree", 428, -100, b"/", 1)
        syscall("fsopen", 430, b"tmpfs", 0)
        """,
    ),
    in_cell(
        "another root",
        """\
        attempt("chroot", lambda: os.chroot("/scratch") or "done")
        libc("pivot_root", b"/scratch", b"/scratch") if hasattr(LIBC, "pivot_root") else syscall("pivot_root", 155, b"/scratch", b"/scratch")
        """,
    ),
    in_cell("a user namespace, in which it would be root", 'libc("unshare", 0x10000000)'),
    in_cell(
        "other namespaces",
        """\
        for kind in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x20000000, 0x40000000):
            libc("unshare", kind)
        for kind in ("mnt", "net", "pid", "user", "ipc", "uts"):
            attempt(kind, lambda: os.open(f"/proc/1/ns/{kind}", os.O_RDONLY))
        """,
    ),
    in_cell(
        "kernel programs and tracing",
        """\
        buffer = ctypes.create_string_buffer(128)
        ctypes.memmove(buffer, (1).to_bytes(4, "little") + (4).to_bytes(4, "little") * 2 + (1).to_bytes(4, "little"), 16)
        syscall("bpf", 321, 0, buffer, 48)
        event = ctypes.create_string_buffer((1).to_bytes(4, "little") + (128).to_bytes(4, "little"), 128)
        syscall("perf_event_open", 298, event, 1, -1, -1, 0)
        syscall("userfaultfd", 323, 0)
        syscall("fanotify_init", 300, 0, 0)
        """,
    ),
    in_cell("io_uring", 'syscall("io_uring_setup", 425, 8, ctypes.create_string_buffer(256))'),
    in_cell(
        "keys",
        """\
        syscall("add_key", 248, b"user", b"@MARK@", b"x", 1, -4)
        syscall("keyctl", 250, 1, None)
        """,
    ),
    in_cell(
        "modules, kernels, clocks, names",
        """\
        syscall("init_module", 175, b"", 0, b"")
        syscall("finit_module", 313, 0, b"", 0)
        syscall("kexec_load", 246, 0, 0, None, 0)
        syscall("swapon", 167, b"/scratch", 0)
        syscall("acct", 163, b"/scratch/acct")
        syscall("iopl", 172, 3)
        libc("sethostname", b"mine", 4)
        import time
        attempt("clock", lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()) or "set")
        """,
    ),
    in_cell(
        "sockets of every kind",
        """\
        import socket
        for family, kind, number in ((17, 3, 3), (2, 3, 1), (10, 3, 58), (40, 1, 0), (38, 5, 0)):
            def act():
                made = socket.socket(family, kind, number)
                if family == 38: made.bind(("hash", "sha256"))
                return made
            if family != 38 and family != 40: attempt(f"socket {family}", act)
        """,
    ),
    in_cell(
        "the grader's listening sockets",
        """\
        import socket
        for family, address in ((socket.AF_INET, ("127.0.0.1", @PORT@)), (socket.AF_UNIX, "\\0@MARK@-@PID@"),
                                (socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET6, ("::1", @PORT@))):
            def act():
                sock = socket.socket(family)
                sock.settimeout(0.3)
                sock.connect(address)
                return address
            attempt(f"connected {address}", act)
        """,
    ),
    in_cell(
        "another user",
        """\
        for call, value in ((os.setuid, 0), (os.setgid, 0), (os.setgroups, [0]), (os.seteuid, 0)):
            attempt(call.__name__, lambda: call(value) or value) if os.getuid() else None
        libc("capset", b"\\x22\\x05\\x08\\x20" + bytes(4), b"\\xff" * 24)
        for what in (38, 4):  # no_new_privs and dumpable, taken back
            LIBC.prctl(what, 0, 0, 0, 0)
        if LIBC.prctl(39, 0, 0, 0, 0) != 1: got("privileges may be gained", 0)
        """,
    ),
    in_call(
        "a program that is somebody else",
        """\
        import glob, stat
        for program in [p for p in glob.glob("/usr/bin/*") if os.lstat(p).st_mode & stat.S_ISUID] + ["/bin/true"]:
            try:
                os.execv(program, [program, "--help"])
            except OSError:
                pass
        """,
        statuses="failed",
        says="returned None alone",
    ),
    in_cell(
        "devices",
        """\
        import stat
        for kind, number in ((stat.S_IFCHR, os.makedev(1, 1)), (stat.S_IFBLK, os.makedev(8, 0))):
            attempt("mknod", lambda: os.mknod("/scratch/device", kind | 0o666, number) or "made")
        for path in ("/dev/mem", "/dev/sda", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/loop-control", "/dev/tty"):
            attempt(path, lambda: os.open(path, os.O_RDWR))
        """,
    ),
    in_cell(
        "files by handle",
        """\
        handle = ctypes.create_string_buffer(144)
        ctypes.memmove(handle, (128).to_bytes(4, "little"), 4)
        mount = ctypes.c_int()
        LIBC.name_to_handle_at(-100, b"/scratch", handle, ctypes.byref(mount), 0)
        libc("open_by_handle_at", os.open("/scratch", os.O_RDONLY), handle, 0)
        """,
    ),
    in_cell(
        "the kernel's switches",
        """\
        for path in ("/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger", "/proc/self/oom_score_adj",
                     "/proc/1/oom_score_adj", "/proc/sys/kernel/core_pattern", "/proc/1/mem", "/sys/fs/cgroup/cgroup.procs"):
            def act():
                with open(path, "w") as file:
                    return file.write("-1000")
            attempt(path, act)
        """,
    ),
    in_cell(
        "a terminal",
        """\
        import fcntl, termios
        for fd in range(64):
            attempt(f"terminal {fd}", lambda: fcntl.ioctl(fd, termios.TIOCSTI, b"x"))
        """,
    ),
    in_cell(
        "paths that lead out",
        """\
        for path in ("/proc/1/root/etc", "/proc/self/root/../../etc/passwd", "../../etc/passwd", "/scratch/../etc/shadow", "/proc/1/cwd/..",
                     "/proc/self/fd/../../1/root"):
            attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else open(path).read())
        os.symlink("/etc", "/scratch/etc")
        attempt("link", lambda: open("/scratch/etc/passwd").read())
        """,
    ),
    in_cell(
        "code of the grader's, rewritten",
        """\
        for path in ("/grader/autograder/observations.py", os.__file__, "/usr/bin/python3", sys.executable):
            attempt(path, lambda: os.open(path, os.O_WRONLY))
            attempt(path, lambda: os.rename(path, path + "x") or "renamed")
            attempt(path, lambda: os.utime(path) or "touched")
            attempt(path, lambda: os.chmod(path, 0o777) or "changed")
        """,
    ),
)
