"""Run by ``bench.stock`` in a course of its own: nbgrader's converters, one after the other in one process.

What is timed is nbgrader at work alone, without the start of Python and the import of nbgrader.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from typing import Any


def main(feedback: bool, slugs: list[str]) -> None:
    """Autograde every submission to each exercise, then write its feedback; print both seconds as JSON."""
    warnings.simplefilter("ignore")
    from nbgrader.apps import NbGrader
    from nbgrader.converters import Autograde, GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    app = NbGrader()
    app.initialize([])  # reads nbgrader_config.py, as its commands do
    app.log.setLevel(logging.ERROR)

    def run(converter: Any) -> float:
        seconds = 0.0
        for slug in slugs:
            course = CourseDirectory(parent=app, assignment_id=slug)
            start = time.perf_counter()
            converter(coursedir=course, parent=app).start()
            seconds += time.perf_counter() - start
        return seconds

    print(json.dumps({"autograde": run(Autograde), "generate_feedback": run(GenerateFeedback) if feedback else 0.0}))


main(sys.argv[1] == "feedback", sys.argv[2:])
