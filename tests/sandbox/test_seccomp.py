"""The filter of system calls: what it lets pass, listed a second time, and that the program says what the list says.

That it is in force, and what it stops, is tested in ``test_layers``.
"""

from __future__ import annotations

import errno
import re
import socket
from pathlib import Path

import machine
import pytest

from autograder.sandbox import bpf, seccomp, syscalls
from autograder.sandbox.syscalls import ALLOW, DONE, EAGAIN, ENOSYS, ENOTSUP, ENOTTY, EPERM, KILL


def words(text: str) -> list[str]:
    return text.split()


ALLOWED = words("""
access alarm brk chdir chmod clock_getres clock_gettime clock_nanosleep close close_range copy_file_range creat dup dup2
dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait exit exit_group faccessat faccessat2
fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fdatasync fgetxattr flistxattr flock fstat fstatfs fsync
ftruncate futex futex_waitv futimesat getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer
getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid
getsockname getsockopt gettid gettimeofday getuid getxattr lgetxattr link linkat listxattr llistxattr lseek lstat
madvise membarrier mincore mkdir mkdirat mmap mprotect mremap msync munmap nanosleep newfstatat open openat openat2
pause pipe pipe2 poll ppoll pread64 preadv preadv2 pselect6 pwrite64 pwritev pwritev2 read readlink readlinkat readv
recvfrom recvmsg rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask
rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_get_priority_max sched_get_priority_min sched_getaffinity
sched_getparam sched_getscheduler sched_yield select sendfile sendmsg sendto set_robust_list set_tid_address setitimer
setrlimit setsockopt shutdown sigaltstack stat statfs statx symlink symlinkat sysinfo time times truncate umask uname
unlink unlinkat utime utimensat utimes wait4 waitid write writev
""")
KILLED = words("""
acct bpf chroot create_module delete_module finit_module fsconfig fsmount fsopen fspick init_module ioperm iopl kcmp
kexec_file_load kexec_load modify_ldt mount mount_setattr move_mount name_to_handle_at open_by_handle_at open_tree
pidfd_getfd pivot_root process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot setns swapoff swapon
umount2 unshare userfaultfd
""")
OWN = 4711
GIB = 2**32
JUDGED = [
    ("clone", (0x1200011,), EAGAIN),  # fork
    ("clone", (0x3D0F00,), EAGAIN),  # a thread
    *(("clone", (17 | 1 << bit,), KILL) for bit in (7, 17, 25, 26, 27, 28, 29, 30)),  # each kind of namespace
    ("clone3", (1, 88), EAGAIN),
    ("fork", (), EAGAIN),
    ("vfork", (), EAGAIN),
    ("kill", (OWN, 9), ALLOW),
    ("kill", (0, 9), ALLOW),
    *(("kill", (other, 9), EPERM) for other in (1, 2, OWN + 1, GIB - 1, GIB - OWN)),
    ("tkill", (OWN, 6), ALLOW),
    ("tkill", (1, 6), EPERM),
    ("tgkill", (OWN, OWN, 6), ALLOW),
    ("tgkill", (1, OWN, 6), EPERM),
    ("prlimit64", (0, 7), ALLOW),
    ("prlimit64", (1, 7), EPERM),
    ("prlimit64", (OWN, 7), EPERM),
    ("socketpair", (socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC, 0), ALLOW),
    ("socketpair", (socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, 0), EPERM),
    ("socketpair", (socket.AF_INET, socket.SOCK_STREAM, 0), EPERM),
    ("ioctl", (1, 0x5401), ALLOW),  # TCGETS: isatty
    ("ioctl", (1, GIB | 0x5412), KILL),  # TIOCSTI; the kernel takes no notice of the upper half, and nor do we
    ("ioctl", (1, 0x541C), KILL),  # TIOCLINUX
    ("ioctl", (1, 0x8912), ENOTTY),  # SIOCGIFCONF
    ("prctl", (15,), ALLOW),  # the name of a thread
    ("prctl", (4, 1), EPERM),  # dumpable
    ("prctl", (22, 2), EPERM),  # a filter of its own
    ("prctl", (29, 1), EPERM),  # timer slack
    *(("fcntl", (3, command), ALLOW) for command in (0, 1, 2, 3, 4, 5, 1030, 1032)),
    *(("fcntl", (3, command), DONE) for command in (6, 7)),  # F_SETLK, F_SETLKW
    *(("fcntl", (3, command), EPERM) for command in (8, 10, 15, 37, 38, 1024, 1026, 1031)),  # owner, lease, size, ...
    ("fcntl", (3, GIB | 6), DONE),
    ("setxattr", (), ENOTSUP),
]
NOT_NAMED = words("""
execve execveat socket connect bind listen accept accept4 memfd_create memfd_secret io_uring_setup io_uring_enter
io_uring_register perf_event_open keyctl add_key request_key shmget shmat msgget semget mq_open personality ioprio_set
setpriority sched_setaffinity sched_setscheduler sched_setattr pidfd_open pidfd_send_signal rt_sigqueueinfo mknod
mknodat chown fchownat setuid setgid setgroups setsid seccomp landlock_restrict_self syslog timerfd_create inotify_init1
""")


