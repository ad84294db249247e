"""``forbids``: the routes to a forbidden name that the policy promises to see, and what it must not mistake for one."""

from __future__ import annotations

import ast

import pytest
from doubling import FORBIDS, Room
from doubling import cells as numbered

from autograder.sandbox import cells, forbid


def found(*sources: str) -> list[tuple[int, int, str]]:
    return cells.forbidden(cells.parse(numbered(sources)), FORBIDS)


# ---------------------------------------------------------------------- in the source

IN_SOURCE = {
    "its full name": "import torch\ns = torch.amp.GradScaler('cpu')",
    "an alias of the module": "import torch as t\ns = t.amp.GradScaler('cpu')",
    "an alias of the submodule": "import torch.amp as a\ns = a.GradScaler('cpu')",
    "from its module": "from torch.amp import GradScaler\ns = GradScaler('cpu')",
    "from its module, renamed": "from torch.amp import GradScaler as Mine\ns = Mine('cpu')",
    "from where it is defined": "from torch.amp.grad_scaler import GradScaler\ns = GradScaler('cpu')",
    "the submodule from torch": "from torch import amp\ns = amp.GradScaler('cpu')",
    "the CUDA one": "import torch\ns = torch.cuda.amp.GradScaler()",
    "the CUDA one, imported": "from torch.cuda.amp import GradScaler",
    "a name for the module": "import torch\na = torch.amp\ns = a.GradScaler('cpu')",
    "a name for a name": "import torch\na = torch\nb = a.amp\ns = b.GradScaler",
    "a name for the class": "import torch\nMine = torch.amp.GradScaler",
    "getattr with a constant": "import torch\ns = getattr(torch.amp, 'GradScaler')('cpu')",
    "getattr of getattr": "import torch\ns = getattr(getattr(torch, 'amp'), 'GradScaler')('cpu')",
    "a base class": "import torch\nclass Mine(torch.amp.GradScaler): pass",
    "an annotation": "import torch\ndef g(x: torch.amp.GradScaler): pass",
    "in a function": "def g():\n    import torch\n    return torch.amp.GradScaler('cpu')",
    "in a branch not taken": "import torch\nif False:\n    torch.amp.GradScaler('cpu')",
    "the private operator": "import torch\ntorch._amp_update_scale_(1, 2, 3, 4, 5, 6)",
    "the private operator in ops": "import torch\ntorch.ops.aten._amp_update_scale_(1)",
    "one of its overloads": "import torch\ntorch.ops.aten._amp_update_scale_.default(1)",
    "the private operator's binding": "import torch\ntorch._C._VariableFunctions._amp_update_scale_(1)",
    "the private operator, imported": "from torch import _amp_update_scale_",
    "behind a magic": "%%time\nimport torch\ntorch.amp.GradScaler('cpu')",
}


@pytest.mark.parametrize("source", IN_SOURCE.values(), ids=IN_SOURCE.keys())
def test_it_is_found_in_the_source(source: str) -> None:
    hits = found(source)
    assert hits
    assert all(cell == 1 and name in FORBIDS for cell, _, name in hits)


def test_a_finding_has_its_cell_and_line() -> None:
    assert found("import torch", "a = 1\n\ns = torch.amp.GradScaler('cpu')") == [(2, 3, "torch.amp.GradScaler")]


def test_an_import_in_one_cell_and_its_use_in_another_are_seen_together() -> None:
    assert found("import torch as t", "a = t.amp", "s = a.GradScaler") == [(3, 1, "torch.amp.GradScaler")]
    assert found("s = a.GradScaler", "a = t.amp\nimport torch as t") == []  # in the order of the cells


def test_each_forbidden_name_is_called_as_the_student_wrote_it() -> None:
    hits = found("import torch\ntorch.cuda.amp.GradScaler\ntorch._amp_update_scale_\ntorch.amp.GradScaler")
    assert [name for _, _, name in hits] == ["torch.cuda.amp.GradScaler", FORBIDS[2], "torch.amp.GradScaler"]


WHOLE = {
    "its import": "import struct",
    "under another name": "import struct as s",
    "a name out of it": "from struct import unpack",
    "all names out of it": "from struct import *",
    "one of its modules": "import numpy.linalg",
    "the import as a call": "s = __import__('struct')",
    "import_module": "import importlib\ns = importlib.import_module('struct')",
    "import_module, imported": "from importlib import import_module\ns = import_module('numpy.linalg')",
    "in a function": "def f():\n    import struct\n    return struct.unpack",
}


