"""How long a command takes to answer, against what it cannot do without."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.timing import Ratio, in_turn

_FILE = Path("examples/submissions/ada/grad_scaler_step/grad_scaler_step.ipynb")


def _run(*command: str) -> None:
    subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def check_against_import() -> Iterator[Ratio]:
    """``autograder check`` on one file against ``import torch``."""
    ours, other = in_turn(
        lambda: _run("-m", "autograder", "check", str(_FILE)), lambda: _run("-c", "import torch"), rounds=7
    )
    yield Ratio("check one file, against `import torch`", ours, other, "s", f"≤ {other:.2f} + 1 s", 7)


def help_against_python() -> Iterator[Ratio]:
    """``autograder --help`` against an empty Python program."""
    ours, other = in_turn(lambda: _run("-m", "autograder", "--help"), lambda: _run("-c", "pass"), rounds=7)
    yield Ratio("--help, against `python -c pass`", ours, other, "s", "torch is not imported", 7)
