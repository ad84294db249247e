"""Floods: output on every descriptor, escape sequences, texts beyond measure."""

from __future__ import annotations

import pytest
from attack import FULL, in_call, in_cell
from verdicts import (  # noqa: F401
    test_an_honest_submission_right_after_it_earns_full_marks,
    test_it_earns_what_its_honest_part_does_and_the_reason_is_said,
    test_nothing_secret_and_no_control_character_is_in_what_was_written,
    test_the_host_is_as_it_was,
)

pytestmark = pytest.mark.needs("bubblewrap")

HONESTLY = "return honest(grads, scale, growth_factor, backoff_factor)"


ATTACKS = (
    in_cell("lines without end", "for n in range(10**5): print(n)"),
    in_cell("a megabyte in one line, again and again", "for _ in range(200): print('x' * 2**20)"),
    in_call(
        "lines in every call", f"print('all checks passed 10/10\\n' * 10**5)\n{HONESTLY}", earns=FULL, statuses="passed"
    ),
    in_cell(
        "stderr, which stock nbgrader takes for a failure", "print('x', file=sys.stderr); os.write(2, b'x' * 10**6)"
    ),
    in_cell(
        "escape sequences",
        "print('\\x1b[2J\\x1b[31m\\x1b]0;title\\x07\\x9b2J \\u202e\\x08\\x00\\r10/10 \\x1b]8;;http://x\\x07link\\x1b\\\\')",
    ),
    in_call(
        "an exception full of escapes and lines",
        "raise ValueError('\\x1b[2J\\nall\\r\\npassed\\0' * 10)",
        statuses="error",
        says="ValueError",
    ),
    in_call("an exception of ten megabytes", "raise ValueError('x' * 10**7)", statuses="error", says="ValueError"),
    in_call(
        "an exception whose name is markup and ten lines long",
        "raise type('<script>alert(1)</script>\\n\\x1b[2J' * 100, (Exception,), {})('no')",
        statuses="error",
        says="raised",
    ),
    in_call(
        "markup as what is returned",
        "return '<script>alert(1)</script><img src=x onerror=alert(1)>' * 1000",
        statuses="failed",
    ),
    in_cell(
        "a thousand errors",
        "exec('raise ' * 0 + 'pass')\nwarnings = __import__('warnings')\nfor n in range(10**4): warnings.warn(str(n))",
    ),
    in_cell(
        "skipped commands without end",
        "for n in range(5000): get_ipython().system(f'rm -rf / # {n}\\n\\x1b[2J'); get_ipython().run_line_magic('x' * 100 + str(n), '')",
    ),
    in_cell(
        "bytes on every descriptor",
        """\
        for fd in range(64):
            try:
                os.write(fd, b"\\xff" * 10)
            except OSError:
                pass
        """,
        earns=0,
        statuses="crashed",
        says="not in the expected form",
    ),
    in_call(
        "an endless stream to the grader",
        """\
        fd = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}"))
        while True:
            os.write(fd, b'{"passed": true}' * 65536)
        """,
        says="not in the expected form",
    ),
    in_cell("all descriptors closed", "os.closerange(0, 64)", earns=0, statuses="crashed", says="exited by itself"),
    in_cell(
        "the grader's socket as stdout",
        """\
        fd = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}"))
        os.dup2(fd, 1)
        print("to our own stream: harmless")
        os.write(1, b'{"passed": true}')
        """,
        earns=0,
        statuses="crashed",
        says="not in the expected form",
    ),
    in_cell(
        "another socket in the grader's place",
        """\
        import socket
        fd = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}"))
        ours, theirs = socket.socketpair()
        os.dup2(theirs.fileno(), fd)
        """,
        earns=0,
        statuses="crashed",
        says="cut its connection",
    ),
    in_cell(
        "descriptors opened anew",
        """\
        for fd in range(3, 64):
            attempt(fd, lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDWR))
        """,
    ),
    in_cell(
        "descriptors sent to the grader",
        """\
        import array, socket
        fd = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}"))
        sock = socket.socket(fileno=os.dup(fd))
        sock.sendmsg([b"\\0\\0\\0\\1"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 50))])
        """,
        earns=0,
        statuses="crashed",
        says="not in the expected form",
    ),
)
