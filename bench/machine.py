"""What a run of the measurements ran on: machine, load, versions, commit."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

_QUIET: Final = 0.25
"""Runnable processes a core, over the last minute, up to which a machine counts as quiet."""
_PACKAGES: Final = ("torch", "nbgrader", "sqlalchemy")


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine as it was when the measurements began."""

    when: str
    """Date and time, UTC, to the minute."""
    commit: str
    """Of this repository, with ``+`` where files differ from it; "" outside a checkout."""
    cores: int
    """Those that this process may use."""
    model: str
    system: str
    memory_gib: float
    load: float
    """Runnable processes, averaged over the minute before."""
    versions: dict[str, str]

    @property
    def quiet(self) -> bool:
        """Whether little else was running."""
        return self.load <= _QUIET * self.cores

    def text(self) -> str:
        """Return it as it is printed, in three lines."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        busy = "" if self.quiet else ": NOT QUIET, so absolute figures are too high and ratios less sure"
        return (
            f"{self.model}, {self.cores} cores, {self.memory_gib:.0f} GiB, {self.system}\n"
            f"{versions}; commit {self.commit or 'unknown'}; {self.when}\n"
            f"load {self.load:.2f} at the start{busy}"
        )

    def record(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self), "quiet": self.quiet}


def here_and_now() -> Machine:
    """Return this machine as it is."""
    versions = {"Python": platform.python_version()}
    for package in (*_PACKAGES, "half-precision-autograder"):
        versions[package.removeprefix("half-precision-")] = importlib.metadata.version(package)
    return Machine(
        when=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        commit=_commit(),
        cores=cores(),
        model=_first("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        system=f"{platform.system()} {platform.release()}",
        memory_gib=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        load=round(os.getloadavg()[0], 2),
        versions=versions,
    )


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _first(path: str, key: str) -> str:
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((" ".join(line.partition(":")[2].split()) for line in lines if line.startswith(key)), "")


def _commit() -> str:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        found = git("rev-parse", "--short=10", "HEAD")
        # The results themselves may differ: that is what they are for.
        return f"{found}+" if found and git("status", "--porcelain", "--", ".", ":!bench/results.json") else found
    except OSError:
        return ""
