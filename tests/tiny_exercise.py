"""A course of one small exercise, without torch: what the tests of notebooks, `check` and nbgrader work on."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

STATEMENT = """\
---
title: Halve a number
teaches: [halving]
practises: []
needs: []
runs_on: [torch, browser]
forbids: []
seconds: 5
---
Write `halve(x)`: it returns half of `x` — as a float, with the sign of `x`.

## Hints
### Hint 1: what to divide by
By `2.0`.
### Hint 2: the sign
Division keeps it.
### Hint 3: nearly the code
`x / ...`
"""

STARTER = '''\
from __future__ import annotations


def halve(x: float) -> float:
    """Return half of x, as a float with the sign of x."""
    # Your code goes here.
    raise NotImplementedError("halve")
'''

SOLUTION = '''\
"""Half of a number."""

from __future__ import annotations

import math

# What to divide by.
HALF = 2.0


def halve(x: float) -> float:
    """Return half of x."""
    # The sign is put back at the end.
    return math.copysign(_size(x), x)


def _size(x: float) -> float:
    return abs(x) / HALF
'''

CHECKS = """\
from autograder.checks import Check, Misconception, case, differ, each_call

same = each_call(lambda arguments, got, want: differ(got.returned, want.returned))
SEE = "book/01_sixteen_bits.html#halving"

CHECKS = (
    Check("halves", "Halves a positive number", 1.5, (case("two", x=2.0), case("three", x=3.0)), same,
          "Half of x is x divided by two.", SEE),
    Check("keeps_the_sign", "Keeps the sign of x", 1.0, (case("minus two", x=-2.0),), same,
          "Half of a negative number is negative.", SEE),
    Check("is_a_float", "Returns a float", 0.5, (case("an int", x=4),), same,
          "The result is a float, for an int too.", SEE),
)

MISCONCEPTIONS = (
    Misconception("size_only", "Half is about size, so the sign may go.", "Half of -2 is -1: division keeps the sign.",
                  SEE),
)
"""

LOSES_SIGN = """\
# caught by keeps_the_sign: size_only
def halve(x):
    return abs(x) / 2
"""

BY_SHIFTING = """\
# right: multiplies
def halve(x):
    return x * 0.5
"""


def write(root: Path, config: str = "") -> Path:
    """Write the course under a root folder and return the root.

    Args:
        root: an existing folder.
        config: the text of ``_config.yml``; none is written where it is empty.
    """
    files = {
        "exercises/halve/statement.md": STATEMENT,
        "exercises/halve/starter.py": STARTER,
        "exercises/halve/checks.py": CHECKS,
        "exercises/halve/wrong/loses_sign.py": LOSES_SIGN,
        "exercises/halve/right/multiplies.py": BY_SHIFTING,
        "solutions/halve.py": SOLUTION,
        "_config.yml": config,
        "nbgrader_config.py": (Path(__file__).parent.parent / "nbgrader_config.py").read_text(encoding="utf-8"),
    }
    for name, text in files.items():
        if text:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")
    return root
