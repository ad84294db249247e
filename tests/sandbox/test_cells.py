"""A student's cells: they run as in a notebook, and what goes wrong is said with the student's own cells and lines."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator

import pytest
from doubling import cells as numbered

from autograder.models import Raised
from autograder.observations import describe
from autograder.sandbox import cells
from autograder.sandbox.cells import Loaded


@pytest.fixture(autouse=True)
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put back the modules and the cached lines that running cells replaces."""
    for name in ("__main__", "autograder"):
        monkeypatch.setitem(sys.modules, name, sys.modules[name])
    yield
    linecache.clearcache()


def run(*sources: str) -> Loaded:
    return cells.run(cells.parse(numbered(sources)))


def error_of(*sources: str) -> Raised:
    """Run the cells, call their f, and return how its exception is described."""
    function = cells.entry_of(run(*sources), "f")
    try:
        function()
    except BaseException as error:
        return describe(error, cells.cell_of)
    raise AssertionError("f raised nothing")


def value(name: str, *sources: str) -> object:
    loaded = run(*sources)
    assert not loaded.errors, loaded.errors
    return loaded.namespace[name]


# --------------------------------------------------------------------- one by one


def test_cells_share_a_namespace_and_the_last_definition_wins() -> None:
    assert value("b", "a = 1\ndef f(): return 1", "def f(): return a + 1", "b = f()") == 2


@pytest.mark.parametrize(
    "bad", ["1 / 0", "raise SystemExit", "raise KeyboardInterrupt", "import nowhere", "def", "x = (", "exit()", "\0"]
)
def test_after_a_cell_that_fails_the_next_ones_run(bad: str) -> None:
    loaded = run("a = 1", bad, "b = a + 1")
    assert loaded.namespace["b"] == 2
    assert [error.cell for error in loaded.errors] == [2]


def test_what_a_cell_did_before_it_failed_stays() -> None:
    assert run("a = 1\n1 / 0\na = 2").namespace["a"] == 1


def test_errors_come_in_the_order_of_the_cells() -> None:
    loaded = run("1 / 0", "x = (", "nowhere", "y y")
    assert [error.type_name for error in loaded.errors] == [
        "ZeroDivisionError", "SyntaxError", "NameError", "SyntaxError",
    ]  # fmt: skip


def test_a_cell_runs_as_main() -> None:
    assert value("a", "if __name__ == '__main__':\n    a = 1") == 1


def test_a_dataclass_with_annotations_as_text_finds_its_module() -> None:
    source = """\
        from __future__ import annotations
        from dataclasses import dataclass, field
        from typing import ClassVar

        @dataclass
        class Scaler:
            scale: float = 2.0
            known: ClassVar[list[int]] = [1]
            history: list[float] = field(default_factory=list)

        a = Scaler(4.0)
    """
    assert value("a", source).scale == 4.0


def test_a_future_import_holds_for_the_cells_after_it() -> None:
    source = "def f(x: Undefined) -> AlsoUndefined:\n    return x"
    assert value("f", "from __future__ import annotations", source).__annotations__["x"] == "Undefined"


def test_without_a_future_import_annotations_are_evaluated() -> None:
    assert value("f", "def f(x: int): return x").__annotations__ == {"x": int}


def test_await_at_the_top_of_a_cell_works_as_in_a_notebook() -> None:
    slow = "import asyncio\nasync def slow():\n    await asyncio.sleep(0)\n    return 3"
    assert value("b", slow, "a = await slow()\nb = a + 1") == 4


def test_an_exception_after_an_await_has_its_line() -> None:
    (error,) = run("import asyncio\nawait asyncio.sleep(0)\n1 / 0").errors
    assert (error.type_name, error.cell, error.line, error.source) == ("ZeroDivisionError", 1, 3, "1 / 0")


def test_check_does_nothing_here() -> None:
    assert value("a", "from autograder import check\na = check('f', 1, 'one')\nimport autograder") is None


def test_display_prints() -> None:
    assert run("display(1, 'two', metadata={})").output == "1\ntwo\n"


def test_output_is_kept_to_a_limit() -> None:
    loaded = run("import sys\nfor _ in range(1000):\n    print('x' * 100)\n    print('y' * 100, file=sys.stderr)")
    assert len(loaded.output) == 10_000
    assert loaded.output.startswith("x" * 100 + "\n" + "y" * 100)


def test_no_cells_define_nothing() -> None:
    assert cells.entry_of(run(), "f") is None