@pytest.mark.parametrize("source", WHOLE.values(), ids=WHOLE.keys())
def test_a_whole_module_may_be_forbidden(source: str) -> None:
    hits = forbid.find(ast.parse(source), ("struct", "numpy"))
    assert {name for _, name in hits} in ({"struct"}, {"numpy"})


@pytest.mark.parametrize(
    "source",
    ["import structlog", "struct = 3\nstruct.unpack", "from mine import struct", "'struct'", "import mine.numpy"],
)
def test_what_only_sounds_like_the_module_is_allowed(source: str) -> None:
    assert forbid.find(ast.parse(source), ("struct", "numpy")) == []


ALLOWED = {
    "a class of one's own": "class GradScaler:\n    pass\ns = GradScaler()",
    "a function of one's own": "def _amp_update_scale_(x): return x\n_amp_update_scale_(1)",
    "a method of one's own": "class A:\n    def GradScaler(self): pass\nA().GradScaler()",
    "from a module of one's own": "from mine import GradScaler\nGradScaler()",
    "a docstring": "def f(x):\n    '''Do what torch.amp.GradScaler does.'''\n    return x",
    "a comment": "# not torch.amp.GradScaler\nimport torch",
    "a text": "import torch\nprint('torch.amp.GradScaler')",
    "a variable named scaler": "import torch\nscaler = 2.0\nscaler * torch.ones(1)",
    "autocast": "import torch\nwith torch.amp.autocast('cpu'):\n    pass",
    "the module itself": "import torch.amp\nfrom torch import amp\namp.autocast('cpu')",
    "the module it is in": "import torch.amp.grad_scaler",
    "part of the name": "import torch\ntorch.GradScalers\ntorch.amp.MyGradScaler",
    "getattr of something else": "import torch\ngetattr(torch, 'isfinite')",
    "a key": "{'GradScaler': 1}['GradScaler']",
    "an argument": "dict(GradScaler=1)",
}


@pytest.mark.parametrize("source", ALLOWED.values(), ids=ALLOWED.keys())
def test_what_only_looks_like_it_is_allowed(source: str) -> None:
    assert found(source) == []


def test_where_nothing_is_forbidden_nothing_is_found() -> None:
    assert forbid.find(ast.parse("import torch\ntorch.amp.GradScaler"), ()) == []


# ------------------------------------------------------------------------ at run time

AT_RUN_TIME = {
    "getattr with a computed name": "s = getattr(torch.amp, 'Grad' + 'Scaler')('cpu')",
    "a star import": "exec('from torch.amp import *')\n    s = locals()['GradScaler']('cpu')",
    "the module's dictionary": "s = vars(torch.amp)['GradScaler']('cpu')",
    "import_module": "import importlib\n    s = importlib.import_module('torch.amp').GradScaler('cpu')",
    "__import__": "s = __import__('torch.amp').amp.GradScaler('cpu')",
    "eval": "s = eval('torch.amp.GradScaler')('cpu')",
    "exec": "exec('import torch; torch.amp.GradScaler(\"cpu\")')",
    "unpacking": "a, b = torch.amp, 1\n    s = a.GradScaler('cpu')",
    "the subclasses of object": "[c for c in object.__subclasses__() if c.__name__ == 'GradScaler'][0]('cpu')",
    "a subclass": "type('Mine', (getattr(torch.amp, 'Grad' + 'Scaler'),), {})('cpu')",
    "the CUDA one": "s = getattr(torch.cuda.amp, 'Grad' + 'Scaler')()",
    "the operator": "getattr(torch, NAME)(*ARGUMENTS)",
    "the operator in ops": "getattr(torch.ops.aten, NAME)(*ARGUMENTS)",
    "its overload": "getattr(torch.ops.aten, NAME).default(*ARGUMENTS)",
    "its form that returns a new tensor": "getattr(torch.ops.aten, NAME[:-1])(*ARGUMENTS)",
    "its binding": "getattr(torch._C._VariableFunctions, NAME)(*ARGUMENTS)",
    "its name to the dispatcher": "torch._C._jit_get_operation('aten::' + NAME)[0](*ARGUMENTS)",
    "a scaler that was never made": (
        "S = getattr(torch.amp, 'Grad' + 'Scaler')\n    s = S.__new__(S)\n    s._enabled = True\n"
        "    getattr(torch, NAME)(*ARGUMENTS)"
    ),
}
PRELUDE = """\
import torch
NAME = '_amp_' + 'update_scale_'
ARGUMENTS = (torch.ones(1), torch.ones(1, dtype=torch.int32), torch.ones(1), 2.0, 0.5, 1)
"""
SWALLOWED = {
    "not at all": "def f():\n    {}",
    "by except": "def f():\n    try:\n        g()\n    except:\n        pass\ndef g():\n    {}",
    "by BaseException": "def f():\n    try:\n        g()\n    except BaseException:\n        pass\ndef g():\n    {}",
    "by finally": "def f():\n    try:\n        g()\n    finally:\n        return 1\ndef g():\n    {}",
    "in a cell": "def g():\n    {}\ntry:\n    g()\nexcept BaseException:\n    pass\nf = lambda: 1",
}


