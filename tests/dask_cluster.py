"""A real Dask cluster on this machine: a scheduler and workers, each a process of its own, on free ports."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, Self

TESTS: Final = Path(__file__).parent
_SECONDS: Final = 120.0


class Cluster:
    """A scheduler and workers. Use as a context manager; all of it ends with the block."""

    def __init__(self, folder: Path, course: Path | None = None, certificate: Path | None = None) -> None:
        """Start the scheduler.

        Args:
            folder: an empty one, for logs.
            course: whose exercises the workers read; this checkout's when None.
            certificate: for tls, with its key and that of who signed it, all in one file.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self._course, self._certificate = folder, course, certificate
        self.used = folder / "used"
        self.used.mkdir()
        self.workers: list[subprocess.Popen[bytes]] = []
        where = folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler",
            "--host",
            self._protocol + "127.0.0.1",
            "--port",
            "0",
            "--scheduler-file",
            str(where),
            log="scheduler",
        )
        self.address = ""
        until = time.monotonic() + _SECONDS
        while not self.address:
            with contextlib.suppress(OSError, ValueError):
                self.address = json.loads(where.read_text())["address"]
            assert self.scheduler.poll() is None, self.log("scheduler")
            assert time.monotonic() < until, self.log("scheduler")
            time.sleep(0.02)

    @property
    def _protocol(self) -> str:
        return "tls://" if self._certificate else ""

    def add(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker and wait until the scheduler has it; ``environment`` as ``dask_worker`` reads it."""
        log = f"worker{len(self.workers)}"
        added = ["--preload", str(TESTS / "dask_worker.py"), "--local-directory", str(self.folder), *arguments]
        added += ["--host", self._protocol + "127.0.0.1"]
        if "--nthreads" not in arguments:
            added += ["--nthreads", "1"]
        worker = self._start("worker", self.address, *added, log=log, **environment)
        self.workers.append(worker)
        until = time.monotonic() + _SECONDS
        while "Registered to" not in self.log(log):
            assert worker.poll() is None, self.log(log)
            assert time.monotonic() < until, self.log(log)
            time.sleep(0.02)
        return worker

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def pids_used(self) -> set[int]:
        """Return the processes of Dask's that graded something."""
        return {int(path.name) for path in self.used.iterdir()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        for process in (*self.workers, self.scheduler):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self, what: str, *arguments: str, log: str, **environment: str) -> subprocess.Popen[bytes]:
        given = [str(self._certificate)] * 3 if self._certificate else []
        tls = [part for pair in zip(("--tls-ca-file", "--tls-cert", "--tls-key"), given, strict=False) for part in pair]
        path = os.pathsep.join((str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")))
        env = {
            **os.environ,
            **environment,
            "PYTHONPATH": path,
            "DASK_TEST_USED": str(self.used),
            "OMP_NUM_THREADS": "1",
        }
        if self._course is not None:
            env["AUTOGRADER_COURSE"] = str(self._course)
        with (self.folder / f"{log}.log").open("wb") as out:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", what, *arguments, *tls, "--dashboard-address", "127.0.0.1:0"],
                env=env,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
