"""What this machine offers: the layers around untrusted code, devices, versions. Probed, not assumed."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from autograder.sandbox import walls
from autograder.sandbox.zygote import SandboxError, Zygote

_INNER: Final = {
    "landlock": (
        "a second list of the files that a submission may read and write, interface version {landlock}",
        "the file system that bubblewrap makes still withholds the machine's files",
    ),
    "seccomp": (
        "a submission may make only the system calls that it needs",
        "the walls still hold, but more of the kernel is open to attack, its keyring for one",
    ),
    "rlimits": ("memory, files, descriptors, processes and processor time of a submission are limited", ""),
}
"""What each layer inside the confined process does, and what holds where it is missing; none where it is needed."""
_PACKAGES: Final = ("torch", "numpy", "nbgrader", "jupyter-book", "sqlalchemy", "pytest")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: str
    """"yes", "no", or "info"."""
    detail: str
    needed: bool = False
    """Whether untrusted code must not be graded without it."""


def examine() -> list[Finding]:
    """Probe this machine; takes as long as starting one confined process."""
    return [*_confinement(), *_kernel(), *_devices(), *_versions()]


def fit(findings: list[Finding]) -> bool:
    """Return whether this machine may grade untrusted work."""
    return all(finding.state == "yes" for finding in findings if finding.needed)


def _confinement() -> list[Finding]:
    program = walls.bubblewrap()
    if program is None:
        why = "not installed; on Debian: apt-get install bubblewrap" if sys.platform == "linux" else "Linux only"
        return [Finding("bubblewrap", "no", why, needed=True), *_not_confined("needs bubblewrap")]
    findings = [Finding("bubblewrap", "yes", program, needed=True)]
    try:
        with Zygote(walled=True) as zygote:
            facts = zygote.ready()
            detail = f"starts; uid {facts['uid']}, own pid, net, ipc, uts and mount namespaces, no capabilities"
            return [*findings, Finding("confined process", "yes", detail, needed=True), *_inner(facts)]
    except SandboxError as error:
        return [*findings, *_not_confined(str(error))]


def _not_confined(why: str) -> Iterator[Finding]:
    yield Finding("confined process", "no", why, needed=True)
    for name, (_, rest) in _INNER.items():
        yield Finding(name, "no", "needs the confined process", needed=not rest)


def _inner(facts: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield a finding for each layer that a submission's process puts around itself, as one that was tried found it."""
    for name, (does, rest) in _INNER.items():
        if name in facts["inner"]:
            yield Finding(name, "yes", does.format_map(facts), needed=not rest)
        else:
            why = facts["missing"].get(name, "it was not in force when tried")
            yield Finding(name, "no", f"missing: {why}; {rest or 'others could use up this machine'}", needed=not rest)


def _kernel() -> list[Finding]:
    return [
        _info("user namespaces", _user_namespaces),
        _info("memory cgroup", _cgroup),
    ]


def _info(name: str, probe: Callable[[], str]) -> Finding:
    try:
        detail = probe()
    except (OSError, AttributeError, ValueError) as error:
        detail = ""
        reason = f"not offered ({error})"
    else:
        reason = "not offered"
    return Finding(name, "info", detail or reason)


def _user_namespaces() -> str:
    limit = Path("/proc/sys/user/max_user_namespaces").read_text().strip()
    return "none are allowed: only root can confine submissions" if limit == "0" else f"up to {limit}"


def _cgroup() -> str:
    if Path("/sys/fs/cgroup/cgroup.controllers").exists():
        controllers = Path("/sys/fs/cgroup/cgroup.controllers").read_text().split()
        return f"version 2, controllers {', '.join(controllers) or 'none'} (not used yet)"
    if Path("/sys/fs/cgroup/memory").is_dir():
        return "version 1 (not used yet)"
    return "not offered; nothing rests on it: a submission is one process, with a memory limit of its own"


def _devices() -> list[Finding]:
    try:
        import torch
    except ImportError as error:
        return [Finding("torch", "no", f"{error}; run `make setup`", needed=True)]
    names = (
        [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    )
    detail = ", ".join(names) if names else "none: the reference runs on the CPU"
    return [Finding("CUDA devices", "info", detail), Finding("cores", "info", str(os.cpu_count()))]


def _versions() -> list[Finding]:
    findings = [Finding("python", "info", platform.python_version()), Finding("platform", "info", platform.platform())]
    for name in _PACKAGES:
        try:
            findings.append(Finding(name, "info", importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            findings.append(Finding(name, "info", "not installed"))
    return findings
