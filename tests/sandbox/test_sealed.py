"""Sealed functions: they do what the originals do, and no change to what they were made from reaches them."""

from __future__ import annotations

import builtins
import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from autograder import observations, scenarios, tensors, values
from autograder.checks import case, f32, f64
from autograder.sandbox.sealed import sealed

MODULE = """
import math
from types import MappingProxyType

LIMIT = 3

def helper(x, more=1, *, most=2):
    return x + more + most + LIMIT

def outer(x):
    def inner():
        return helper(math.floor(x)) + len("ab")
    return inner()

def where():
    import sys
    return sys._getframe()

TABLE = MappingProxyType({"outer": outer, "number": 1})

def through_table(x):
    return TABLE["outer"](x)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "to_be_sealed.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("to_be_sealed")
    del sys.modules["to_be_sealed"]


def lie(*args: object, **kwargs: object) -> float:
    return -1e9


CHANGES: dict[str, Callable[[Any, Any], None]] = {
    "nothing": lambda module, frame: None,
    "a function of the module": lambda module, frame: setattr(module, "helper", lie),
    "a number of the module": lambda module, frame: setattr(module, "LIMIT", 10**6),
    "the module's table": lambda module, frame: setattr(module, "TABLE", {"outer": lie}),
    "a function's globals": lambda module, frame: module.outer.__globals__.update(helper=lie),
    "the frame's globals": lambda module, frame: frame.f_globals.update(helper=lie, LIMIT=10**6),
    "the frame's globals, by dict": lambda module, frame: dict.__setitem__(frame.f_globals, "helper", lie),
    "the frame's globals, emptied": lambda module, frame: dict.clear(frame.f_globals),
    "the frame's builtins": lambda module, frame: dict.__setitem__(frame.f_builtins, "len", lie),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_no_change_from_outside_reaches_a_sealed_function(module: Any, change: Callable[[Any, Any], None]) -> None:
    copies = sealed([module])
    outer, through_table = copies[module.outer], copies[module.through_table]
    frame = copies[module.where]()
    assert outer is not module.outer
    change(module, frame)
    assert (outer(2.5), through_table(2.5)) == (10, 10)


@pytest.mark.parametrize("change", list(CHANGES.values())[1:4], ids=list(CHANGES)[1:4])
def test_the_original_is_reached_by_it(module: Any, change: Callable[[Any, Any], None]) -> None:
    change(module, None)
    assert (module.outer(2.5), module.through_table(2.5)) != (10, 10)


def test_other_modules_and_builtins_are_those_of_before(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import math

    outer = sealed([module])[module.outer]
    with monkeypatch.context() as patch:
        patch.setattr(math, "floor", lie)
        patch.setattr(builtins, "len", lie)
        found = outer(2.5)
    assert found == 10
    with pytest.raises(TypeError):
        sealed([module])[module.outer] = lie  # type: ignore[index]


def test_defaults_are_kept(module: Any) -> None:
    helper = sealed([module])[module.helper]
    assert (helper(1), helper(1, 2, most=3)) == (module.helper(1), module.helper(1, 2, most=3)) == (7, 9)


def test_the_observer_sees_the_same_when_it_is_sealed() -> None:
    import torch

    copies = sealed([values, tensors, scenarios, observations])
    observe, encode = copies[observations.observe], copies[observations.encode_observation]
    observe_built, prepare = copies[observations.observe_built], copies[scenarios.prepare]

    def answers(x: Any, y: Any) -> Any:
        print("here")
        x.mul_(2)
        if len(x) > 2:
            raise ValueError("three")
        return {"a": [x, y, None, 1.5, "text", (True, torch.ones(2, 2))], "b": object()}

    some = case("some", x=f32(1.0, 2.0), y=[f64(1.0), 3, f32(*range(5000))])
    assert isinstance(scenarios.SCENARIOS, MappingProxyType)
    for name in scenarios.SCENARIOS:
        for tried in (some, case("raises", x=f32(1.0, 2.0, 3.0), y=None)):
            sealed_one, plain_one = observe(answers, tried, name), observations.observe(answers, tried, name)
            assert sealed_one == plain_one
            assert encode(sealed_one) == observations.encode_observation(plain_one)
            built = [prepare(arguments) for arguments in tried.calls]
            assert repr(observe_built(answers, built, name)) == repr(encode(sealed_one))


def test_hiding_takes_the_package_out_of_imports() -> None:
    code = """
import gc, sys
import autograder.scenarios as kept
from autograder.sandbox.sealed import hide
gc.freeze(); hide()
assert not [name for name in sys.modules if name.split(".")[0] == "autograder"]
assert not [one for one in gc.get_objects() if one is vars(kept)]
import autograder.scenarios
assert autograder.scenarios is not kept
"""
    subprocess.run([sys.executable, "-c", code], check=True)
