"""Run by ``bench.stock`` in a course of its own: nbgrader's converters, one after the other in one process.

What is timed is nbgrader at work alone, without the start of Python and the import of nbgrader.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import warnings
from typing import Any


def main(slugs: list[str]) -> None:
    """Autograde every submission to each exercise, then write its feedback; print what both took as JSON."""
    warnings.simplefilter("ignore")
    from nbgrader.apps import NbGrader
    from nbgrader.converters import Autograde, GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    app = NbGrader()
    app.initialize([])  # reads nbgrader_config.py, as its commands do
    app.log.setLevel(logging.ERROR)

    def run(converter: Any) -> dict[str, float]:
        wall, cpu = time.perf_counter(), _cpu()
        for slug in slugs:
            course = CourseDirectory(parent=app, assignment_id=slug)
            converter(coursedir=course, parent=app).start()
        return {"wall": time.perf_counter() - wall, "cpu": _cpu() - cpu}

    print(json.dumps({"autograde": run(Autograde), "generate_feedback": run(GenerateFeedback)}))


def _cpu() -> float:
    return sum(os.times()[:4])  # its own and that of the kernels, which it waits for


main(sys.argv[1:])
