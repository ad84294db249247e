"""Serve the book, the class report and the feedback pages on this machine alone.

    python scripts/serve.py FOLDER [--port 8000]

FOLDER holds ``book``, ``report`` and ``feedback``; nothing else of it is shown, so that neither marks nor the gradebook
can be fetched. A port that is taken gives way to the next one. Text is sent compressed, as hosts of static sites do,
and what is named by its hash may be kept for ever.
"""

from __future__ import annotations

import argparse
import errno
import functools
import gzip
import http.server
import io
import re
import socket
import sys
from http import HTTPStatus
from pathlib import Path
from urllib.parse import unquote, urlsplit

SHOWN = ("book", "report", "feedback")
HOSTS = ("localhost", "127.0.0.1")
TRIES = 20
TEXT = (".html", ".css", ".js", ".mjs", ".json", ".svg", ".txt", ".csv", ".ipynb")
"""What is sent compressed to those who can read it."""
HASHED = re.compile(r"\?v=[0-9a-f]{8}$|-[0-9a-f]{8}(?:/[\w.-]+|\.js)(?:\?|$)")
"""Addresses in the book that name what is there by its hash."""


@functools.lru_cache(maxsize=256)
def compressed(path: Path, changed: int) -> bytes:
    """Return a file's bytes, compressed; ``changed``, in nanoseconds, is when it last did."""
    return gzip.compress(path.read_bytes(), 6, mtime=0)


class Pages(http.server.SimpleHTTPRequestHandler):
    """GET and HEAD of files below the shown folders."""

    def send_head(self):
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if host not in HOSTS:  # another site's page that has given its name this machine's address
            return self._refuse(HTTPStatus.MISDIRECTED_REQUEST)
        parts = [part for part in unquote(urlsplit(self.path).path).split("/") if part]
        if not parts:
            return self._go("/book/")
        if parts[0] not in SHOWN or "\0" in "".join(parts) or any(part.startswith(".") for part in parts):
            return self._refuse(HTTPStatus.NOT_FOUND)
        path = Path(self.translate_path(self.path))
        if path.is_dir() and urlsplit(self.path).path.endswith("/"):
            path /= "index.html"
        if path.suffix in TEXT and path.is_file():
            return self._send_text(path)
        return super().send_head()

    def _send_text(self, path):
        status = path.stat()
        changed = self.date_time_string(int(status.st_mtime))
        zipped = re.search(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", self.headers.get("Accept-Encoding", ""))
        known = self.headers.get("If-Modified-Since") == changed
        data = b"" if known else compressed(path, status.st_mtime_ns) if zipped else path.read_bytes()
        self.send_response(HTTPStatus.NOT_MODIFIED if known else HTTPStatus.OK)
        if not known:
            self.send_header("Content-Type", self.guess_type(str(path)))
            self.send_header("Content-Length", str(len(data)))
            if zipped:
                self.send_header("Content-Encoding", "gzip")
        self.send_header("Vary", "Accept-Encoding")
        self.send_header("Last-Modified", changed)
        self.end_headers()
        return io.BytesIO(data)

    def send_response(self, code: int, message: str | None = None) -> None:
        """Note whether the answer is what was asked for."""
        self._found = code in (HTTPStatus.OK, HTTPStatus.NOT_MODIFIED)
        super().send_response(code, message)

    def list_directory(self, path):
        """Show no listing: a class's names are on the report."""
        return self._refuse(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        """Have pages fetched anew, for the next run writes others to the same place; but not what its hash names."""
        kept = self._found and self.path.startswith("/book/") and HASHED.search(self.path)
        self.send_header("Cache-Control", "max-age=31536000, immutable" if kept else "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing about each request."""

    def _go(self, where: str) -> None:
        self.send_response(HTTPStatus.FOUND)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _refuse(self, status: HTTPStatus) -> None:
        self.send_error(status)


class Server(http.server.ThreadingHTTPServer):
    """A server whose visitors may hang up, and whose port nobody shares."""

    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"

    def handle_error(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        """Say nothing of a visitor who has gone."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def bind(folder: Path, port: int) -> Server:
    """Return a server on the first free port from ``port`` on; port 0 lets the system choose.

    Raises:
        OSError: none of TRIES ports is free.
    """
    handler = functools.partial(Pages, directory=str(folder))
    for attempt in range(port, port + TRIES):
        try:
            return Server(("127.0.0.1", attempt), handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or attempt == port + TRIES - 1:
                raise
    raise AssertionError("unreachable")


def main() -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="Serve book, report and feedback on this machine alone.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    try:
        server = bind(options.folder, options.port)
    except (OSError, OverflowError) as error:
        print(f"serve: no port from {options.port} on could be taken: {error}", file=sys.stderr)
        return 2
    address = f"http://localhost:{server.server_port}"
    if options.port and server.server_port != options.port:
        print(f"Port {options.port} is taken, so this is on {server.server_port}.")
    print(f"Open  {address}/         the book")
    print(f"      {address}/report/  the class report, with a link to each student's feedback")
    with server:
        try:
            print("Ctrl-C stops.", flush=True)
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
