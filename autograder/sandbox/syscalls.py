"""The system calls that a submission may make, by name: the whole policy, as data. ``seccomp`` makes a filter of it.

Five answers, besides going ahead:

- ``KILL``: only an attack makes this call. The submission ends at once, and its record says so.
- ``EPERM``: not needed here. The answer for every call that is not named below, so that honest code which tries
  (a socket, a semaphore) gets an ordinary exception.
- ``EAGAIN``: a new process or thread. What the limit on processes answers, too, and what libraries know how to take.
- ``ENOSYS``: what libraries take for an old kernel, whose ways they then use. For calls newer than this list.
- ``DONE``: the call succeeds and does nothing.

Nothing here depends on which exercise is graded. A change shows in ``tests/sandbox/test_seccomp.py``, which lists what
is allowed a second time.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Final

ALLOW: Final = 0x7FFF_0000
"""SECCOMP_RET_ALLOW."""
KILL: Final = 0x8000_0000
"""SECCOMP_RET_KILL_PROCESS."""
_ERRNO: Final = 0x0005_0000
DONE: Final = _ERRNO
EPERM: Final = _ERRNO | errno.EPERM
EAGAIN: Final = _ERRNO | errno.EAGAIN
ENOSYS: Final = _ERRNO | errno.ENOSYS
ENOTSUP: Final = _ERRNO | errno.ENOTSUP
ENOTTY: Final = _ERRNO | errno.ENOTTY

SELF: Final = 0x7FFF_FFF1
"""Stands for the submission's own process number, which is known only once it has been forked."""


@dataclass(frozen=True, slots=True)
class When:
    """An answer that depends on an argument, of which the kernel reads the lower four bytes only."""

    argument: int
    values: tuple[int, ...]
    then: int | When
    otherwise: int | When
    mask: int = 0xFFFF_FFFF
    """Bits of the argument that are compared."""


Answer = int | When

_NEW_NAMESPACES: Final = 0x7E02_0080
"""CLONE_NEWUSER, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWCGROUP, NEWNS, NEWTIME."""
_UNIX, _STREAM, _KIND = 1, 1, 0xF
_TO_ITSELF: Final = When(0, (SELF,), ALLOW, EPERM)
_TO_ITS_GROUP: Final = When(0, (0, SELF), ALLOW, EPERM)  # nobody else is in it


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


ALLOWED: Final = _names("""
    read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek
    open openat openat2 creat close close_range dup dup2 dup3 flock pipe pipe2 sendfile copy_file_range
    stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 getdents getdents64
    readlink readlinkat getcwd chdir fchdir umask
    rename renameat renameat2 mkdir mkdirat rmdir unlink unlinkat link linkat symlink symlinkat
    chmod fchmod fchmodat fchmodat2 utime utimes futimesat utimensat
    truncate ftruncate fallocate fadvise64 fsync fdatasync
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
    mmap munmap mprotect mremap madvise brk msync mincore
    epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 poll ppoll select pselect6
    sendto recvfrom sendmsg recvmsg getsockopt setsockopt getsockname getpeername shutdown
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack
    alarm setitimer getitimer pause nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times
    futex futex_waitv set_robust_list set_tid_address rseq membarrier sched_yield restart_syscall
    getpid getppid gettid getuid geteuid getgid getegid getresuid getresgid getgroups getpgid getpgrp getsid
    getrusage getcpu sched_getaffinity sched_getscheduler sched_getparam getpriority
    sched_get_priority_max sched_get_priority_min
    getrlimit setrlimit wait4 waitid getrandom uname sysinfo exit exit_group
""")
"""Files, memory, time, signals to itself, what asyncio needs; and asking about itself. Files are Landlock's affair."""

KILLED: Final = _names("""
    ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd
    mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree mount_setattr unshare setns
    bpf userfaultfd kexec_load kexec_file_load init_module finit_module delete_module create_module
    name_to_handle_at open_by_handle_at reboot swapon swapoff acct quotactl quotactl_fd iopl ioperm modify_ldt
""")
"""Other processes' memory, the file system's make-up, namespaces, the kernel itself: no library tries these."""

