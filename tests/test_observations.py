"""What a run of a function leaves behind: outcomes, exceptions with their place, output, and nothing on stderr."""

from __future__ import annotations

import json
import linecache
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import JSON, NAMES, VALUES

from autograder import observations
from autograder.checks import calls, case, f32
from autograder.models import Case, Observation, Opaque, Outcome, Raised, Scalar, Tensor
from autograder.observations import (
    OUTPUT_LIMIT,
    Capture,
    decode_observation,
    describe,
    digest,
    encode_observation,
    observe,
)
from autograder.values import BadValue

ONE = case("one", x=1.0)


def cell_of(filename: str) -> int | None:
    return int(filename[6:-1]) if filename.startswith("<cell ") else None


@pytest.fixture
def student() -> Iterator[Callable[[str], Any]]:
    """Return a function that runs source as the student's cell 3 and returns its ``f``."""
    name = "<cell 3>"

    def define(source: str) -> Any:
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {}
        exec(compile(source, name, "exec"), namespace)
        return namespace["f"]

    yield define
    linecache.cache.pop(name, None)


def raised(seen: Observation) -> Raised:
    (outcome,) = seen.outcomes
    assert outcome.raised is not None
    return outcome.raised


# --------------------------------------------------------------------------- outcomes


def test_what_came_back_and_what_became_of_the_arguments():
    def f(x: torch.Tensor, rest: list[float]) -> torch.Tensor:
        rest.append(7.0)
        return x.add_(1)

    seen = observe(f, calls("two", {"x": f32(1.0), "rest": [1.0]}, {"x": f32(2.0), "rest": []}))
    assert seen == Observation(
        (
            Outcome(f32(2.0), after={"x": f32(2.0), "rest": [1.0, 7.0]}),
            Outcome(f32(3.0), after={"x": f32(3.0), "rest": [7.0]}),
        )
    )


def test_overwritten_tells_a_view_from_a_copy():
    view = observe(lambda x: x.view(-1), case("", x=f32(1.0)), "overwritten")
    copy = observe(lambda x: x.clone(), case("", x=f32(1.0)), "overwritten")
    (of_view,), (of_copy,) = view.outcomes, copy.outcomes
    assert (of_view.returned, of_view.after, of_view.later) == (f32(1.0), {"x": f32(1.0)}, f32(123.0))
    assert (of_copy.returned, of_copy.after, of_copy.later) == (f32(1.0), {"x": f32(1.0)}, f32(1.0))


def test_each_calls_once_for_every_element():
    seen = observe(lambda x, y: x - y, case("", x=[3, 5.0], y=[1, 2]), "each")
    assert seen == Observation((Outcome([2, 3.0]),))
    assert observe(lambda x: x, case("", x=[]), "each") == Observation((Outcome([]),))
    assert observe(lambda x: x.add_(1), case("", x=[f32(1.0)]), "each") == Observation((Outcome([f32(2.0)]),))


def test_each_ends_with_the_first_exception():
    called: list[int] = []
    (outcome,) = observe(lambda x: called.append(x) or 1 / x, case("", x=[1, 0, 2]), "each").outcomes
    assert outcome == Outcome(raised=Raised("ZeroDivisionError", "division by zero"))
    assert called == [1, 0]


@pytest.mark.parametrize("scenario", ["kept", "overwritten"])
def test_what_came_back_is_read_again_after_all_calls(scenario: str):
    buffer, book = torch.empty(1), {}

    def into_a_buffer(x: torch.Tensor) -> torch.Tensor:
        return torch.mul(x, 2, out=buffer)

    def into_a_dict(x: torch.Tensor) -> dict[str, list[float]]:
        book.update(x=x.tolist())
        return book

    three = calls("", {"x": f32(1.0)}, {"x": f32(2.0)}, {"x": f32(3.0)})
    for function, one, last in (
        (into_a_buffer, f32(2.0), f32(6.0)),
        (into_a_dict, {"x": [1.0]}, {"x": [3.0]}),
        (lambda x: x * 2, f32(2.0), f32(2.0)),
    ):
        first = observe(function, three, scenario).outcomes[0]
        assert (first.returned, first.kept) == (one, last)
        assert first.later == (one if scenario == "overwritten" else None)


