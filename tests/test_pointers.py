"""Pointers: what is pointed at, what is not, and that looking costs little whatever is looked at."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autograder import catalog
from autograder.collect import collect
from autograder.models import Cell, Exercise
from autograder.notebooks import student_notebook, submission_notebook
from autograder.pointers import LISTED, NAMES, _nodes, pointers

EXERCISES = list(catalog.load_all(catalog.course_root()).values())
USES = frozenset(("dynamic_loss_scale_fp32/ctypes_float", "encode_float16/through_single"))
"""Known answers, as <exercise>/<name>, that do use one of these names, and so get the pointer."""

NAMED = {
    "import gc": "gc",
    "import os, ctypes.util as c": "ctypes.util",
    "from inspect import currentframe": "inspect",
    "import autograder.scenarios as s": "autograder.scenarios",
    "from autograder import check, scenarios": "autograder.scenarios",
    "from autograder.sandbox import frames": "autograder.sandbox",
    "import autograder\nx = autograder.tensors": "autograder.tensors",
    "from sys import _getframe as f": "sys._getframe",
    "from sys import modules": "sys.modules",
    "import sys\nsys.modules['torch'] = 1": "sys.modules",
    "import sys as s\nprint(s.modules)": "sys.modules",
    "import sys\nsys._getframe(1)": "_getframe",
    "def f(x):\n    g = x.f_back.f_locals": "f_back",
    "f.__globals__['x'] = 1": "__globals__",
    "import threading\nthreading.settrace(f)": "settrace",
    "getattr(sys, '_getframe')": "_getframe",
    "vars(f)['__closure__']": "__closure__",
    "exec('import gc')": "gc",
    "exec(b'sys.modules')": "sys.modules",
    "__import__('ctypes')": "ctypes",
    "import importlib\nimportlib.import_module('autograder.tensors')": "autograder.tensors",
    "f'{f.__globals__}'": "__globals__",
    "x = (lambda: 0).\N{FULLWIDTH LOW LINE}\N{FULLWIDTH LOW LINE}globals__": "__globals__",
    "%time import gc": "gc",
    "!ls\nimport sys; sys._getframe()": "_getframe",
    "x = [\nsys . modules": "sys.modules",
}
NOT_NAMED = [
    "from autograder import check\ncheck('grad_scaler_step', f)",
    "import autograder\nautograder.check('x', f)",
    "gc = 2.0\ninspect = gc * 2\nctypes = [gc]",
    "model.modules()\nfor m in net.modules: pass",
    "import sys\nprint(sys.maxsize, sys.version)",
    'def f():\n    """Unlike sys.modules and _getframe, this is documentation."""',
    "# import gc, f_back",
    "print('inspect the gradients; gc is the growth count')",
    "import gcsfs, inspection",
    "my_f_back = settrace_of = 1",
    "import importlib\nimportlib.import_module('math')",
    "%matplotlib inline\n# we inspect it by hand",
    "",
    "\0",
]


@pytest.mark.parametrize("source", NAMED, ids=lambda source: source.replace("\n", "; "))
def test_what_leads_into_the_grader_is_named_with_its_place(source: str) -> None:
    (found,) = pointers([Cell(1, "x = 1"), Cell(3, source)])
    line = next(
        n for n, text in enumerate(source.split("\n"), 1) if any(c in text for c in ("modules", NAMED[source][-4:]))
    )
    assert f"{NAMED[source]} (cell 3, line {line})" in found
    assert found.splitlines() == [found]


@pytest.mark.parametrize("source", NOT_NAMED)
def test_what_only_looks_like_it_is_not(source: str) -> None:
    assert pointers([Cell(1, source)]) == ()


def test_every_name_is_found_as_an_attribute_and_as_a_text() -> None:
    for name in NAMES:
        assert pointers([Cell(1, f"x.{name}")]) == pointers([Cell(1, f"y = '{name}'")]) != ()


def test_it_accuses_nobody_and_names_only_a_few() -> None:
    source = "\n".join(f"x.{name}" for name in sorted(NAMES))
    (found,) = pointers([Cell(1, source)])
    assert found.count("(cell") == LISTED
    assert f"and {len(NAMES) - LISTED} more" in found
    assert "for good reasons too" in found
    assert not set(found.lower().split()) & {"cheat", "attack", "hostile", "forged", "suspicious", "illegal"}


@pytest.mark.parametrize(
    "source",
    [
        "(" * 50_000, "-" * 100_000 + "1", "x." * 90_000 + "y", "[" * 150 + "]" * 150, "a," * 400_000,
        "f(" * 5_000 + ")" * 5_000, "'" + "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 50_000 + "'",
        "import " * 100_000, "from" + " " * 150_000, "sys" + " " * 150_000 + "x", "9" * 100_000, "\ud800", "\\" * 9_999,
    ],
    ids=range(13),
)  # fmt: skip
def test_no_source_is_too_much_for_it(source: str) -> None:
    assert pointers([Cell(1, source)]) == ()


def test_a_long_cell_is_searched_as_text() -> None:
    source = "x = 1\n" * 100_000 + "import gc\n"
    assert "gc (cell 1, line 100001)" in pointers([Cell(1, source)])[0]


PASSED_OVER = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


@pytest.mark.parametrize(
    "path", [ast.__file__, *sorted(Path(__file__).parent.glob("*.py"))], ids=lambda path: Path(path).name
)
def test_a_walk_passes_over_operators_and_contexts_alone(path: str | Path) -> None:
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    every = {id(node) for node in ast.walk(tree) if not isinstance(node, PASSED_OVER)}
    nodes = _nodes(tree)
    assert {id(node) for node in nodes} == every
    assert len(nodes) == len(every)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.slug)
def test_no_known_answer_has_one_unless_it_uses_these(exercise: Exercise, tmp_path: Path) -> None:
    answers = {answer.name: answer.source for answer in (*exercise.wrong, *exercise.right)}
    for name, source in {"solution": exercise.solution, **answers}.items():
        path = tmp_path / name / exercise.slug / f"{exercise.slug}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(submission_notebook(exercise, source))
    (tmp_path / f"starter/{exercise.slug}").mkdir(parents=True)
    (tmp_path / f"starter/{exercise.slug}/{exercise.slug}.ipynb").write_text(student_notebook(exercise, ""))
    found = {submission.student: pointers(submission.cells) for submission in collect(tmp_path, [exercise.slug])}
    assert len(found) == len(answers) + 2
    assert {f"{exercise.slug}/{name}" for name, pointed in found.items() if pointed} == {
        name for name in USES if name.startswith(f"{exercise.slug}/")
    }
