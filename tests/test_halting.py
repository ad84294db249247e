"""Signals that end a command raise what Ctrl-C raises, and the first of them is its exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from autograder import halting as module
from autograder.errors import INTERRUPTED
from autograder.halting import Ended, halting, status_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture(autouse=True)
def usual() -> Iterator[dict[Any, Any]]:
    """Let the signals do what they do in a shell, whatever started the tests; say what that is."""
    before = {number: signal.getsignal(number) for number in STATUS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield {number: signal.getsignal(number) for number in STATUS}
    for number, handler in before.items():
        signal.signal(number, handler)


def send(*numbers: int) -> None:
    for number in numbers:
        signal.raise_signal(number)


@pytest.mark.parametrize(("number", "status"), STATUS.items(), ids=str)
def test_each_raises_and_afterwards_all_is_as_before(usual: dict[Any, Any], number: int, status: int):
    with pytest.raises(KeyboardInterrupt) as caught, halting():
        send(number)
    assert isinstance(caught.value, Ended)
    assert status_of(caught.value) == status
    assert {each: signal.getsignal(each) for each in STATUS} == usual


def trouble_after(*numbers: int) -> None:
    """Meet a signal, then the next while that is dealt with, and something else in the end."""
    if not numbers:
        raise ValueError("last")
    try:
        send(numbers[0])
    except KeyboardInterrupt:
        trouble_after(*numbers[1:])


def test_the_first_signal_is_the_status_whatever_was_raised_on_the_way():
    for numbers, status in (((signal.SIGTERM, signal.SIGINT), 143), ((signal.SIGINT, signal.SIGINT), 130)):
        with pytest.raises(ValueError, match="last") as caught, halting():
            trouble_after(*numbers)
        assert status_of(caught.value) == status
    assert status_of(KeyboardInterrupt()) == status_of(None) == INTERRUPTED == 130


def test_signals_of_one_end_are_one_but_a_key_that_is_pressed_again_is_heard(monkeypatch: pytest.MonkeyPatch):
    heard = []
    with halting():
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            try:
                send(number)
            except KeyboardInterrupt:
                heard.append(number)
    assert heard == [signal.SIGTERM, signal.SIGINT]
    monkeypatch.setattr(module, "_TOGETHER_SECONDS", 0.0)  # much later
    with halting():
        for number in (signal.SIGTERM, signal.SIGTERM):
            with pytest.raises(Ended):
                send(number)


def test_what_is_switched_off_or_taken_stays_so():
    taken: list[int] = []
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: taken.append(number))
    with halting():
        send(signal.SIGHUP, signal.SIGTERM)
    assert taken == [signal.SIGTERM]


def test_in_another_thread_nothing_is_done(usual: dict[Any, Any]):
    seen: list[Any] = []

    def look() -> None:
        with halting():
            seen.append({number: signal.getsignal(number) for number in STATUS})

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [usual]


def test_an_output_that_is_gone_changes_no_status():
    code = (
        "import os, signal, sys\n"
        "from autograder.halting import halting, status_of\n"
        "signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
        "try:\n"
        "    with halting():\n"
        "        sys.stdout.write('waits')\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "except KeyboardInterrupt as error:\n"
        "    sys.exit(status_of(error))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (143, "")
