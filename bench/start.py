"""How long a command takes to answer, and what of that is the import of torch."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.timing import Amount, Line, Target, in_turn

ROUNDS: Final = 9
_FILE: Final = Path("examples/submissions/ada/grad_scaler_step/grad_scaler_step.ipynb")
_IMPORT: Final = re.compile(r"^import time: +(\d+) \| +\d+ \| +([\w.]+)$", re.MULTILINE)
_OF_NOTE: Final = 10_000
"""Microseconds above which a package is named."""
_HEAVY: Final = ("torch", "numpy", "sqlalchemy", "nbgrader")


def _run(*command: str) -> None:
    subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def start() -> Iterator[Line]:
    """``autograder check`` on one file against ``import torch`` alone; ``--help`` against an empty program."""
    check = ("-m", "autograder", "check", str(_FILE))
    ours, torch = in_turn(lambda: _run(*check), lambda: _run("-c", "import torch"), ROUNDS)
    modules, slow = imports(*check)
    yield Line(
        "check_file",
        "`autograder check FILE`, all of it, against `import torch` alone",
        Amount("check", ours, "s"),
        Amount("torch", torch, "s"),
        Target("≤", 1.5),
        ROUNDS,
        f"The import of torch, in the process that runs the answer, is {min(100, 100 * torch / ours):.0f} % of it. The "
        f"command itself imports {len(modules)} modules; by package, above 10 ms: {_listed(slow)}.",
        {"modules": len(modules), "above_10_ms": slow, "torch": _heavy(modules)},
    )
    ours, empty = in_turn(lambda: _run("-m", "autograder", "--help"), lambda: _run("-c", "pass"), ROUNDS)
    modules, slow = imports("-m", "autograder", "--help")
    yield Line(
        "help",
        "`autograder --help`, against the import of torch that it does without",
        Amount("help", ours, "s"),
        Amount("torch", torch, "s"),
        Target("≤", 0.25),
        ROUNDS,
        f"An empty Python program takes {empty:.3f} s. {len(modules)} modules, "
        f"{' and '.join(_heavy(modules)) or 'torch not'} among them; by package, above 10 ms: {_listed(slow)}.",
        {"modules": len(modules), "above_10_ms": slow, "heavy": _heavy(modules), "empty_s": empty},
    )


def imports(*command: str) -> tuple[list[str], dict[str, float]]:
    """Return the modules that a command's own process imports, and the milliseconds of each package above 10 ms."""
    done = subprocess.run([sys.executable, "-X", "importtime", *command], capture_output=True, text=True, check=False)
    rows = _IMPORT.findall(done.stderr)
    return [name for _, name in rows], by_package([(int(own), name) for own, name in rows])


def by_package(rows: list[tuple[int, str]]) -> dict[str, float]:
    """Return the milliseconds of those packages that take above 10 ms, the slowest first.

    Args:
        rows: microseconds that a module takes without what it imports, and its name.
    """
    taken: Counter[str] = Counter()
    for own, name in rows:
        package = name.partition(".")[0]
        taken["Python's own" if package in sys.stdlib_module_names else package] += own
    return {package: own / 1000 for package, own in taken.most_common() if own > _OF_NOTE}


def _heavy(modules: list[str]) -> list[str]:
    return [name for name in _HEAVY if name in modules]


def _listed(slow: dict[str, float]) -> str:
    return ", ".join(f"{name} {own:.0f} ms" for name, own in slow.items()) or "none"
