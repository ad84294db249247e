"""What is said where something else than a Dask scheduler listens: at the start of a run, and in its place later."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import ssl
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dask_cluster import Cluster
from test_cluster import STANDS_IN, certificate, command, course_of, graded, hand_in, plan, signed, small

from autograder.cluster import link
from autograder.cluster.address import Certificates, security
from autograder.cluster.greeting import expect_greeting
from autograder.cluster.link import Link, LinkError
from autograder.errors import CourseError
from autograder.plan import Plan

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a class is graded on Linux")
__all__ = ["certificate", "plan", "small"]  # fixtures
LIMIT = 60.0
"""Seconds after which a command hangs; no test comes near."""


def number(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *numbers)


OTHERS = {
    "SSH": (b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", b"SSH-2.0-"),
    "HTTP": (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1"),
    "zeros": (bytes(64), bytes(8)),
    "a size that no machine has": (number(2**62) * 8, number(2**62)),
    "a size that a machine may have": (number(2**36) * 8, number(2**36)),
    "frames that are none": (number(64, *[2**40] * 8), number(64, 2**40)),
    "more frames than fit": (number(16, 2**61, 1), number(16, 2**61)),
    "a size that is too small": (number(8, 0), number(8)),
    "few bytes, and the end": (b"220 hi", b"220 hi"),
}
SILENT = "it takes the connection and says nothing; is this the dashboard's port"


@contextlib.contextmanager
def listening(
    says: bytes, *, ends: bool = False, port: int = 0, context: ssl.SSLContext | None = None
) -> Iterator[int]:
    """Say one thing to whoever comes, then nothing more, or end; yield the port."""
    server = socket.create_server(("127.0.0.1", port))
    open_now: list[socket.socket] = []

    def answer(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if context is not None:
                connection = context.wrap_socket(connection, server_side=True)
            open_now.append(connection)
            connection.sendall(says)
            if ends:
                connection.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection = server.accept()[0]
                open_now.append(connection)
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        for connection in open_now:
            connection.close()


def refused(address: str, files: Certificates = Certificates(), *, silent: bool = False) -> str:  # noqa: B008  frozen
    """Connect as ``--wait 0`` does, and return what is said.

    Unless whoever listens there is ``silent``, the first that comes from it is waited for however long it takes.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not silent:
            patch.setattr(link, "expect_greeting", lambda where, context, _: expect_greeting(where, context, LIMIT))
        with pytest.raises(LinkError) as caught:
            Link(address, security(address, files), 0.0)
    said = str(caught.value)
    start = f"nobody answers at {address} as a Dask scheduler ("
    assert said.startswith(start)
    assert "\n" not in said
    for thread in threading.enumerate():
        if thread.name == "cluster":
            thread.join(LIMIT)
            assert not thread.is_alive()
    return said.removeprefix(start).removesuffix(")")


@pytest.mark.parametrize(("says", "shown"), OTHERS.values(), ids=OTHERS.keys())
def test_another_protocol_is_told_by_its_first_bytes(says: bytes, shown: bytes):
    with listening(says, ends=says == b"220 hi") as port:
        said = refused(f"tcp://127.0.0.1:{port}")
    assert said == f"it speaks another protocol and begins with {shown!r}; is this the scheduler's port?"


def test_whoever_says_nothing_is_not_waited_for():
    with listening(b"") as port:
        assert refused(f"tcp://127.0.0.1:{port}", silent=True) == f"{SILENT}, or a scheduler's that wants tls://?"
    with listening(number(300) + b"half") as port:
        assert refused(f"tcp://127.0.0.1:{port}", silent=True).startswith(SILENT)
    with listening(b"", ends=True) as port:
        assert refused(f"tcp://127.0.0.1:{port}") == "it ends the connection without a word"


SOME = ("SSH", "zeros", "a size that a machine may have")
GREETING = number(24 + 16, 2, 0, 16) + bytes(16)
"""As long as it says; what is in it is no greeting of Dask's."""


@pytest.mark.parametrize("more", [b"", *(OTHERS[name][0] for name in SOME)], ids=["silence", *SOME])
def test_what_begins_as_dask_does_and_goes_on_otherwise_is_refused_too(more: bytes):
    with listening(GREETING + more) as port:
        said = refused(f"tcp://127.0.0.1:{port}")
    assert said.startswith("it begins as Dask does, and then comes ")


