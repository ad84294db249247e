"""What `make run` serves: three folders, on this machine alone."""

from __future__ import annotations

import gzip
import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "serve.py"


class Served(NamedTuple):
    """A running server and what it said."""

    port: int
    said: list[str]
    process: subprocess.Popen[str]


class Answer(NamedTuple):
    """What came back."""

    status: int
    text: str
    location: str


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a class's output, with the book elsewhere behind a link."""
    built, out = tmp_path / "built", tmp_path / "course"
    for name, text in {
        built / "index.html": "the book",
        built / "_static/book.css": "a {}",
        built / "_static/solve-0123abcd/worker.mjs": "1",
        out / "report/index.html": "the report",
        out / "feedback/ü ñ/halve/halve.html": "the feedback",
        out / "gradebook.db": "marks",
        out / "report/.hidden": "hidden",
        tmp_path / "secret": "secret",
    }.items():
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_text(text)
    (out / "book").symlink_to(built)
    return out


def _hears_ctrl_c() -> None:
    # A shell that starts tests in the background has them, and what they start, ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(folder: Path, port: int) -> Served:
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder), "--port", str(port)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=_hears_ctrl_c,
    )
    assert process.stdout is not None
    said = []
    while not said or not said[-1].startswith("Ctrl-C"):
        line = process.stdout.readline()
        assert line, said
        said.append(line)
    address = next(line for line in said if line.startswith("Open"))
    return Served(int(address.split("localhost:")[1].split("/")[0]), said, process)


def stop(served: Served) -> int:
    served.process.send_signal(signal.SIGINT)
    status = served.process.wait(120)
    served.process.stdout.close()  # type: ignore[union-attr]
    return status


@pytest.fixture
def served(folder: Path) -> Iterator[Served]:
    """Serve the folder on a port that nobody has."""
    running = start(folder, 0)
    yield running
    assert stop(running) == 0


def get(served: Served, path: str, host: str = "") -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host or f"localhost:{served.port}")
    connection.endheaders()
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return Answer(answer.status, text, answer.getheader("Location", ""))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/book/", "the book"),
        ("/book/index.html?a=1#part", "the book"),
        ("/book/_static/book.css", "a {}"),
        ("/report/", "the report"),
        ("/feedback/%C3%BC%20%C3%B1/halve/halve.html", "the feedback"),
    ],
)
def test_book_report_and_feedback_are_there(served: Served, path: str, text: str) -> None:
    assert get(served, path)[:2] == (200, text)


def test_the_start_is_the_books(served: Served) -> None:
    assert get(served, "/").location == "/book/"
    assert get(served, "/report").location == "/report/"


@pytest.mark.parametrize(
    "path",
    [
        "/gradebook.db",
        "/book/../gradebook.db",
        "/book/%2e%2e/gradebook.db",
        "/book/..%2fgradebook.db",
        "/report/../../secret",
        "/%2e%2e/secret",
        "//secret",
        "/report/.hidden",
        "/feedback/",
        "/feedback/%C3%BC%20%C3%B1/",
        "/book/%00",
        "/nothing",
    ],
)
def test_nothing_else_is(served: Served, path: str) -> None:
    answer = get(served, path)
    assert answer.status == 404
    assert not any(word in answer.text for word in ("marks", "secret\n", "hidden\n"))


@pytest.mark.parametrize("host", ["evil.test", "evil.test:8000", "localhost.evil.test", "192.168.0.1"])
def test_a_page_of_another_host_cannot_read_them(served: Served, host: str) -> None:
    assert get(served, "/report/", host).status == 421


def test_only_this_machine_is_answered(served: Served) -> None:
    with socket.socket() as other:  # the same port at another of this machine's addresses is free
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.2", served.port))


def test_a_busy_port_gives_way_to_the_next(folder: Path, served: Served) -> None:
    second = start(folder, served.port)
    try:
        assert second.port > served.port
        assert f"Port {served.port} is taken" in second.said[0]
        assert get(second, "/book/").text == "the book"
    finally:
        assert stop(second) == 0


def test_a_port_that_cannot_be_is_one_line(folder: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(folder), "--port", "70000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "70000" in done.stderr


def headers(served: Served, path: str, **sent: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("localhost", served.port, timeout=120)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in sent.items()})
    answer = connection.getresponse()
    seen = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return seen


@pytest.mark.parametrize("path", ["/book/", "/book/index.html", "/report/"])
def test_text_is_sent_compressed_to_those_who_can_read_it(served: Served, path: str) -> None:
    status, told, body = headers(served, path, Accept_Encoding="br, gzip")
    assert (status, told["content-encoding"], told["vary"]) == (200, "gzip", "Accept-Encoding")
    assert int(told["content-length"]) == len(body)
    for refused in ("br", "gzip;q=0", "gzip; q=0.0, br"):
        _, plainly, text = headers(served, path, Accept_Encoding=refused)
        assert "content-encoding" not in plainly
        assert plainly["vary"] == "Accept-Encoding"
        assert gzip.decompress(body) == text


def test_a_page_that_has_not_changed_is_not_sent_again(served: Served, folder: Path) -> None:
    _, told, _ = headers(served, "/book/", Accept_Encoding="gzip")
    same = {"Accept_Encoding": "gzip", "If_Modified_Since": told["last-modified"]}
    assert headers(served, "/book/", **same)[::2] == (304, b"")
    (folder / "book/index.html").write_text("another")
    os.utime(folder / "book/index.html", (1, 1))
    assert gzip.decompress(headers(served, "/book/", **same)[2]) == b"another"


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/book/_static/book.css?v=0123abcd", True),
        ("/book/_static/solve-0123abcd/worker.mjs?pyodide=../x/", True),
        ("/book/_static/book.css", False),
        ("/book/_static/book.css?v=1", False),
        ("/book/index.html", False),
        ("/report/?v=0123abcd", False),
        ("/book/nothing.css?v=0123abcd", False),
    ],
)
def test_only_what_its_hash_names_may_be_kept(served: Served, path: str, kept: bool) -> None:
    assert ("immutable" in headers(served, path)[1]["cache-control"]) == kept
    assert ("no-cache" in headers(served, path)[1]["cache-control"]) != kept
