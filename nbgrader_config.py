"""nbgrader's own commands and formgrader, on the course that `autograder release` writes to build/course.

Run them from this folder: `nbgrader generate_assignment <slug>`, `nbgrader autograde <slug>`,
`nbgrader generate_feedback <slug>`, `jupyter lab` for formgrader. They need the virtual environment's bin on PATH:
nbgrader calls `alembic` by name. AUTOGRADER_GRADEBOOK names another gradebook for `autograder grade` and for them:
postgresql+psycopg://USER@HOST/NAME.
"""

import os
from pathlib import Path

from autograder.solution_cell import BEGIN, END, STUB

c = get_config()  # noqa: F821  (traitlets puts it there)

course = Path(__file__).resolve().parent / "build" / "course"
c.CourseDirectory.root = str(course)
c.CourseDirectory.course_id = "half_precision"
c.CourseDirectory.db_url = os.environ.get("AUTOGRADER_GRADEBOOK") or f"sqlite:///{course / 'gradebook.db'}"

c.ClearSolutions.begin_solution_delimeter = BEGIN
c.ClearSolutions.end_solution_delimeter = END
c.ClearSolutions.code_stub = {"python": STUB}

# Seconds for one cell; `check` cells take far less, and an endless loop costs this once for each of them.
c.Execute.timeout = 60
c.Execute.kernel_name = "python3"