def test_a_scenario_that_does_not_ask_reads_once():
    assert [outcome.kept for outcome in observe(lambda x: x, calls("", {"x": 1}, {"x": 2})).outcomes] == [None, None]


def test_an_exception_of_the_second_reading_belongs_to_its_call(monkeypatch: pytest.MonkeyPatch):
    seen = []

    def plain(value: object) -> object:
        seen.append(value)
        if len(seen) > 4:
            raise MemoryError
        return value

    monkeypatch.setattr("autograder.observations.plain", plain)
    first, second = observe(lambda x: x, calls("", {"x": 1}, {"x": 2}), "kept").outcomes
    assert (first.raised.type_name, second.raised.type_name) == ("MemoryError", "MemoryError")


def test_kept_survives_the_json_form():
    seen = observe(lambda x: [x], calls("", {"x": 1}, {"x": 2}), "kept")
    assert decode_observation(encode_observation(seen)) == seen


def test_an_unknown_scenario_is_not_the_students_fault():
    with pytest.raises(KeyError, match="cal"):
        observe(lambda x: x, ONE, "cal")


def test_calls_after_an_exception_are_made():
    seen = observe(lambda x: 1 / x, calls("", {"x": 0}, {"x": 2}))
    assert [outcome.returned for outcome in seen.outcomes] == [None, 0.5]
    assert seen.outcomes[0].raised == Raised("ZeroDivisionError", "division by zero")


# ----------------------------------------------------------------------------- output


def test_nothing_reaches_stdout_or_stderr_and_warnings_are_silent(capfd: pytest.CaptureFixture[str]):
    def f(x: float) -> None:
        print("out")
        print("err", file=sys.stderr)
        warnings.warn("loud", stacklevel=1)
        torch.tensor([1.0]).half() * 1e30

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        seen = observe(f, ONE)
    assert seen.output == "out\nerr\n"
    assert raised_or_none(seen) is None
    assert heard == []
    assert capfd.readouterr() == ("", "")


def raised_or_none(seen: Observation) -> Raised | None:
    return seen.outcomes[0].raised


def test_output_is_bounded_and_costs_no_more_than_the_limit():
    def f(x: float) -> None:
        for _ in range(100):
            print("x" * 1000)

    assert observe(f, ONE).output == "".join(["x" * 1000 + "\n"] * 11)[:OUTPUT_LIMIT]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda out: out.close(),
        lambda out: super(Capture, out).write("y" * 50_000),
        lambda out: (out.seek(10**6), out.write("far")),
        lambda out: (out.truncate(0), out.seek(0), out.write("y" * 50_000)),
        lambda out: out.writelines(["y" * 9000] * 9),
    ],
    ids=["closed", "written past write", "far position", "emptied", "lines"],
)
def test_a_spoiled_stdout_spoils_nothing(spoil: Callable[[Any], Any]):
    def f(x: float) -> int:
        spoil(sys.stdout)
        print("after")
        return 7

    seen = observe(f, ONE)
    assert seen.outcomes[0].returned == 7
    assert len(seen.output) <= OUTPUT_LIMIT
    decode_observation(encode_observation(seen))


def test_streams_are_given_back():
    before = sys.stdout, sys.stderr

    def f(x: float) -> None:
        sys.stdout = None
        raise ValueError

    assert raised(observe(f, ONE)).type_name == "ValueError"
    assert (sys.stdout, sys.stderr) == before


# ------------------------------------------------------------------------- exceptions


def test_an_exception_has_type_message_cell_line_and_source(student: Callable[[str], Any]):
    f = student("def g(x):\n    return x['a']\n\ndef f(x):\n    return g(x)\n")
    found = raised(observe(f, ONE, cell_of=cell_of))
    assert found == Raised("TypeError", "'float' object is not subscriptable", 3, 2, "return x['a']")


def test_the_line_is_the_students_also_where_a_library_raises(student: Callable[[str], Any]):
    f = student("import torch\n\ndef f(x):\n    return torch.ones(2) + torch.ones(3)  # here\n")
    found = raised(observe(f, ONE, cell_of=cell_of))
    assert (found.type_name, found.cell, found.line) == ("RuntimeError", 3, 4)
    assert found.source == "return torch.ones(2) + torch.ones(3)  # here"


def test_without_a_cell_there_is_no_place():
    assert raised(observe(lambda x: x.nothing, ONE, cell_of=cell_of)).line is None