JUDGED: Final[dict[str, Answer]] = {
    # A new process or thread; new namespaces with it, only an attack wants. clone3 keeps its wishes in memory.
    "clone": When(0, (0,), EAGAIN, KILL, mask=_NEW_NAMESPACES),
    "clone3": EAGAIN,
    "fork": EAGAIN,
    "vfork": EAGAIN,
    # Signals to itself: raise, abort, a timer's handler.
    "kill": _TO_ITS_GROUP,
    "tkill": _TO_ITSELF,
    "tgkill": _TO_ITSELF,
    # Its own limits: 0, not its number, is what Python and the C library write.
    "prlimit64": When(0, (0,), ALLOW, EPERM),
    # Locks on a file's bytes the kernel keeps without end, and they keep off other processes only: here is none. Of the
    # rest, what is about a descriptor: copies, flags (1 to 4), whether another holds a lock, a pipe's size.
    "fcntl": When(1, (6, 7), DONE, When(1, (0, 1, 2, 3, 4, 5, 1030, 1032), ALLOW, EPERM)),
    # No socket reaches anything. A connected pair, which asyncio wakes itself with, reaches its own other end.
    "socketpair": When(0, (_UNIX,), When(1, (_STREAM,), ALLOW, EPERM, mask=_KIND), EPERM),
    # Is it a terminal, its size, close at exec, blocking or not, bytes to read. Never: typing into a terminal.
    "ioctl": When(1, (0x5401, 0x5413, 0x5450, 0x5451, 0x5421, 0x541B), ALLOW, When(1, (0x5412, 0x541C), KILL, ENOTTY)),
    # PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP, PR_GET_NO_NEW_PRIVS; not dumpable, timer slack, ...
    "prctl": When(0, (3, 15, 16, 21, 39), ALLOW, EPERM),
    # ARCH_GET_XCOMP_SUPP, _PERM, ARCH_REQ_XCOMP_PERM: a matrix unit, without which torch would round another way here
    # than it does in the reference.
    "arch_prctl": When(0, (0x1021, 0x1022, 0x1023), ALLOW, EPERM),
    # Copying a file copies its attributes, and shutil takes this answer for none.
    **dict.fromkeys(("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"), ENOTSUP),
}
"""What is answered by looking at an argument, or in a way of its own."""

NEWEST: Final = 469
"""The highest number that any call had when this list was made (Linux 6.17)."""

