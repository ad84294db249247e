"""What an attack is: a student's notebook, what it may earn, and what must be said of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import Any

from autograder import catalog
from autograder.notebooks import submission_notebook

STEP = catalog.load("grad_scaler_step")
FULL = STEP.max_score
OTHER = catalog.load("dynamic_loss_scale")
HONEST = STEP.solution
_BODY = HONEST.replace("from __future__ import annotations\n", "").replace("def grad_scaler_step(", "def honest(")
SIGNATURE = "def grad_scaler_step(grads, scale, growth_factor=2.0, backoff_factor=0.5):\n"
PRELUDE = f'''\
from __future__ import annotations
import ctypes, os, platform, sys
LIBC = ctypes.CDLL(None, use_errno=True)
INTEL = platform.machine() == "x86_64"

def got(what, thing):
    """Tell the test that an attack has reached what it must not reach."""
    print("GOT", what, repr(thing)[:300])

def attempt(what, act):
    try:
        thing = act()
    except BaseException:
        return
    got(what, thing)

def libc(name, *arguments):
    """Call into libc; success is told."""
    if (answer := getattr(LIBC, name)(*arguments)) >= 0:
        got(name, answer)

def syscall(name, number, *arguments):
    """Call the kernel by the number that a call has on Intel's machines; success is told."""
    if INTEL and (answer := LIBC.syscall(number, *arguments)) >= 0:
        got(name, answer)

{_BODY}
'''
"""The first cell of every attack: ``honest`` is the solution, ``got`` tells the test of a success."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile submission to ``grad_scaler_step``."""

    name: str
    file: str
    """The notebook; ``@HOME@``, ``@CWD@``, ``@TREE@``, ``@OUT@``, ``@ROOT@``, ``@PORT@``, ``@PID@``, ``@MARK@`` and
    ``@NICE@`` are replaced by what this run has."""
    earns: float
    """What its honest part earns, and so what it must get."""
    statuses: frozenset[str]
    """Statuses that its checks have, exactly."""
    says: str = ""
    """Words of the submission's reason or of a failed check's message."""
    status: str = "graded"


def in_cell(name: str, source: str, *, earns: float = FULL, statuses: str = "passed", says: str = "") -> Attack:
    """Return an attack that a cell makes when it runs, before the cell with an honest answer."""
    file = submission_notebook(STEP, HONEST)
    return Attack(name, _with_cells(file, PRELUDE, dedent(source)), earns, _set(statuses), says)


def in_call(
    name: str, body: str, *, before: str = "", earns: float = 0.0, statuses: str = "crashed", says: str = "",
) -> Attack:  # fmt: skip
    """Return an attack that the graded function makes when it is called; ``before`` stands above the function."""
    answer = dedent(before) + "\n" + SIGNATURE + indent(dedent(body), "    ")
    file = _with_cells(submission_notebook(STEP, answer), PRELUDE)
    return Attack(name, file, earns, _set(statuses), says)


def in_notebook(
    name: str,
    edit: Callable[[dict[str, Any]], None],
    *,
    answer: str = SIGNATURE + "    return None\n",
    earns: float = 0.0,
    statuses: str = "failed",
    says: str = "",
    status: str = "graded",
) -> Attack:
    """Return an attack by the notebook itself, whose answer is wrong unless one is given; ``edit`` changes it."""
    notebook = json.loads(submission_notebook(STEP, answer))
    edit(notebook)
    return Attack(name, json.dumps(notebook), earns, _set(statuses), says, status)


def cell_with(notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
    """Return the notebook's cell of that grade id."""
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id:
            return cell
    raise KeyError(grade_id)


def code(source: str) -> dict[str, Any]:
    """Return a student's own code cell."""
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


def _with_cells(file: str, *sources: str) -> str:
    notebook = json.loads(file)
    notebook["cells"][:0] = [code(source) for source in sources]
    return json.dumps(notebook)


def _set(statuses: str) -> frozenset[str]:
    return frozenset(statuses.split())