def test_in_a_notebook_the_line_is_that_of_the_kernels_file():
    name = "/tmp/ipykernel_7/123.py"
    namespace: dict[str, Any] = {}
    exec(compile("\ndef f(x):\n    return x.nothing\n", name, "exec"), namespace)
    found = raised(observe(namespace["f"], ONE))
    assert (found.cell, found.line) == (None, 3)


def test_a_recursion_names_the_line_that_recurs(student: Callable[[str], Any]):
    found = raised(observe(student("def f(x):\n    return f(x + 1)\n"), ONE, cell_of=cell_of))
    assert (found.type_name, found.cell, found.line) == ("RecursionError", 3, 2)
    assert found.message.startswith("maximum recursion depth exceeded")


def test_a_syntax_error_of_a_cell_has_its_own_place():
    with pytest.raises(SyntaxError) as caught:
        compile("x = 1\ny = = 2\n", "<cell 4>", "exec")
    assert describe(caught.value, cell_of) == Raised("SyntaxError", "invalid syntax", 4, 2, "y = = 2")


def test_a_syntax_error_at_run_time_is_placed_at_the_call(student: Callable[[str], Any]):
    f = student("import ast\n\ndef f(x):\n    return ast.literal_eval('1 +')\n")
    found = raised(observe(f, ONE, cell_of=cell_of))
    assert (found.type_name, found.cell, found.line) == ("SyntaxError", 3, 4)
    assert found.source == "return ast.literal_eval('1 +')"


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), MemoryError(), StopIteration(1), BaseException("b")])
def test_whatever_is_raised_is_observed(error: BaseException):
    def f(x: float) -> None:
        raise error

    assert raised(observe(f, ONE)).type_name == type(error).__name__