@pytest.mark.needs("openssl")
def test_with_certificates_it_is_the_same(tmp_path: Path, certificate: Path):
    files = Certificates(str(certificate), str(certificate), str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    for says, shown in (OTHERS["SSH"], OTHERS["zeros"], OTHERS["a size that a machine may have"]):
        with listening(says, context=context) as port:
            assert f"begins with {shown!r}" in refused(f"tls://127.0.0.1:{port}", files)
        with listening(says) as port:  # not even TLS
            assert "SSL" in refused(f"tls://127.0.0.1:{port}", files)
    for silent in ({"context": context}, {}):
        with listening(b"", **silent) as port:
            assert refused(f"tls://127.0.0.1:{port}", files, silent=True) in (f"{SILENT}?", "no connection within 2 s")
    stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    stranger.load_cert_chain(signed(tmp_path / "stranger.pem"))
    with listening(b"", context=stranger) as port:
        assert "certificate verify failed" in refused(f"tls://127.0.0.1:{port}", files)


def test_the_dashboards_port_and_a_workers_are_told_from_the_schedulers(
    small: Cluster, monkeypatch: pytest.MonkeyPatch
):
    worker = small.add("--no-nanny", **STANDS_IN)
    (dashboard,) = [
        int(line.split(":")[-1].split("/")[0]) for line in small.log("scheduler").splitlines() if "http://" in line
    ]
    assert refused(f"tcp://127.0.0.1:{dashboard}", silent=True).startswith(SILENT)
    (at,) = [line.split()[-1] for line in small.log("worker0").splitlines() if "Start worker at" in line]
    assert "is this a worker's port" in refused(at)
    assert worker.poll() is None
    monkeypatch.setattr(link, "_CONNECT_LEAST", LIMIT)
    Link(small.address, None, 0.0).close()  # nothing is wrong with the scheduler


# ------------------------------------------------------------------------ the command line


@pytest.mark.parametrize(
    "says", [b"", OTHERS["SSH"][0], OTHERS["zeros"][0], OTHERS["a size that a machine may have"][0]]
)
def test_the_command_ends_with_one_sentence_and_makes_no_room_for_what_never_comes(
    plan: Plan, tmp_path: Path, says: bytes
):
    tree = hand_in(plan, tmp_path / "in", "pass")
    environment = {**os.environ, "AUTOGRADER_COURSE": str(course_of(plan)), "OMP_NUM_THREADS": "1"}

    def little() -> None:  # numbers are kept from being believed: 64 GB are not to be had
        resource.setrlimit(resource.RLIMIT_AS, (2**35, 2**35))

    with listening(says) as port:
        where = ["--out", str(tmp_path / "out"), "--scheduler", f"tcp://127.0.0.1:{port}"]
        where += ["--wait", "60" if says else "0"]  # what answers is waited for however long it takes
        done = subprocess.run(
            command(str(tree), *where),
            env=environment, capture_output=True, text=True, check=False, timeout=LIMIT, preexec_fn=little,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"autograder: nobody answers at tcp://127.0.0.1:{port} as a Dask scheduler (it ")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------------ in the middle of a run


@pytest.mark.parametrize(
    "says",
    [b"", OTHERS["SSH"][0], bytes(64), GREETING + b"SSH-2.0-OpenSSH"],
    ids=["silence", "SSH", "zeros", "a greeting, then SSH"],
)
def test_where_something_else_takes_the_schedulers_place_the_run_ends_and_what_is_graded_is_kept(
    small: Cluster, plan: Plan, tmp_path: Path, says: bytes
):
    small.add("--no-nanny", **STANDS_IN)
    tree = hand_in(plan, tmp_path / "in", *["pass"] * 4, *["sleep 0.3"] * 20)
    port = int(small.address.rpartition(":")[2])
    with contextlib.ExitStack() as stack:

        def replace(_: Any) -> None:
            if small.scheduler.poll() is None:
                small.scheduler.kill()
                small.scheduler.wait()
                stack.enter_context(listening(says, port=port))

        with pytest.raises(CourseError, match=r"is gone; start it and its workers again\. .* the same command goes on"):
            graded(small, plan, tree, tmp_path / "out", on_result=replace)
    assert '"s00"' in (tmp_path / "out/journal.jsonl").read_text()
