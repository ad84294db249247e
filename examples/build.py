"""Make the sample class, ``examples/submissions``: 24 notebooks as students hand them in, from right to hostile.

Run ``.venv/bin/python examples/build.py`` after a notebook changed; ``--check`` only says what is not current.
Answers come from the exercises' own right/ and wrong/ folders, so that they stay proven; what students do to
notebooks around them (helper cells, magics, duplicated and reordered cells, damage) is done here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder import catalog
from autograder.addresses import read_addresses
from autograder.models import Exercise
from autograder.notebooks import student_notebook

SUBMISSIONS = Path(__file__).parent / "submissions"
STEP, SCALE = "grad_scaler_step", "dynamic_loss_scale"
Notebook = dict[str, Any]


def build() -> dict[Path, bytes]:
    """Return the sample class: each file's path below ``submissions`` and its bytes."""
    exercises = catalog.load_all()
    files = {}
    for student, slug, make in CLASS:
        text = student_notebook(exercises[slug], repository=read_addresses(catalog.course_root()).repository)
        files[Path(student, slug, f"{slug}.ipynb")] = make(exercises[slug], json.loads(text))
    return files


# ------------------------------------------------------------------- what students do


def _code(source: str) -> Notebook:
    lines = source.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "id": "x", "metadata": {}, "outputs": [], "source": lines}


def _solution(notebook: Notebook) -> Notebook:
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("solution"))


def _bytes(notebook: Notebook) -> bytes:
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"cell-{number}"  # Jupyter gives every cell an id of its own
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _body(source: str) -> str:
    """Return an answer's source without its first lines of comments, which only its folder needs."""
    lines = source.splitlines(keepends=True)
    while lines and (lines[0].startswith("#") or not lines[0].strip()):
        lines = lines[1:]
    return "".join(lines)


def _answer(exercise: Exercise, kind: str, name: str) -> str:
    answers = {"right": exercise.right, "wrong": exercise.wrong}[kind]
    return _body(next(answer.source for answer in answers if answer.name == name))


def answer(kind: str, name: str) -> Callable[[Exercise, Notebook], bytes]:
    """Return a student who wrote one of the exercise's known answers."""

    def make(exercise: Exercise, notebook: Notebook) -> bytes:
        _solution(notebook)["source"] = _answer(exercise, kind, name).splitlines(keepends=True)
        return _bytes(notebook)

    return make


def untouched(exercise: Exercise, notebook: Notebook) -> bytes:
    """Hand in the notebook as it was given out."""
    return _bytes(notebook)


def explorer(exercise: Exercise, notebook: Notebook) -> bytes:
    """Work as in a lab: magics, a shell command, a plot that fails, prints, the answer spread over helper cells."""
    first = "%matplotlib inline\n!pip install --quiet torch\nimport torch\nprint('torch', torch.__version__)\n"
    helper = "def overflowed(gradients):\n    return any(not torch.isfinite(g).all() for g in gradients)\n"
    own = (
        "def grad_scaler_step(grads, scale, growth_factor=2.0, backoff_factor=0.5):\n"
        "    unscaled = [g / scale for g in grads]\n"
        "    if overflowed(unscaled):\n"
        "        return None, scale * backoff_factor\n"
        "    return unscaled, scale * growth_factor\n"
    )
    try_it = "grad_scaler_step([torch.tensor([2048.0, -4096.0])], 1024.0)\nplot(scales)  # no such thing yet\n"
    _solution(notebook)["source"] = own.splitlines(keepends=True)
    notebook["cells"][1:1] = [_code(first), _code(helper)]
    notebook["cells"].append(_code(try_it))
    return _bytes(notebook)


def rearranged(exercise: Exercise, notebook: Notebook) -> bytes:
    """Duplicate, reorder, edit and delete cells, the graded ones and their points too."""
    cells = notebook["cells"]
    _solution(notebook)["source"] = _answer(exercise, "right", exercise.right[0].name).splitlines(keepends=True)
    graded = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("grade")]
    graded[0]["metadata"]["nbgrader"]["points"] = 100
    graded[1]["source"] = ["assert True\n"]
    cells.remove(graded[2])
    cells.append(json.loads(json.dumps(_solution(notebook))))
    cells.insert(0, cells.pop(cells.index(graded[3])))
    return _bytes(notebook)


