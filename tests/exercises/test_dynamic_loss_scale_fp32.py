"""The reference solution against PyTorch's operator and its whole scaler, bit for bit, and what each check must see."""

from __future__ import annotations

import math
import random
import struct

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder import catalog
from autograder.checks import judge_check
from autograder.models import CheckResult
from autograder.observations import observe
from autograder.reference import oracle
from autograder.reference.expectations import load_function

EXERCISE = catalog.load("dynamic_loss_scale_fp32")
PYTORCH = oracle.load(EXERCISE)
SOLUTION = load_function(EXERCISE.solution, EXERCISE.entry, "solution")
IN_DOUBLE = load_function(catalog.load("dynamic_loss_scale").solution, "dynamic_loss_scale", "solution")
LARGEST = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]

scales = st.one_of(
    st.floats(1e-3, 1e6),
    st.floats(0.0, LARGEST, exclude_min=True),
    st.sampled_from([2.0**126, 2.0**127, LARGEST, 2.0**-126, 3 * 2.0**-149, 2.0**-149, 1e-46]),
)
growths = st.one_of(st.floats(1.001, 4.0), st.sampled_from([2.0, 1.5, 1e39, 1e300]))
backoffs = st.one_of(st.floats(0.01, 0.999), st.sampled_from([0.5, 0.7, 1e-50, 1e-300]))


@given(st.lists(st.booleans(), max_size=80), scales, growths, backoffs, st.integers(1, 6))
def test_solution_and_the_operator_agree_to_the_last_bit(flags, scale, growth, backoff, interval) -> None:
    arguments = {
        "overflows": flags,
        "init_scale": scale,
        "growth_factor": growth,
        "backoff_factor": backoff,
        "growth_interval": interval,
    }
    assert PYTORCH.coincides(arguments)
    assert PYTORCH.agrees(SOLUTION(**arguments), PYTORCH.pytorch(**arguments)) is None


@pytest.mark.parametrize("seed", range(4))
def test_solution_and_the_whole_scaler_use_the_same_scales(seed: int) -> None:
    rng = random.Random(seed)
    flags = [rng.random() < 0.3 for _ in range(80)]
    options = {
        "init_scale": rng.uniform(1.0, 1e5),
        "growth_factor": rng.uniform(1.1, 3.0),
        "backoff_factor": rng.uniform(0.3, 0.9),
        "growth_interval": rng.randint(1, 5),
    }
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", **options)
    used = []
    for overflow in flags:
        weight.grad = None
        scaler.scale(weight.sum()).backward()
        used.append(scaler.get_scale())
        if overflow:
            weight.grad.fill_(math.inf)
        scaler.step(optimizer)
        scaler.update()
    ours = SOLUTION(flags, **options)
    assert [*used, scaler.get_scale()] == [*ours["scales"], ours["final_scale"]]


def test_every_scale_is_an_fp32_number() -> None:
    ours = SOLUTION([False, True] * 200, init_scale=0.1, growth_factor=1.9, backoff_factor=0.3, growth_interval=1)
    for scale in [*ours["scales"], ours["final_scale"]]:
        assert type(scale) is float
        assert float(numpy.float32(scale)) == scale


def test_the_two_ends_are_where_they_are_said_to_be() -> None:
    up = SOLUTION([False] * 200, growth_interval=1)["scales"]
    assert (up[110], up[111], up[199]) == (2.0**126, 2.0**127, 2.0**127)
    assert SOLUTION([False] * 222_001)["scales"][-2:] == [2.0**126, 2.0**127]
    down = SOLUTION([True] * 170)["scales"]
    assert (down[165], down[166], down[169]) == (2.0**-149, 0.0, 0.0)
    one = SOLUTION([True] * 151, init_scale=1.0)["scales"]
    assert (one[149], one[150]) == (2.0**-149, 0.0)


def test_where_nothing_is_rounded_it_is_the_schedule_in_double() -> None:
    rng = random.Random(7)
    flags = [rng.random() < 0.2 for _ in range(300)]
    assert SOLUTION(flags, growth_interval=5) == IN_DOUBLE(flags, growth_interval=5)


def test_a_dropped_growth_zeroes_the_run_where_nobody_can_see_it() -> None:
    scale, tracker = torch.full((1,), 2.0**127), torch.tensor([2], dtype=torch.int32)
    torch._amp_update_scale_(scale, tracker, torch.zeros(1), 2.0, 0.5, 3)
    assert (scale.item(), tracker.item()) == (2.0**127, 0)


