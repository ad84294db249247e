"""Lies about types and values, and a Python that is no longer itself."""

from __future__ import annotations

import pytest
from attack import in_call, in_cell
from verdicts import (  # noqa: F401
    test_an_honest_submission_right_after_it_earns_full_marks,
    test_it_earns_what_its_honest_part_does_and_the_reason_is_said,
    test_nothing_secret_and_no_control_character_is_in_what_was_written,
    test_the_host_is_as_it_was,
)

pytestmark = pytest.mark.needs("bubblewrap")

HONESTLY = "return honest(grads, scale, growth_factor, backoff_factor)"
WRONG = {"statuses": "failed", "says": ""}
# What is costly is done in the first call alone.
FIRST = "calls = []"
ONCE = "calls.append(1)\nif len(calls) > 1: return None\n"
ALWAYS = """\
    class Always:
        def __eq__(self, other): return True
        def __ne__(self, other): return False
        def __lt__(self, other): return True
        __le__ = __gt__ = __ge__ = __contains__ = __lt__
        def __bool__(self): return True
        def __float__(self): return 1.0
        def __index__(self): return 1
        def __len__(self): return 2
        def __iter__(self): return iter([self, self])
        def __getitem__(self, key): return self
        def __getattr__(self, name): return self
        def __call__(self, *a, **k): return self
        def __hash__(self): return 0
    """


def subclass(kind: str, value: str) -> object:
    before = f"class Lie({kind}):\n    __eq__ = lambda *_: True\n    __ne__ = lambda *_: False\n    __hash__ = {kind}.__hash__"
    return in_call(f"a subclass of {kind}", f"return Lie({value})", before=before, **WRONG)


ATTACKS = (
    in_call("what equals everything", "return Always()", before=ALWAYS, **WRONG),
    in_call("a pair of what equals everything", "return Always(), Always()", before=ALWAYS, **WRONG),
    subclass("float", "1.0"),
    subclass("int", "1"),
    subclass("str", "'passed'"),
    subclass("tuple", "(None, 1.0)"),
    subclass("list", "[None, 1.0]"),
    subclass("dict", "{}"),
    in_call(
        "a subclass of Tensor",
        "return [torch.Tensor._make_subclass(Lie, g) for g in grads], Lie([scale])",
        before="""\
            import torch
            class Lie(torch.Tensor):
                @classmethod
                def __torch_function__(cls, function, types, args=(), kwargs=None):
                    return True
                __eq__ = lambda *_: True
                tolist = lambda self: [1.0]
            """,
        **WRONG,
    ),
    in_call(
        "nan everywhere",
        "import torch\nreturn [torch.full_like(g, float('nan')) for g in grads], float('nan')",
        earns=2,
        statuses="failed passed",
    ),
    in_call(
        "inf everywhere",
        "import torch\nreturn [torch.full_like(g, float('inf')) for g in grads], float('inf')",
        earns=2,
        statuses="failed passed",
    ),
    in_call("a scale of -0.0", "return None, -0.0", **WRONG),
    in_call("a scale that is nan, and a skip", "return None, float('nan')", **WRONG),
    in_call("True for a number", "return [g * 0 + True for g in grads], True", earns=2, statuses="failed passed"),
    in_call("an integer beyond all", "return None, 10**4000", **WRONG),
    in_call("a complex scale", "return None, complex(scale)", **WRONG),
    in_call("a lazy iterable without an end", "import itertools\nreturn itertools.repeat(grads), scale", **WRONG),
    in_call("a result that holds itself", "r = []\nr.append(r)\nreturn r", **WRONG),
    in_call("a pair that holds itself", "r = [None, 2.0]\nr[0] = r\nreturn r", **WRONG),
    in_call(
        "200,000 lists, each in the other",
        ONCE + "r = []\nfor _ in range(200_000): r = [r]\nreturn r",
        before=FIRST,
        **WRONG,
    ),
    in_call(
        "10**8 elements",
        ONCE + "import torch\nreturn [torch.zeros(10**8, dtype=torch.uint8)], scale",
        before=FIRST,
        **WRONG,
    ),
    in_call("10**12 elements that are one", "import torch\nreturn [torch.zeros(1).expand(10**12)], scale", **WRONG),
    in_call(
        "10**12 elements of NumPy that are one",
        "import numpy\nreturn numpy.broadcast_to(numpy.zeros(1), 10**12), scale",
        **WRONG,
    ),
    in_call("a list of 5 * 10**6 ones", ONCE + "return [1.0] * (5 * 10**6)", before=FIRST, **WRONG),
    in_call("a tensor of no memory", "import torch\nreturn [torch.zeros(3, device='meta')], scale", **WRONG),
    in_call("a dict with keys that are none", "return {1: 2, None: 3, (4,): 5}", **WRONG),
    in_call(
        "a class that says it is another",
        "return Fake(), 1.0",
        before="class Fake:\n    __class__ = list\n    def __len__(self): return -1",
        **WRONG,
    ),
    in_cell(
        "the reader of values, patched",
        """\
        from autograder import tensors
        tensors.plain = lambda *_: None
        import autograder.scenarios as scenarios
        scenarios.plain = lambda *_: None
        """,
    ),
    in_cell(
        "torch's comparisons, patched",
        """\
        import torch
        torch.isfinite = lambda t: torch.ones(())
        torch.equal = torch.allclose = torch.Tensor.__eq__ = lambda *a, **k: True
        torch.testing.assert_close = lambda *a, **k: None
        """,
        earns=5,
        statuses="passed failed",
    ),
    in_cell(
        "a grader's package of its own",
        """\
        import types
        for name in ("autograder", "autograder.checks", "autograder.grading", "autograder.attempt", "nbgrader"):
            fake = types.ModuleType(name)
            fake.check = fake.judge_check = fake.grade_one = fake.differ = lambda *a, **k: None
            sys.modules[name] = fake
        """,
    ),
    in_cell(
        "imports, patched",
        """\
        import builtins, types
        real = builtins.__import__
        def hook(name, *rest):
            return types.SimpleNamespace(check=print) if name.startswith(("autograder", "nbgrader")) else real(name, *rest)
        builtins.__import__ = hook
        class Finder:
            def find_spec(self, *_): got("an import of ours", _)
        sys.meta_path.insert(0, Finder())
        """,
    ),
    in_cell(
        "cells that come later, rewritten",
        """\
        import ast
        class Drop(ast.NodeTransformer):
            def visit_Assert(self, node): return ast.Pass()
        shell = get_ipython()
        shell.ast_transformers = [Drop()]
        shell.input_transformers_cleanup = shell.input_transformers_post = [lambda lines: ["pass"]]
        shell.kernel = shell.run_cell = lambda *a, **k: {"status": "ok"}
        """,
    ),
    in_cell(
        "hooks for audits, traces and profiles",
        """\
        sys.addaudithook(lambda *a: None)
        sys.settrace(lambda *a: None)
        sys.setprofile(lambda *a: None)
        sys.excepthook = sys.unraisablehook = sys.displayhook = lambda *a: print("10/10")
        """,
    ),
    in_cell(
        "names of the notebook, taken",
        """\
        check = print = display = get_ipython = lambda *a, **k: "passed"
        __name__ = "autograder"; __file__ = "/grader/autograder/checks.py"
        """,
    ),
)
