"""Ways to end: exits, signals, crashes."""

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

SECONDS = 14.0
"""After one loop a check that is right has a fourth of it, which a machine that stands still leaves it."""

ATTACKS = (
    in_cell("exits at once", "os._exit(0)", earns=0, statuses="crashed", says="exited by itself, with status 0"),
    in_cell("exits by sys.exit", "sys.exit('10 of 10 points')"),
    in_cell("exits as one that ran out of memory", "os._exit(213)", earns=0, statuses="memory", says="out of memory"),
    in_call("exits in a call", "os._exit(0)", says="exited by itself, with status 0"),
    in_call("SystemExit in a call", "raise SystemExit(0)", statuses="error", says="SystemExit"),
    in_call("KeyboardInterrupt in a call", "raise KeyboardInterrupt", says="exited by itself"),
    in_call(
        "an exception of its own kind",
        "raise Passed('all checks passed')",
        before="class Passed(BaseException): pass",
        statuses="error",
        says="Passed",
    ),
    in_call("kills itself", "import signal; os.kill(os.getpid(), signal.SIGKILL)", says="ended by SIGKILL"),
    in_call("kills its process group", "import signal; os.killpg(0, signal.SIGKILL)", says="ended by SIGKILL"),
    in_call("aborts", "os.abort()", says="SIGABRT"),
    in_call("reads address 0", "ctypes.string_at(0)", says="SIGSEGV"),
    in_call(
        "writes over the interpreter", "ctypes.memset(id(type(None)), 255, 4096); return None, 1.0", says="ended by"
    ),
    in_call(
        "an alarm while it sleeps", "import signal, time; signal.setitimer(0, 0.01); time.sleep(3)", says="SIGALRM"
    ),
    in_cell(
        "signals to the warm process and to all",
        """\
        import signal
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGUSR1):
            for target in (1, -1, os.getppid(), @PID@):
                try:
                    os.kill(target, number)  # the first process of a namespace is spared what it does not handle
                except OSError:
                    pass
        """,
    ),
    in_cell(
        "a signal through a handle of the warm process",
        """\
        import signal
        try:
            signal.pidfd_send_signal(os.pidfd_open(1), signal.SIGKILL)
        except OSError:
            pass
        """,
    ),
    in_cell(
        "work for after the end",
        """\
        import atexit, threading, weakref
        def loop(*_):
            while True: pass
        atexit.register(loop)
        weakref.finalize(sys, loop)
        attempt("thread", lambda: threading.Thread(target=loop, daemon=True).start() or "runs")
        """,
    ),
    in_cell("closes its own streams", "sys.stdout.close(); sys.stderr.close(); os.close(1); os.close(2)"),
    in_call(
        "a call for an empty tensor loops",
        "while len(grads) == 1 and not grads[0].numel(): pass\n"
        "return honest(grads, scale, growth_factor, backoff_factor)",
        earns=9,
        statuses="passed timeout",
        says="endless loop",
    ),
    in_call(
        "dies of an inf",
        "import math\nif any(not math.isfinite(x) for g in grads for x in g.flatten().tolist()): os._exit(0)\n"
        "return honest(grads, scale, growth_factor, backoff_factor)",
        earns=5,
        statuses="passed crashed",
        says="exited by itself",
    ),
)