@pytest.mark.parametrize("value", [1e39, LARGEST + 2.0**102, LARGEST + 2.0**103, 2**128, 10**400, math.inf, math.nan])
def test_what_fp32_cannot_hold_is_refused(value) -> None:
    with pytest.raises(ValueError, match="must fit fp32"):
        SOLUTION([], init_scale=value)


def beyond_fp32() -> None:
    for value in (1e39, LARGEST + 2.0**102):
        with pytest.raises(RuntimeError):
            PYTORCH.pytorch([], init_scale=value)
        with pytest.raises(RuntimeError):
            torch.amp.GradScaler("cpu", init_scale=value).scale(torch.ones(()))
    for value in (math.inf, math.nan):
        stuck = PYTORCH.pytorch([True, False], init_scale=value, growth_interval=1)["final_scale"]
        assert not math.isfinite(stuck)
        assert not PYTORCH.coincides({"overflows": [], "init_scale": value})


EXPERIMENTS = {"A first scale beyond fp32": beyond_fp32}


@pytest.mark.parametrize("title", [title for title, _ in PYTORCH.differences])
def test_every_difference_that_is_documented_is_so(title: str) -> None:
    EXPERIMENTS[title]()


def test_the_statement_s_examples() -> None:
    lines = EXERCISE.statement.splitlines()
    calls = [(line[4:], lines[i + 1]) for i, line in enumerate(lines) if line.startswith(">>> ")]
    assert len(calls) == 6
    for call, shown in calls:
        assert repr(eval(call, {"dynamic_loss_scale_fp32": SOLUTION})) == shown


# ------------------------------------------------------------------- what checks see


def test_struct_says_that_a_number_is_too_large_in_one_of_its_formats_only() -> None:
    with pytest.raises(OverflowError):
        struct.pack("<f", 1e39)
    assert struct.unpack("f", struct.pack("f", 1e39)) == (math.inf,)


def verdict(check_id: str, function) -> CheckResult:
    check = EXERCISE.check(check_id)
    tried = [(c, observe(function, c, check.scenario), observe(SOLUTION, c, check.scenario)) for c in check.cases]
    return judge_check(check, EXERCISE.entry, tried)[0]


def lost(name: str) -> list[str]:
    source = next(known.source for known in EXERCISE.wrong if known.name == name)
    function = load_function(source, EXERCISE.entry, name)
    return [check.id for check in EXERCISE.checks if verdict(check.id, function).status != "passed"]


def test_the_answer_to_the_other_exercise_keeps_the_schedule_and_loses_all_that_fp32_does() -> None:
    assert {check.id for check in EXERCISE.checks} - set(lost("float64_all_along")) == {"follows_the_rule", "one_pass"}


@pytest.mark.parametrize(
    ("name", "checks"),
    [
        ("clamps_to_the_largest", ["saturates"]),
        ("cap_of_two_to_127", ["saturates"]),
        ("factors_in_fp32", ["backs_off_in_fp32", "grows_in_fp32", "product_in_double", "saturates"]),
        ("first_scale_as_given", ["starts_in_fp32", "product_in_double"]),
        ("flushes_subnormals", ["subnormal_scales", "dies_at_zero"]),
        ("judges_the_rounded_one", ["refuses_beyond_fp32"]),
        ("native_struct", ["saturates"]),
        ("native_struct_twice", ["saturates", "refuses_beyond_fp32"]),
        ("raises_at_zero", ["dies_at_zero"]),
        ("zero_grows_to_the_smallest", ["dies_at_zero"]),
    ],
)
def test_one_mistake_costs_what_depends_on_it(name: str, checks: list[str]) -> None:
    assert lost(name) == checks


def test_messages_show_the_product_and_what_fp32_makes_of_it() -> None:
    def changed(key, value):
        return lambda **given: {**SOLUTION(**given), key: value}

    assert verdict("backs_off_in_fp32", changed("final_scale", 5.6)).difference == (
        "The value of final_scale is 5.6, not 5.599999904632568: step 0 overflowed, and 8.0 * 0.7 is "
        "5.599999904632568 in fp32."
    )
    assert "as fp32 holds it" in verdict("starts_in_fp32", changed("final_scale", 0.1)).difference
    dropped = verdict("saturates", changed("final_scale", math.inf)).message
    assert "is inf, not" in dropped
    assert "a list of numbers" in verdict("follows_the_rule", changed("scales", None)).difference
    assert "does not name the steps" in verdict("follows_the_rule", changed("skipped", [7])).difference


@pytest.mark.parametrize(
    "value", [None, 1.0, [], {}, {"scales": 1}, {"scales": [True], "skipped": [], "final_scale": "x"}]
)
def test_no_answer_makes_a_check_raise(value) -> None:
    for check in EXERCISE.checks:
        assert verdict(check.id, lambda **given: value).status == "failed"