def cut(exercise: Exercise, notebook: Notebook) -> bytes:
    """Hand in a file that was cut off while it was copied."""
    data = answer("right", exercise.right[0].name)(exercise, notebook)
    return data[: len(data) // 2]


def empty(exercise: Exercise, notebook: Notebook) -> bytes:
    """Hand in an empty file."""
    return b""


def typed(source: str) -> Callable[[Exercise, Notebook], bytes]:
    """Return a student who typed this into the solution cell."""

    def make(exercise: Exercise, notebook: Notebook) -> bytes:
        _solution(notebook)["source"] = source.splitlines(keepends=True)
        return _bytes(notebook)

    return make


_SYNTAX = """\
def grad_scaler_step(grads, scale, growth_factor=2.0, backoff_factor=0.5):
    unscaled = [g / scale for g in grads]
    if any(not g.isfinite().all() for g in unscaled)
        return None, scale * backoff_factor
    return unscaled, scale * growth_factor
"""
_LOOP = """\
def dynamic_loss_scale(overflows, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
    scale, step, scales, skipped = float(init_scale), 0, [], []
    while step < len(overflows):
        if overflows[step]:
            scale *= backoff_factor
            continue
        scales.append(scale)
        step += 1
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
"""
_FORGER = """\
import json, os, struct, torch

class Anything(float):
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __lt__(self, other): return False

torch.allclose = torch.equal = lambda *a, **k: True
json.loads = lambda *a, **k: {"passed": True, "score": 10}
for number in range(3, 64):
    try:
        message = b'{"passed": true, "score": 10}'
        os.write(number, struct.pack(">I", len(message)) + message)
    except OSError:
        pass

def grad_scaler_step(grads, scale, growth_factor=2.0, backoff_factor=0.5):
    print("10/10")
    return [Anything(1.0)], Anything(1.0)
"""
_SNOOP = """\
import glob, os, socket, subprocess

places = ("/*/", "/home/*/", "/home/*/*/", "/root/*/", "/root/*/*/", "../", "../../", "../../../", "/grader/")
found = [path for place in places for name in ("solutions/*.py", "exercises/*/checks.py", "gradebook.db")
         for path in glob.glob(place + name)]
for path in found:
    os.remove(path)
try:
    socket.create_connection(("127.0.0.1", 8000), timeout=1)
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
    os.fork()
except OSError as error:
    print("refused:", error)
print("found", found)

def dynamic_loss_scale(overflows, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
    return {"scales": [65536.0] * len(overflows), "skipped": [], "final_scale": 65536.0}
"""

CLASS: tuple[tuple[str, str, Callable[[Exercise, Notebook], bytes]], ...] = (
    ("ada", STEP, answer("right", "early_return")),
    ("ben", STEP, answer("wrong", "only_isinf")),
    ("chen", STEP, answer("wrong", "does_not_unscale")),
    ("dana", STEP, answer("wrong", "checks_before_dividing")),
    ("emil", STEP, answer("wrong", "divides_in_place")),
    ("fatima", STEP, answer("wrong", "always_doubles")),
    ("goran", STEP, answer("wrong", "sum_of_sums")),
    ("omar", STEP, untouched),
    ("quinn", STEP, typed(_SYNTAX)),
    ("ravi", STEP, rearranged),
    ("tara", STEP, answer("wrong", "uses_grad_scaler")),
    ("vera", STEP, explorer),
    ("hana", SCALE, answer("right", "runs_by_groupby")),
    ("jun", SCALE, answer("wrong", "counts_all_good_steps")),
    ("kofi", SCALE, answer("wrong", "records_after_the_update")),
    ("lena", SCALE, answer("wrong", "one_step_late")),
    ("mei", SCALE, answer("wrong", "floor_of_one")),
    ("noor", SCALE, answer("wrong", "keeps_the_int")),
    ("pia", SCALE, untouched),
    ("loop-sam", SCALE, typed(_LOOP)),
    ("damaged-cut", STEP, cut),
    ("damaged-empty", SCALE, empty),
    ("hostile-forger", STEP, typed(_FORGER)),
    ("hostile-snoop", SCALE, typed(_SNOOP)),
)


def main() -> int:
    """Write the class, or with ``--check`` say what is not current; return the exit status."""
    stale = []
    for path, data in build().items():
        target = SUBMISSIONS / path
        if not target.exists() or target.read_bytes() != data:
            stale.append(str(path))
            if "--check" not in sys.argv:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
    print("\n".join(stale) or "everything is current")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
