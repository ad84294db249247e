"""Where the live reference runs."""

from __future__ import annotations

from typing import Final

from autograder.errors import CourseError
from autograder.models import Reference

BACKEND: Final = "torch.amp.GradScaler"
"""PyTorch's own scaler, against which the reference solutions are checked wherever the two rules coincide."""


class NoDevice(CourseError):
    """The device that was asked for is not here; one sentence says so."""


def live_reference(device: str = "") -> Reference:
    """Return the reference on ``device``: "cuda", "cpu", or "" for CUDA where there is one and the CPU elsewhere."""
    import torch

    available = torch.cuda.is_available()
    if device == "cuda" and not available:
        raise NoDevice(f"torch {torch.__version__} sees no CUDA device on this machine; use --device cpu")
    if device not in ("", "cuda", "cpu"):
        raise NoDevice(f"there is no device {device!r}; use cuda or cpu")
    return Reference(BACKEND, device or ("cuda" if available else "cpu"), torch.__version__.split("+")[0])
