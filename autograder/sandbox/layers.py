"""Which layers surround a submission. A real run always has all of them; tests switch one off to see what it stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Layers:
    """What is asked for. What really holds, ``Zygote.layers`` says: not every kernel offers everything."""

    bubblewrap: bool = True
    """A file system of its own. Without it, all of the machine's files are there as well, under HOST."""
    namespaces: bool = True
    """No processes, network, System V objects and host name but its own."""
    uid: bool = True
    """Where the grader is root: another user. An ordinary user's submissions run as that user in any case."""
    landlock: bool = True
    """The kernel's own list of what may be read and written."""
    seccomp: bool = True
    """The list of system calls that may be made."""
    rlimits: bool = True
    """Limits on memory, files, descriptors, processes and processor time."""


ALL: Final = Layers()
HOST: Final = "/host"
"""Where the machine's files are when there is no bubblewrap to keep them out."""
