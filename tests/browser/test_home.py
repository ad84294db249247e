"""An interpreter is as it was after a student's code has run in it."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
import warnings

from autograder.browser import absent, home


def test_what_code_does_to_modules_is_undone() -> None:
    before, cwd, state = set(sys.modules), os.getcwd(), random.getstate()
    filters = list(warnings.filters)
    path, limit, finite = list(sys.path), sys.getrecursionlimit(), math.isfinite
    with home.kept():
        exec(
            "import math, sys, os, random, builtins, json, warnings\n"
            "math.isfinite = lambda x: True\nmath.extra = 1\ndel math.pi\n"
            "sys.modules['json'] = None\nsys.modules['mine'] = math\ndel sys.modules['random']\n"
            "sys.path.insert(0, '/')\nsys.path.clear()\nsys.setrecursionlimit(limit)\nsys.stdout = None\n"
            "os.chdir('/')\nos.environ['X_Y'] = '1'\nrandom.random()\nwarnings.simplefilter('once')\n",
            {"limit": limit + 7},
        )
        assert math.isfinite(math.inf)
    assert (math.isfinite, hasattr(math, "extra"), round(math.pi, 2)) == (finite, False, 3.14)
    assert set(sys.modules) == before
    assert sys.modules["random"] is random
    assert (sys.path, sys.getrecursionlimit(), os.getcwd()) == (path, limit, cwd)
    assert sys.stdout is not None
    assert random.getstate() == state
    assert "X_Y" not in os.environ
    assert warnings.filters == filters


def test_builtins_that_code_replaces_are_its_own() -> None:
    ours, length = sys.modules["builtins"], len
    with home.kept():
        theirs = sys.modules["builtins"]
        exec("import builtins\nbuiltins.len = lambda x: 0\nseen = len('abc')", names := {"__builtins__": theirs})
        assert names["seen"] == 0
        assert len("abc") == 3
    assert sys.modules["builtins"] is ours
    assert len is length


def test_an_exception_passes_and_leaves_the_interpreter_in_order() -> None:
    finite = math.isfinite
    try:
        with home.kept():
            math.isfinite = None  # type: ignore[assignment]
            raise SystemExit
    except SystemExit:
        pass
    assert math.isfinite is finite


def test_a_library_that_is_absent_says_where_the_code_runs() -> None:
    code = (
        "from autograder.browser import absent\nabsent.install()\nabsent.install()\n"
        "for name in ('numpy', 'torch.nn', 'no_such_module'):\n"
        "    try: __import__(name)\n    except ImportError as error: print(error)\n"
        "import sys\nprint(sys.meta_path.count(absent.Finder))\n"
    )
    command = [sys.executable, "-S", "-c", code]
    run = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=os.path.dirname(absent.__file__) + "/../.."
    )
    assert run.stdout.splitlines() == [
        f"NumPy is not there when Python runs in the page; {absent.ELSEWHERE}",
        "No module named 'torch'",
        "No module named 'no_such_module'",
        "1",
    ]
