"""Ways to take for ever. Each costs less than its budget, whatever it loops in."""

from __future__ import annotations

import pytest
from arena import Fight
from attack import in_call, in_cell
from verdicts import (  # noqa: F401
    test_an_honest_submission_right_after_it_earns_full_marks,
    test_it_earns_what_its_honest_part_does_and_the_reason_is_said,
    test_nothing_secret_and_no_control_character_is_in_what_was_written,
    test_the_host_is_as_it_was,
)

pytestmark = pytest.mark.needs("bubblewrap")

SECONDS = 0.8
NEVER = {"statuses": "timeout not_run", "says": "endless loop"}

ATTACKS = (
    in_cell("a loop in a cell", "while True: pass", earns=0, statuses="timeout", says="cells did not finish"),
    in_cell("a sleep in a cell", "import time; time.sleep(10**6)", earns=0, statuses="timeout", says="did not finish"),
    in_call("a loop in a call", "while True: pass", **NEVER),
    in_call("a sleep in a call", "import time; time.sleep(10**6)", **NEVER),
    in_call(
        "a sleep once it has closed its connection, and then an end",
        """\
        import socket, time
        fd = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}"))
        socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RDWR)
        time.sleep(1.0)
        os._exit(0)
        """,
        statuses="crashed not_run",
        says="exited by itself",
    ),
    in_call(
        "a loop that swallows everything",
        """\
        import signal
        for number in range(1, 65):
            try:
                signal.signal(number, lambda *_: None)
            except (OSError, ValueError):
                pass
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
        """,
        **NEVER,
    ),
    in_call("stops itself", "import signal; os.kill(os.getpid(), signal.SIGSTOP)", **NEVER),
    in_call("a power that no one waits for", "return 9 ** 9 ** 9", **NEVER),
    in_call("a regular expression", "import re; return re.match('(a*)*b', 'a' * 64)", **NEVER),
    in_call(
        "a pickle of billions",
        """\
        import pickle
        thing = []
        for _ in range(40):
            thing = [thing, thing]
        return pickle.loads(pickle.dumps(thing)) == pickle.loads(pickle.dumps(thing))
        """,
        **NEVER,
    ),
    in_call(
        "a finalizer that loops",
        "Slow()\nreturn honest(grads, scale, growth_factor, backoff_factor)",
        before="class Slow:\n    def __del__(self):\n        while True: pass",
        **NEVER,
    ),
    in_call(
        "a repr that loops",
        "return Slow(), 1.0",
        before="class Slow:\n    def __repr__(self):\n        while True: pass",
        **NEVER,
    ),
    in_call(
        "a class attribute that loops when it is looked at",
        "return Slow()",
        before="class Slow:\n    @property\n    def __class__(self):\n        while True: pass",
        **NEVER,
    ),
    in_call(
        "an exception whose text never ends",
        "raise Slow",
        before="class Slow(Exception):\n    def __str__(self):\n        while True: pass",
        **NEVER,
    ),
    in_call(
        "an audit hook that loops",
        "return honest(grads, scale, growth_factor, backoff_factor)",
        before="def hook(*_):\n    while ready: pass\nready = False\nsys.addaudithook(hook)\nready = True",
        statuses="timeout",
        says="did not finish",
    ),
    in_call(
        "a trace function that loops",
        "sys.settrace(trace)\nreturn honest(grads, scale)",
        before="def trace(*_):\n    while True: pass",
        **NEVER,
    ),
    in_call(
        "a collection that never ends",
        "import gc\ngc.callbacks.append(loop)\ngc.collect()\nreturn None, 1.0",
        before="def loop(*_):\n    while True: pass",
        **NEVER,
    ),
    in_call(
        "a timer whose handler loops",
        "import signal, time\nsignal.signal(14, loop)\nsignal.setitimer(0, 0.001)\ntime.sleep(1)",
        before="def loop(*_):\n    while True: pass",
        **NEVER,
    ),
    in_cell(
        "builtins, patched",
        """\
        import builtins
        builtins.type = lambda *_: float
        builtins.isinstance = builtins.issubclass = builtins.all = builtins.any = lambda *_: True
        builtins.len = lambda *_: 2
        """,
        earns=0,
        statuses="timeout",
        says="did not finish",
    ),
    in_call(
        "a frame that never ends, byte by byte",
        """\
        import struct, time
        fd = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}"))
        os.write(fd, struct.pack(">I", 1000))
        while True:
            os.write(fd, b" ")
            time.sleep(0.01)
        """,
        **NEVER,
    ),
)


def test_calls_that_loop_are_ended_as_such(fought: Fight) -> None:
    """Not every one need be: where the machine stands still while its cells run, these are late already."""
    assert any("endless loop" in check.message for score in fought.scores.values() for check in score.checks)