def test_a_student_may_interrupt_their_own_run():
    def f(x: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        observe(f, ONE)


class Silent(Exception):
    def __str__(self) -> str:
        raise ValueError


class Numeric(Exception):
    def __str__(self) -> Any:
        return 5


class Long(Exception):
    def __str__(self) -> str:
        return "x" * 10_000


class Untraced(Exception):
    __traceback__ = 5  # type: ignore[assignment]


class Meta(type):
    __name__ = property(lambda cls: 5)  # type: ignore[assignment]


class Unnamed(Exception, metaclass=Meta):
    pass


def _syntax_error(**fields: Any) -> SyntaxError:
    error = SyntaxError("spoiled", ("<cell 1>", 1, 1, "x"))
    for name, value in fields.items():
        setattr(error, name, value)
    return error


@pytest.mark.parametrize(
    ("error", "name", "message"),
    [
        (Silent(), "Silent", ""), (Numeric(), "Numeric", ""), (Long(), "Long", "x" * 500),
        (Untraced("m"), "Untraced", "m"), (Unnamed("m"), "Unnamed", "m"),
        (type("N" * 300, (Exception,), {})("m"), "N" * 100, "m"),
        (ValueError(f"{object()} is odd"), "ValueError", "<object object> is odd"),
        (ValueError("\ud800"), "ValueError", "\ud800"),
        (_syntax_error(msg=5), "SyntaxError", ""), (_syntax_error(text=5), "SyntaxError", ""),
        (_syntax_error(filename=5), "SyntaxError", ""),
        (_syntax_error(lineno="1"), "SyntaxError", "spoiled (<cell 1>)"),
        (_syntax_error(lineno=10**12), "SyntaxError", f"spoiled (<cell 1>, line {10**12})"),
    ],
)  # fmt: skip
def test_a_hostile_exception_is_described_and_can_be_sent(error: BaseException, name: str, message: str):
    def f(x: float) -> None:
        raise error

    seen = observe(f, ONE, cell_of=cell_of)
    assert (raised(seen).type_name, raised(seen).message) == (name, message)
    assert decode_observation(json.loads(json.dumps(encode_observation(seen)))) == seen


# ------------------------------------------------------------------------------- JSON

RAISED = st.builds(
    Raised, NAMES, NAMES, st.none() | st.integers(0, 10**9 - 1), st.none() | st.integers(0, 10**9 - 1), NAMES
)
RETURNED = st.builds(Outcome, returned=VALUES, after=st.dictionaries(NAMES, VALUES, max_size=2), later=VALUES)
CLAIMS = st.builds(Observation, st.lists(RETURNED | RAISED.map(lambda r: Outcome(raised=r)), max_size=3).map(tuple))
ENDS = st.sampled_from(["", "error", "timeout", "memory", "crashed", "forbidden", "not_run"])


@given(CLAIMS, NAMES)
@settings(max_examples=60)
def test_a_claim_comes_back_as_it_was(observation: Observation, output: str):
    sent = replace(observation, output=output)
    assert repr(decode_observation(json.loads(json.dumps(encode_observation(sent), allow_nan=False)))) == repr(sent)


@given(CLAIMS, ENDS, NAMES, st.booleans())
@settings(max_examples=60)
def test_what_the_trusted_side_says_comes_back_to_it_alone(claim: Observation, ended: Any, detail: str, whole: bool):
    sent = replace(claim, ended=ended, detail=detail, whole=whole)
    data = json.loads(json.dumps(encode_observation(sent)))
    assert repr(decode_observation(data, trusted=True)) == repr(sent)
    if ended or detail or whole:
        with pytest.raises(BadValue):
            decode_observation(data)


@given(JSON, st.booleans())
@settings(max_examples=400)
def test_arbitrary_json_is_refused_or_is_an_observation(data: Any, trusted: bool):
    try:
        seen = decode_observation(data, trusted=trusted)
    except BadValue:
        return
    assert repr(decode_observation(encode_observation(seen), trusted=trusted)) == repr(seen)


RETURNS_NONE = {"returned": None, "after": {}}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([], "not an observation"),
        ({}, "not an observation"),
        ({"outcomes": [], "score": 1}, "not an observation"),
        ({"outcomes": [], "ended": ""}, "not an observation"),
        ({"outcomes": [], "ended": "timeout"}, "not an observation"),
        ({"outcomes": [], "detail": "x"}, "not an observation"),
        ({"outcomes": [], "whole": True}, "not an observation"),
        ({"outcomes": {}}, "not a short list"),
        ({"outcomes": [RETURNS_NONE] * 65}, "not a short list"),
        ({"outcomes": [], "output": "x" * (OUTPUT_LIMIT + 1)}, "too long"),
        ({"outcomes": [], "output": None}, "no text"),
        ({"outcomes": [[]]}, "not an object"),
        ({"outcomes": [{"raised": ["E", "", None, None]}]}, "malformed exception"),
        ({"outcomes": [{"raised": "E"}]}, "malformed exception"),
        ({"outcomes": [{"raised": ["E", "", -1, None, ""]}]}, "malformed position"),
        ({"outcomes": [{"raised": ["E", "", None, True, ""]}]}, "malformed position"),
        ({"outcomes": [{"raised": ["E", "", None, 10**9, ""]}]}, "malformed position"),
        ({"outcomes": [{"raised": ["E" * 101, "", None, None, ""]}]}, "too long"),
        ({"outcomes": [{"raised": ["E", "x" * 501, None, None, ""]}]}, "too long"),
        ({"outcomes": [{"raised": ["E", "", None, None, "x" * 201]}]}, "too long"),
        ({"outcomes": [{"raised": [5, "", None, None, ""]}]}, "no text"),
        ({"outcomes": [{"returned": None}]}, "unknown keys"),
        ({"outcomes": [{**RETURNS_NONE, "raised": None}]}, "unknown keys"),
        ({"outcomes": [{"returned": None, "after": []}]}, "unknown keys"),
        ({"outcomes": [{"returned": None, "after": {"x" * 101: 1}}]}, "too long"),
        ({"outcomes": [{"returned": {}, "after": {}}]}, "unknown keys"),
        ({"outcomes": [{"returned": None, "after": {str(n): {"runs": [[1.0, 10**6]]} for n in range(9)}}]}, "too many"),
        ({"outcomes": [{"returned": {"runs": [[1.0, 10**6]]}, "after": {}}] * 9}, "too many elements"),
        ({"outcomes": [{"returned": "x" * 10**5, "after": {}}] * 11}, "too much text"),
    ],
)  # fmt: skip
def test_what_a_student_process_may_not_say(data: Any, reason: str):
    with pytest.raises(BadValue, match=reason):
        decode_observation(data)