def answer(architecture: str, name: str, arguments: tuple[int, ...] = ()) -> int:
    code = seccomp.make(architecture).of_process(OWN)
    number = syscalls.numbers(architecture)[name]
    return machine.run(code, number, seccomp.ARCHITECTURES[architecture], arguments)


def test_what_is_allowed_and_what_ends_a_submission_changes_here_too() -> None:
    assert sorted(syscalls.ALLOWED) == ALLOWED
    assert sorted(syscalls.KILLED) == KILLED


def test_what_is_forbidden_is_in_no_list() -> None:
    for name in NOT_NAMED:
        assert syscalls.answer(name) == EPERM, name


@pytest.mark.parametrize("architecture", seccomp.ARCHITECTURES)
def test_the_program_says_what_the_lists_say_of_every_number(architecture: str) -> None:
    known = {number: name for name, number in syscalls.numbers(architecture).items()}
    code = seccomp.make(architecture).of_process(OWN)
    for number in range(1200):
        said = machine.run(code, number, seccomp.ARCHITECTURES[architecture])
        name = known.get(number, "")
        if name in ALLOWED:
            assert said == ALLOW, name
        elif name in KILLED:
            assert said == KILL, name
        elif not name:
            assert said == (EPERM if number <= syscalls.NEWEST else ENOSYS), number


@pytest.mark.parametrize("architecture", seccomp.ARCHITECTURES)
def test_arguments_decide_where_it_matters(architecture: str) -> None:
    names = syscalls.numbers(architecture)
    for name, arguments, expected in JUDGED:
        if name in names:
            assert answer(architecture, name, arguments) == expected, (name, arguments)
    assert {name for name, _, _ in JUDGED} >= set(syscalls.JUDGED) - {
        "arch_prctl", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
    }  # fmt: skip


def test_a_matrix_unit_may_be_asked_for_as_the_reference_does() -> None:
    assert [answer("x86_64", "arch_prctl", (code,)) for code in (0x1022, 0x1023, 0x1002)] == [ALLOW, ALLOW, EPERM]


@pytest.mark.parametrize("architecture", seccomp.ARCHITECTURES)
@pytest.mark.parametrize("other", [0x4000_0003, 0x4000_0028, 0xC000_003E, 0xC000_00B7, 0])
def test_calls_of_another_architecture_end_it(architecture: str, other: int) -> None:
    if other != seccomp.ARCHITECTURES[architecture]:
        code = seccomp.make(architecture).of_process(OWN)
        assert {machine.run(code, number, other) for number in (0, 11, 39, 172)} == {KILL}


@pytest.mark.parametrize("number", [0, 39, 512, 547])
def test_calls_by_their_x32_numbers_end_it(number: int) -> None:
    code = seccomp.make("x86_64").of_process(OWN)
    assert machine.run(code, seccomp.X32 | number, seccomp.ARCHITECTURES["x86_64"]) == KILL
    assert machine.run(code, 2**32 - 1, seccomp.ARCHITECTURES["x86_64"]) == KILL


def test_an_answer_is_found_in_few_steps() -> None:
    """The kernel runs a filter for every number when it is loaded, so a search from one end would cost each child."""
    for architecture in seccomp.ARCHITECTURES:
        assert len(seccomp.program(architecture)) < 400
        assert deepest(seccomp.program(architecture)) <= 30


def deepest(code: bpf.Code) -> int:
    steps = [0] * len(code)
    for at in reversed(range(len(code))):
        step = code[at]
        following = {at + 1}
        if step.code in (bpf.EQUAL, bpf.AT_LEAST):
            following = {at + 1 + step.jt, at + 1 + step.jf}
        elif step.code == bpf.JUMP:
            following = {at + 1 + step.k}
        steps[at] = 1 + (0 if step.code == bpf.RETURN else max(steps[place] for place in following))
    return steps[0]


def test_of_an_architecture_that_is_not_listed_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert syscalls.numbers("riscv64") == {}
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert not seccomp.offered()


@pytest.mark.needs("linux-libc-dev")
def test_the_numbers_are_those_of_the_kernels_headers() -> None:
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    found = re.findall(r"#define __NR_(\w+) (\d+)\n", header.read_text())
    known = {name: int(number) for name, number in found}
    ours = syscalls.numbers("x86_64")
    assert {name: number for name, number in ours.items() if name in known and known[name] != number} == {}
    assert set(ours) - set(known) <= {"fchmodat2"}  # newer than some headers
    assert set(NOT_NAMED) - set(known) <= {"memfd_secret"}


@pytest.mark.needs("linux-libc-dev")
def test_aarch64_has_the_generic_numbers() -> None:
    header = Path("/usr/include/asm-generic/unistd.h")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\n", header.read_text())
    known = {name: int(number) for name, number in found}
    known |= {"newfstatat": known["fstatat"]} if "fstatat" in known else {}
    ours = syscalls.numbers("aarch64")
    assert {name: (number, known.get(name)) for name, number in ours.items() if known.get(name) != number} in (
        {}, {"fchmodat2": (452, None)},
    )  # fmt: skip


def test_answers_are_the_kernels_words() -> None:
    assert EPERM & 0xFFFF == errno.EPERM
    assert {word >> 16 for word in (EPERM, EAGAIN, ENOSYS, ENOTSUP, ENOTTY)} == {5}
    assert (ALLOW, KILL) == (0x7FFF0000, 0x80000000)
