"""Where the live reference runs."""

from __future__ import annotations

import importlib.metadata
import os
import sys
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


def foreseen_reference() -> Reference:
    """Return what ``live_reference()`` will say, without importing torch where no device can make a difference."""
    if "torch" in sys.modules or sys.platform != "linux" or any(map(_is_accelerator, os.listdir("/dev"))):
        return live_reference()
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return live_reference()
    return Reference(BACKEND, "cpu", version.split("+")[0])


def _is_accelerator(name: str) -> bool:
    # NVIDIA's on a PC, on a small board, and under Windows; AMD's, which torch calls CUDA as well.
    return name.startswith(("nvidia", "nvhost", "nvmap", "nvgpu")) or name in ("dxg", "kfd")