@pytest.mark.parametrize("source", ["f = 1", "f = None", "f = 'f'", "def g(): pass", "f: int"])
def test_what_cannot_be_called_is_no_entry(source: str) -> None:
    assert cells.entry_of(run(source), "f") is None


@pytest.mark.parametrize("source", ["def f(): pass", "f = lambda: 1", "class f: pass", "from math import sin as f"])
def test_what_can_be_called_is_an_entry(source: str) -> None:
    assert callable(cells.entry_of(run(source), "f"))


# ------------------------------------------------------------------ cells and lines


@pytest.mark.parametrize(
    ("source", "line", "text", "kind"),
    [
        ("a = 1\nretrun a", 2, "retrun a", "SyntaxError"),
        ("def f(x):\nreturn x", 2, "return x", "IndentationError"),
        ("def f(x):\n    a = 1\n\treturn x", 3, "return x", "TabError"),
        ("a = (1,\n\n", 1, "a = (1,", "SyntaxError"),
        ("\n\nx = 'abc", 3, "x = 'abc", "SyntaxError"),
        ("def f():\n    await g()", 2, "await g()", "SyntaxError"),
        ("return 1", 1, "return 1", "SyntaxError"),
        ("\n  \n%matplotlib inline\nb b", 4, "b b", "SyntaxError"),
        ("for i in range(3):\n    pass\nelse\n", 3, "else", "SyntaxError"),
    ],
)
def test_a_syntax_error_says_where(source: str, line: int, text: str, kind: str) -> None:
    (error,) = run("", source).errors
    assert (error.type_name, error.cell, error.line, error.source) == (kind, 2, line, text)


def test_a_syntax_error_below_a_magic_says_the_line_of_the_notebook() -> None:
    (error,) = run("%matplotlib inline\n!ls\na = 1\nb b").errors
    assert (error.cell, error.line, error.source) == (1, 4, "b b")


@pytest.mark.parametrize("source", ["(" * 5_000 + ")" * 5_000, "-" * 200_000 + "1"], ids=["parentheses", "signs"])
def test_source_that_is_too_deep_for_the_compiler_is_an_error_of_its_cell(source: str) -> None:
    loaded = run(source, "a = 1")
    assert [error.cell for error in loaded.errors] == [1]
    assert loaded.namespace["a"] == 1


def test_an_exception_is_where_the_students_innermost_line_is() -> None:
    error = error_of(
        "def helper(x):\n    def inner(y):\n        return 1 / y\n    return inner(x)",
        "# a comment\ndef f():\n    return helper(0)",
    )
    assert (error.cell, error.line, error.source) == (1, 3, "return 1 / y")


def test_an_exception_inside_a_library_is_where_the_student_called_it() -> None:
    error = error_of("import json", "def f():\n    return json.loads('{')")
    assert (error.type_name, error.cell, error.line) == ("JSONDecodeError", 2, 2)
    assert error.source == "return json.loads('{')"


def test_a_deep_recursion_is_where_the_student_recursed() -> None:
    error = error_of("def g(n):\n    return g(n + 1)", "def f():\n    return g(0)")
    assert (error.type_name, error.cell, error.line) == ("RecursionError", 1, 2)


@pytest.mark.parametrize("separator", ["\f", "\x1c", "\u2028", "\x85"], ids=ascii)
def test_a_line_is_what_the_compiler_takes_for_one(separator: str) -> None:
    error = error_of(f"a = '''{separator}'''\ndef f():\n    return 1 / 0")
    assert (error.line, error.source) == (3, "return 1 / 0")


def test_lines_may_end_as_on_windows() -> None:
    error = error_of("a = 1\r\ndef f():\r\n    return 1 / 0\r\n")
    assert (error.line, error.source) == (3, "return 1 / 0")


@pytest.mark.parametrize("name", ["<cell 7>", "<cell 12>"])
def test_a_file_name_of_a_cell_is_its_number(name: str) -> None:
    assert cells.cell_of(name) == int(name[6:-1])


@pytest.mark.parametrize("name", ["", "<cell>", "<cell -1>", "x<cell 1>", "<cell 1>x", "<cell 1>\n", "<stdin>"])
def test_other_file_names_are_no_cells(name: str) -> None:
    assert cells.cell_of(name) is None


# --------------------------------------------------------------------------- magics


