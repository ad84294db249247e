"""``make bench``: run every measurement, print a table, leave ``build/bench.json``.

``python -m bench pages`` runs those alone whose names are given.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from bench.grading import against_nbgrader, memory
from bench.page import pages
from bench.start import check_against_import, help_against_python
from bench.timing import Ratio


def main() -> None:
    """Measure, print, write."""
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    ratios: list[Ratio] = []
    for measure in (against_nbgrader, check_against_import, help_against_python, memory, pages):
        if sys.argv[1:] and measure.__name__ not in sys.argv[1:]:
            continue
        for ratio in measure():
            ratios.append(ratio)
            print(ratio.line(), flush=True)
    out = Path("build/bench.json")
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps([asdict(ratio) for ratio in ratios], indent=1) + "\n")


main()
