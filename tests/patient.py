"""The command line with more time for each submission than a machine that stands still ever takes.

What is right earns its marks then however busy the machine is. What loops is not for it.
"""

from __future__ import annotations

import sys
from typing import Final

SECONDS: Final = 60.0
START: Final = f"""
from dataclasses import replace
from autograder import catalog
load = catalog.load
catalog.load = lambda *given, **more: replace(load(*given, **more), seconds={SECONDS})
"""
"""What a process runs first, so that every exercise has so many seconds; workers are told them by it."""
COMMAND: Final = (
    sys.executable,
    "-c",
    f"import runpy{START}runpy.run_module('autograder', run_name='__main__', alter_sys=True)",
)
"""In the place of ``python -m autograder``."""