@pytest.mark.parametrize(
    "magic", ["%%time", "%%timeit", "%%timeit -n 10 -r 3", "%%capture", "%%capture out", "%%prun -l 5", "\n\n%%time"]
)
def test_the_body_of_a_magic_that_only_measures_runs(magic: str) -> None:
    loaded = run(f"{magic}\na = 1\n\ndef f():\n    return 1 / 0")
    assert loaded.namespace["a"] == 1
    assert (loaded.errors, loaded.notes) == ([], [])


def test_such_magics_may_stand_one_above_the_other() -> None:
    assert value("a", "%%time\n%%capture\na = 1") == 1


def test_such_a_body_keeps_its_lines() -> None:
    error = error_of("%%time\n\ndef f():\n    return 1 / 0")
    assert (error.cell, error.line, error.source) == (1, 4, "return 1 / 0")


def test_such_a_body_may_hold_other_magics() -> None:
    loaded = run("%%time\n%matplotlib inline\na = 1")
    assert loaded.namespace["a"] == 1
    assert len(loaded.notes) == 1


def test_a_syntax_error_in_such_a_body_has_its_line() -> None:
    (error,) = run("%%time\na = 1\nb b").errors
    assert (error.cell, error.line, error.source) == (1, 3, "b b")


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("%%bash\nls > here", "%%bash with its cell"),
        ("%%html\n<b>", "%%html with its cell"),
        ("%%writefile torch.py\nx = 1", "%%writefile with its cell"),
        ("%matplotlib inline", "%matplotlib"),
        ("%load_ext autoreload\n", "%load_ext"),
        ("%timeit -n 1 -r 1 1 + 1", "%timeit"),
        ("%pip install torch", "%pip"),
        ("!rm -rf /", "!rm -rf /"),
        ("!!ls", "!ls"),
        ("x = !ls", "!ls"),
        ("x = %pwd", "%pwd"),
        ("if True:\n    !ls", "!ls"),
        ("get_ipython().run_line_magic('matplotlib', 'inline')", "%matplotlib"),
        ("get_ipython().system('ls')", "!ls"),
    ],
)
def test_a_magic_or_shell_command_is_skipped_with_a_note(source: str, note: str) -> None:
    loaded = run(source, "a = 1")
    assert loaded.errors == []
    assert loaded.namespace["a"] == 1
    assert loaded.notes == [f"skipped {note}: magics and shell commands do not run here"]


def test_the_rest_of_a_cell_with_a_magic_runs() -> None:
    assert value("b", "%matplotlib inline\na = !ls\nb = len(a)\n?len") == 0


def test_a_shell_command_over_several_lines_is_one() -> None:
    loaded = run("!pip install \\\n  torch\na = 1")
    assert (loaded.namespace["a"], len(loaded.notes)) == (1, 1)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("%time a = 3", 3),
        ("a = %time 1 + 2", 3),
        ("%time a = 1; a += 2", 3),
        ("def g():\n    return 3\n%time a = g()", 3),
    ],
)
def test_what_stands_behind_time_runs(source: str, expected: int) -> None:
    assert value("a", source) == expected


def test_an_exception_behind_time_has_its_line() -> None:
    (error,) = run("a = 1\n%time 1 / 0").errors
    assert (error.type_name, error.cell, error.line) == ("ZeroDivisionError", 1, 2)


def test_the_same_note_is_given_once_and_there_are_not_many() -> None:
    assert len(run("\n".join(["!ls"] * 5)).notes) == 1
    assert len(run("\n".join(f"!ls {number}" for number in range(50))).notes) == 20


def test_asking_for_the_shell_object_is_harmless() -> None:
    source = "a = get_ipython()\na.magic('matplotlib inline')\nb = 'google.colab' in str(get_ipython())"
    assert run(source).namespace["b"] is False


def test_cells_run_where_ipython_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", None)
    monkeypatch.setitem(sys.modules, "IPython.core.inputtransformer2", None)
    loaded = run("%matplotlib inline", "%%time\na = 1")
    assert loaded.namespace["a"] == 1
    assert [(error.type_name, error.cell) for error in loaded.errors] == [("SyntaxError", 1)]


def test_reading_a_cell_does_not_run_it() -> None:
    parsed = cells.parse(numbered(["raise SystemExit", "%time raise SystemExit", "x = !exit"]))
    assert all(item.error is None for item in parsed)


def test_the_note_on_a_magic_with_a_long_name_is_short() -> None:
    loaded = run(f"%{'m' * 5000}\nx = 1\n")
    assert loaded.namespace["x"] == 1
    assert [len(note) < 200 for note in loaded.notes] == [True]