_TABLE: Final = """
    access 21 -, acct 163 89, alarm 37 -, arch_prctl 158 -, bpf 321 280, brk 12 214, chdir 80 49, chmod 90 -,
    chroot 161 51, clock_getres 229 114, clock_gettime 228 113, clock_nanosleep 230 115, clone 56 220, clone3 435 435,
    close 3 57, close_range 436 436, copy_file_range 326 285, creat 85 -, create_module 174 -, delete_module 176 106,
    dup 32 23, dup2 33 -, dup3 292 24, epoll_create 213 -, epoll_create1 291 20, epoll_ctl 233 21, epoll_pwait 281 22,
    epoll_pwait2 441 441, epoll_wait 232 -, exit 60 93, exit_group 231 94, faccessat 269 48, faccessat2 439 439,
    fadvise64 221 223, fallocate 285 47, fchdir 81 50, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, fcntl 72 25,
    fdatasync 75 83, fgetxattr 193 10, finit_module 313 273, flistxattr 196 13, flock 73 32, fork 57 -,
    fremovexattr 199 16, fsconfig 431 431, fsetxattr 190 7, fsmount 432 432, fsopen 430 430, fspick 433 433,
    fstat 5 80, fstatfs 138 44, fsync 74 82, ftruncate 77 46, futex 202 98, futex_waitv 449 449, futimesat 261 -,
    getcpu 309 168, getcwd 79 17, getdents 78 -, getdents64 217 61, getegid 108 177, geteuid 107 175, getgid 104 176,
    getgroups 115 158, getitimer 36 102, getpeername 52 205, getpgid 121 155, getpgrp 111 -, getpid 39 172,
    getppid 110 173, getpriority 140 141, getrandom 318 278, getresgid 120 150, getresuid 118 148, getrlimit 97 163,
    getrusage 98 165, getsid 124 156, getsockname 51 204, getsockopt 55 209, gettid 186 178, gettimeofday 96 169,
    getuid 102 174, getxattr 191 8, init_module 175 105, ioctl 16 29, ioperm 173 -, iopl 172 -, kcmp 312 272,
    kexec_file_load 320 294, kexec_load 246 104, kill 62 129, lgetxattr 192 9, link 86 -, linkat 265 37,
    listxattr 194 11, llistxattr 195 12, lremovexattr 198 15, lseek 8 62, lsetxattr 189 6, lstat 6 -, madvise 28 233,
    membarrier 324 283, mincore 27 232, mkdir 83 -, mkdirat 258 34, mmap 9 222, modify_ldt 154 -, mount 165 40,
    mount_setattr 442 442, move_mount 429 429, mprotect 10 226, mremap 25 216, msync 26 227, munmap 11 215,
    name_to_handle_at 303 264, nanosleep 35 101, newfstatat 262 79, open 2 -, open_by_handle_at 304 265,
    open_tree 428 428, openat 257 56, openat2 437 437, pause 34 -, pidfd_getfd 438 438, pipe 22 -, pipe2 293 59,
    pivot_root 155 41, poll 7 -, ppoll 271 73, prctl 157 167, pread64 17 67, preadv 295 69, preadv2 327 286,
    prlimit64 302 261, process_vm_readv 310 270, process_vm_writev 311 271, pselect6 270 72, ptrace 101 117,
    pwrite64 18 68, pwritev 296 70, pwritev2 328 287, quotactl 179 60, quotactl_fd 443 443, read 0 63, readlink 89 -,
    readlinkat 267 78, readv 19 65, reboot 169 142, recvfrom 45 207, recvmsg 47 212, removexattr 197 14, rename 82 -,
    renameat 264 38, renameat2 316 276, restart_syscall 219 128, rmdir 84 -, rseq 334 293, rt_sigaction 13 134,
    rt_sigpending 127 136, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigsuspend 130 133, rt_sigtimedwait 128 137,
    sched_get_priority_max 146 125, sched_get_priority_min 147 126, sched_getaffinity 204 123, sched_getparam 143 121,
    sched_getscheduler 145 120, sched_yield 24 124, select 23 -, sendfile 40 71, sendmsg 46 211, sendto 44 206,
    set_robust_list 273 99, set_tid_address 218 96, setitimer 38 103, setns 308 268, setrlimit 160 164,
    setsockopt 54 208, setxattr 188 5, shutdown 48 210, sigaltstack 131 132, socketpair 53 199, stat 4 -,
    statfs 137 43, statx 332 291, swapoff 168 225, swapon 167 224, symlink 88 -, symlinkat 266 36, sysinfo 99 179,
    tgkill 234 131, time 201 -, times 100 153, tkill 200 130, truncate 76 45, umask 95 166, umount2 166 39,
    uname 63 160, unlink 87 -, unlinkat 263 35, unshare 272 97, userfaultfd 323 282, utime 132 -, utimensat 280 88,
    utimes 235 -, vfork 58 -, wait4 61 260, waitid 247 95, write 1 64, writev 20 66
"""  # name, number on x86-64, number on aarch64; "-" where there is no such call


def numbers(machine: str) -> dict[str, int]:
    """Return the number of each call named here that an architecture has; empty for one that is not known.

    Args:
        machine: as ``platform.machine`` names it.
    """
    column = {"x86_64": 1, "aarch64": 2}.get(machine)
    if column is None:
        return {}
    rows = [row.split() for row in _TABLE.split(",")]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


def answer(name: str) -> Answer:
    """Return the policy on a call."""
    if name in ALLOWED:
        return ALLOW
    return KILL if name in KILLED else JUDGED.get(name, EPERM)
