"""What this machine offers: the layers around untrusted code, devices, versions. Probed, not assumed."""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from autograder.sandbox import walls
from autograder.sandbox.zygote import SandboxError, Zygote

_SYS_LANDLOCK_CREATE_RULESET: Final = 444  # the same number on every architecture that has it
_PR_GET_SECCOMP: Final = 21
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
        return [
            Finding("bubblewrap", "no", why, needed=True),
            Finding("confined process", "no", "needs bubblewrap", needed=True),
        ]
    findings = [Finding("bubblewrap", "yes", program, needed=True)]
    try:
        with Zygote(walled=True) as zygote:
            facts = zygote.ready()
            detail = f"starts; uid {facts['uid']}, own pid, net, ipc, uts and mount namespaces, no capabilities"
            findings.append(Finding("confined process", "yes", detail, needed=True))
    except SandboxError as error:
        findings.append(Finding("confined process", "no", str(error), needed=True))
    return findings


def _kernel() -> list[Finding]:
    return [
        _info("user namespaces", _user_namespaces),
        _info("landlock", _landlock),
        _info("seccomp", _seccomp),
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
    return "" if limit == "0" else f"up to {limit}"


def _landlock() -> str:
    # With no attributes and flag 1 the call returns the version of the interface.
    version = ctypes.CDLL(None, use_errno=True).syscall(_SYS_LANDLOCK_CREATE_RULESET, None, 0, 1)
    return f"interface version {version} (not used yet)" if version > 0 else ""


def _seccomp() -> str:
    mode = ctypes.CDLL(None, use_errno=True).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0)
    return "offered (not used yet)" if mode >= 0 else ""


def _cgroup() -> str:
    if Path("/sys/fs/cgroup/cgroup.controllers").exists():
        controllers = Path("/sys/fs/cgroup/cgroup.controllers").read_text().split()
        return f"version 2, controllers {', '.join(controllers) or 'none'} (not used yet)"
    return "version 1 (not used yet)" if Path("/sys/fs/cgroup/memory").is_dir() else ""


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