@pytest.mark.parametrize("route", AT_RUN_TIME.values(), ids=AT_RUN_TIME.keys())
def test_its_use_is_reported(plain_room: Room, route: str) -> None:
    source = PRELUDE + SWALLOWED["by BaseException"].format(route)
    assert plain_room.outcome(source, forbids=()).later == "", "the route is no route where nothing is forbidden"
    assert found(source) == [], "the source gives it away, so this is no test of the run"
    assert plain_room.outcome(source, forbids=FORBIDS).later in FORBIDS


@pytest.mark.parametrize("shell", SWALLOWED.values(), ids=SWALLOWED.keys())
@pytest.mark.parametrize("route", [AT_RUN_TIME["eval"], AT_RUN_TIME["the operator"]], ids=["class", "operator"])
def test_its_use_is_reported_however_it_is_swallowed(plain_room: Room, shell: str, route: str) -> None:
    assert plain_room.outcome(PRELUDE + shell.format(route), forbids=FORBIDS).later in FORBIDS


def test_the_exception_says_why(plain_room: Room) -> None:
    raised = plain_room.outcome(PRELUDE + SWALLOWED["not at all"].format(AT_RUN_TIME["eval"]), forbids=FORBIDS).raised
    assert raised is not None
    assert raised.type_name == "ForbiddenOperation"
    assert raised.message == forbid.sentence("torch.amp.GradScaler")


@pytest.mark.parametrize(
    "source",
    [
        "class GradScaler:\n    def __init__(self): self.a = 3\ndef f():\n    return GradScaler().a",
        "import torch\ndef f():\n    with torch.amp.autocast('cpu'):\n        return 3",
        "import torch\ndef f():\n    torch.amp\n    return 3",
        "import torch\ndef f():\n    return int(torch.isfinite(torch.ones(3)).sum())",
    ],
)
def test_what_is_allowed_runs_beside_the_guard(plain_room: Room, source: str) -> None:
    outcome = plain_room.outcome(source, forbids=FORBIDS)
    assert (outcome.returned, outcome.later) == (3, "")


def test_the_guard_ends_with_the_submission(plain_room: Room) -> None:
    source = "import torch\ndef f():\n    return type(getattr(torch.amp, 'Grad' + 'Scaler')('cpu')).__name__"
    assert plain_room.outcome(source, forbids=FORBIDS).later == FORBIDS[0]
    assert plain_room.outcome(source, forbids=()).returned == "GradScaler"


@pytest.mark.parametrize(
    "name", ["torch.amp.NoSuchThing", "no_such_module.Thing", "torch._amp_no_such_operator_", "no_such_module"]
)
def test_a_forbidden_name_that_this_torch_does_not_have_does_no_harm(plain_room: Room, name: str) -> None:
    outcome = plain_room.outcome("def f():\n    return 3", forbids=(name,))
    assert (outcome.returned, outcome.later) == (3, "")


def test_where_a_whole_module_is_forbidden_libraries_may_still_import_it(plain_room: Room) -> None:
    source = "import random, tempfile\ndef f():\n    import zipfile\n    return 3"
    outcome = plain_room.outcome(source, forbids=("struct", "torch"))
    assert (outcome.returned, outcome.later) == (3, "")


# ------------------------------------------------------------------------- the verdict


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ndef f(x):\n    torch.amp.GradScaler('cpu')\n    return x * 2",
        "import torch\ndef f(x):\n    try: eval('torch.amp.GradScaler')('cpu')\n    except: pass\n    return x * 2",
    ],
    ids=["source", "run time"],
)
def test_a_forbidden_answer_earns_nothing_and_says_why(plain_room: Room, source: str) -> None:
    graded = plain_room.grade(source)
    assert graded.statuses == ["forbidden"] * 3
    assert graded.points == 0
    assert "torch.amp.GradScaler is not accepted as its answer" in graded.message


def test_a_forbidden_answer_names_cell_and_line(plain_room: Room) -> None:
    graded = plain_room.grade("import torch", "\ndef f(x):\n    return torch.amp.GradScaler")
    assert graded.message.endswith("(cell 2, line 3).")
