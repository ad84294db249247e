"""The reference solution against exact fractions, PyTorch's SGD, and the ways in which it may honestly be written."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autograder import catalog
from autograder.checks import f32, rounded, tensor, ulp
from autograder.models import Case, Outcome, Tensor
from autograder.observations import observe
from autograder.reference import oracle
from autograder.reference.expectations import load_function

EXERCISE = catalog.load("master_weight_step")
PYTORCH = oracle.load(EXERCISE)
SOLUTION = load_function(EXERCISE.solution, EXERCISE.entry, "solution")


def run(function, **arguments):
    """Return what a function returns on plain arguments, as plain values."""
    outcome = observe(function, Case("", (arguments,))).outcomes[0]
    assert outcome.raised is None, outcome.raised
    return outcome.returned


def float32_of(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits))[0]


finite32 = st.integers(0, 2**32 - 1).map(float32_of).filter(lambda value: abs(value) < 1e30)
weights = st.one_of(finite32, st.floats(-2, 2, width=32), st.sampled_from([0.0, 1.0, 1 + 2.0**-11, 65519.0, 7e4, 1e-8]))
rates = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-3, 0.1]), st.floats(1e-8, 10.0))


@st.composite
def steps(draw: st.DrawFn) -> dict[str, Tensor | float]:
    size = draw(st.integers(0, 4))
    lists = st.lists(weights, min_size=size, max_size=size)
    dtype = draw(st.sampled_from(["float32", "float16"]))
    grad = tensor(draw(lists), dtype)
    assume(all(map(math.isfinite, grad.values)))
    return {"w16": tensor(draw(lists), "float16"), "master": f32(*draw(lists)), "grad": grad, "lr": draw(rates)}


@given(steps())
@settings(max_examples=400)
def test_master_is_within_the_rounding_of_three_operations(arguments):
    """One ulp for rounding the rate, half for the product, one for the difference, whose ulp may be twice as large."""
    w16, master = run(SOLUTION, **arguments)
    for weight, slope, new in zip(arguments["master"].values, arguments["grad"].values, master.values, strict=True):
        update = Fraction(arguments["lr"]) * Fraction(slope)
        size = rounded(float(max(abs(Fraction(weight)), abs(update))), "float32")
        error = abs(Fraction(new) - (Fraction(weight) - update))
        assert error <= Fraction(5, 2) * Fraction(ulp(size, "float32"))
    assert w16 == Tensor("float16", master.shape, tuple(rounded(value, "float16") for value in master.values))


@given(steps())
def test_solution_and_pytorchs_sgd_agree(arguments):
    assert PYTORCH.coincides(arguments)
    assert PYTORCH.agrees(run(SOLUTION, **arguments), run(PYTORCH.pytorch, **arguments)) is None


def test_the_oracle_notices_a_difference():
    arguments = {"w16": tensor([1.0], "float16"), "master": f32(1.0), "grad": f32(0.3), "lr": 1e-3}
    want = run(PYTORCH.pytorch, **arguments)
    half, master = run(SOLUTION, **arguments)
    assert PYTORCH.agrees((half, master), want) is None
    assert "w16[0]" in PYTORCH.agrees((tensor([2.0], "float16"), master), want)
    assert "master[0]" in PYTORCH.agrees((half, f32(master.values[0] + 3 * 2.0**-23)), want)
    assert "where PyTorch has float16" in PYTORCH.agrees((master, master), want)


def honest_forms(master: torch.Tensor, grad: torch.Tensor, lr: float) -> dict[str, torch.Tensor]:
    return {
        "product, then difference": master - lr * grad,
        "one operation": torch.sub(master, grad, alpha=lr),
        "addcmul": torch.addcmul(master, grad, torch.full_like(grad, -lr)),
        "in double": (master.double() - lr * grad.double()).float(),
    }


def test_every_honest_form_is_within_two_ulp_of_the_solution_and_some_differ():
    generator = torch.Generator().manual_seed(2018)
    differing = 0
    for number in range(60):
        master = torch.randn(5_000, generator=generator) * 10.0 ** (number % 9 - 4)
        grad = torch.exp2(torch.rand(5_000, generator=generator) * 20 - 10)
        lr = 10 ** (number % 7 - 5) * 1.3
        if number % 3 == 0:  # both of one size and opposite signs: the difference has the larger ulp
            master = -grad * lr * torch.rand(5_000, generator=generator) * 4
        _, mine = SOLUTION(master.half(), master, grad, lr)
        size = torch.maximum(master.abs().double(), (lr * grad.double()).abs())
        unit = torch.exp2(torch.floor(torch.log2(size)) - 23)
        for name, other in honest_forms(master, grad, lr).items():
            apart = (other.double() - mine.double()).abs() / unit
            assert apart.max() <= 2, name
            differing += int((apart > 0).sum())
    assert differing > 0


def test_a_thousand_small_steps_arrive_where_fp16_alone_stands_still():
    half, master = torch.ones(1).half(), torch.ones(1)
    alone = torch.ones(1).half()
    for _ in range(1000):
        half, master = SOLUTION(half, master, torch.tensor([-0.3]), 1e-3)
        alone = alone + torch.tensor([3e-4]).half()
    assert alone.item() == 1.0
    assert master.item() == pytest.approx(1.3, rel=1e-4)  # a thousand roundings to float32
    assert half.item() == pytest.approx(1.3, rel=2.0**-10)


def test_half_a_step_in_fp16_is_lost_and_the_other_way_it_is_too_long():
    """1 + 3e-4 is 1, and 1 - 3e-4 is 0.99951: below 1 the gap is half as wide."""
    one = torch.ones(1).half()
    assert (one + torch.tensor([3e-4]).half()).item() == 1.0
    assert (one - torch.tensor([3e-4]).half()).item() == 1 - 2.0**-11


@given(steps(), weights)
def test_the_old_weights_make_no_difference(arguments, other: float):
    changed = {**arguments, "w16": tensor([other] * len(arguments["w16"].values), "float16")}
    assert repr(run(SOLUTION, **changed)) == repr(run(SOLUTION, **arguments))


def verdict(check_id: str, name: str, returned) -> str | None:
    """Return what a check says about an answer on its case of that name."""
    check = EXERCISE.check(check_id)
    (case,) = [case for case in check.cases if case.name == name]
    want = observe(SOLUTION, case, check.scenario)
    got = type(want)((Outcome(returned=returned, after=want.outcomes[0].after, later=returned),))
    found = check.judge(case, got, want)
    return found and found.difference


@pytest.mark.parametrize(("ulps", "accepted"), [(0, True), (2, True), (-2, True), (3, False), (-3, False)])
def test_two_ulp_are_accepted_and_three_are_not(ulps: int, accepted: bool):
    found = verdict("steps_the_master", "a negative gradient", (tensor([3.0], "float16"), f32(3.0 + ulps * 2.0**-22)))
    assert (found is None) is accepted


def test_the_copy_is_judged_by_the_master_that_came_with_it():
    name = "an update that begins to show"
    right, off = 1.0004 + 3e-4, 1.0004 + 4e-4
    assert verdict("weights_follow_the_master", name, (tensor([right], "float16"), f32(right))) is None
    assert verdict("weights_follow_the_master", name, (tensor([off], "float16"), f32(off))) is None
    assert "in fp16" in verdict("weights_follow_the_master", name, (tensor([1.0], "float16"), f32(off)))
    assert "cannot be judged" in verdict("weights_follow_the_master", name, (tensor([0.0], "float16"), f32(0.0)))


def test_a_message_on_the_copy_says_whose_master_it_is_judged_by():
    name = "an update that begins to show"
    off = verdict("weights_follow_the_master", name, (tensor([1.0], "float16"), f32(1.0008)))
    assert "your own master[0] = 1.0008" in off
    assert "the reference's, 1.0007" in off
    due = observe(SOLUTION, next(c for c in EXERCISE.check("weights_follow_the_master").cases if c.name == name))
    right = due.outcomes[0].returned[1]
    assert "reference" not in verdict("weights_follow_the_master", name, (tensor([1.0], "float16"), right))


@pytest.mark.parametrize("name", ["starts_from_the_weights", "steps_the_weights", "updates_the_weights_and_widens"])
def test_no_step_is_granted_to_who_never_reads_the_master(name: str):
    function = load_function(next(w.source for w in EXERCISE.wrong if w.name == name), EXERCISE.entry, name)
    check = EXERCISE.check("steps_the_master")
    assert any(check.judge(c, observe(function, c), observe(SOLUTION, c)) for c in check.cases)


def test_the_step_is_granted_to_who_computes_in_float16():
    function = load_function(
        next(w.source for w in EXERCISE.wrong if w.name == "both_in_half"), EXERCISE.entry, "both_in_half"
    )
    check = EXERCISE.check("steps_the_master")
    assert not any(check.judge(c, observe(function, c), observe(SOLUTION, c)) for c in check.cases)


EXPERIMENTS = {
    "Where the rate is rounded": lambda: (
        not torch.equal(
            torch.sub(torch.tensor([-1.0, 0.7]), torch.tensor([3.0, 7.7]), alpha=0.1),
            torch.tensor([-1.0, 0.7]) - 0.1 * torch.tensor([3.0, 7.7]),
        )
    ),
    "Where the step is made": lambda: stepped_in_place(),
}


def stepped_in_place() -> bool:
    weight = torch.nn.Parameter(torch.ones(1))
    before = weight.data_ptr()
    weight.grad = torch.ones(1)
    torch.optim.SGD([weight], lr=0.5).step()
    return weight.data_ptr() == before and weight.item() == 0.5


@pytest.mark.parametrize("title", [title for title, _ in PYTORCH.differences])
def test_every_difference_that_is_documented_is_so(title: str):
    assert EXPERIMENTS[title]()