@pytest.mark.parametrize("more", [{"ended": "passed"}, {"ended": []}, {"detail": "x" * 1001}, {"whole": 1}])
def test_even_what_is_trusted_has_its_form(more: dict[str, Any]):
    with pytest.raises(BadValue):
        decode_observation({"outcomes": [], **more}, trusted=True)


# ----------------------------------------------------------------------------- digest


def of(value: Any) -> str:
    return digest(Observation((Outcome(value),)))


def failing(name: str, message: str, **place: Any) -> str:
    return digest(Observation((Outcome(raised=Raised(name, message, **place)),)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, 1.0 + 1e-9), (f32(0.0), f32(-0.0)), (math.nan, -math.nan), ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([0.1 + 0.2], [0.3]), (Scalar("float32", 1 / 3), Scalar("float32", 0.333333)),
        (Opaque("G", "1"), Opaque("G", "2")),
        (f32(1.0, strided=True), f32(1.0)),
        (([1.0], 2.0), ((1.0,), 2.0)), ({"a": [1.0]}, {"a": (1.0,)}),
    ],
)  # fmt: skip
def test_the_same_wrongness_has_the_same_digest(one: Any, other: Any):
    assert of(one) == of(other)
    assert of([one]) == of([other])
    changed = [digest(Observation((Outcome(after={"x": value}),)), "after") for value in (one, other)]
    assert changed[0] == changed[1]


def test_only_the_part_that_was_found_fault_with_counts():
    clean, second = Outcome(1.0, after={"x": 1.0}), Outcome(1.0, after={"x": 2.0}, later=3.0, kept=4.0)
    for part, same in (("returned", True), ("after", False), ("later", False), ("kept", False)):
        marks = {digest(Observation((outcome,)), part) for outcome in (clean, second)}  # type: ignore[arg-type]
        assert (len(marks) == 1) is same


def test_a_very_long_list_is_told_apart_by_its_length_and_its_ends():
    long = [1.0] * 10_000
    assert len({of(long), of(long[1:]), of([2.0, *long[1:]]), of([*long[1:], 2.0])}) == 4


def test_the_line_does_not_matter_to_the_digest_and_the_output_neither():
    assert failing("E", "m") == failing("E", "m", cell=2, line=7, source="x")
    assert digest(Observation(output="a", detail="b")) == digest(Observation())


DIFFERENT = [
    None, True, 1, 1.0, 1.0001, "1", [1.0], (1.0,), {"a": 1.0}, f32(1.0), Tensor("float64", (1,), (1.0,)), [],
    Tensor("float32", (1, 1), (1.0,)), Tensor("float32", (1,), (1.0,), "numpy"), Scalar("float32", 1.0), math.inf,
    -math.inf, math.nan, -1.0, "float32", "nan",
    Opaque("float32", "1.0"), Scalar("float64", 1.0), [1.0, 1.0], [[1.0]], {"b": 1.0},
]  # fmt: skip


def test_different_wrongness_has_different_digests():
    ways = [
        *(of(value) for value in DIFFERENT),
        failing("E", "m"), failing("F", "m"), failing("E", "n"),
        digest(Observation()), digest(Observation(ended="timeout")), digest(Observation(ended="crashed")),
        digest(Observation((Outcome(), Outcome()))), digest(Observation((Outcome(after={"x": 1}),)), "after"),
    ]  # fmt: skip
    assert len(set(ways)) == len(ways)


@given(CLAIMS)
@settings(max_examples=60)
def test_a_digest_is_a_mark_and_survives_the_journey(observation: Observation):
    mark = digest(observation)
    assert len(mark) == 6
    assert set(mark) <= set("0123456789abcdef")
    assert digest(decode_observation(encode_observation(observation))) == mark


def test_a_case_is_observed_the_same_twice():
    draws = Case("", ({"x": f32(0.1, 0.2)}, {"x": f32(math.inf)}))
    assert observe(lambda x: x / 3, draws) == observe(lambda x: x / 3, draws)


def test_a_power_that_is_too_large_is_told_in_the_same_words_on_every_system(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OverflowError) as caught:
        pow(10.0, 400)
    linux = "(34, 'Numerical result out of range')"
    assert describe(caught.value).message == linux
    elsewhere = OverflowError(68, "Result not representable")
    assert describe(elsewhere).message == "(68, 'Result not representable')"
    monkeypatch.setattr(observations, "_OUT_OF_RANGE", elsewhere.args)
    assert describe(elsewhere).message == linux
