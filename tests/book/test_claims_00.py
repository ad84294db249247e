"""The claims of chapter 0, "Start here", each put to PyTorch itself. book/claims/00.yml lists them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import page_code
import pytest
import torch
from page_code import Page
from torch import Tensor, nn
from torch.nn.functional import mse_loss

TRUE = torch.tensor([[0.5, -0.3, 0.2, 0.1]])
CUTOFF = 2.0**-25


@pytest.fixture(scope="module")
def page() -> Page:
    """Return what the chapter's own cells computed."""
    return page_code.run("00_start_here")


@dataclass
class Run:
    """What a training run did, step by step, and where its weight ended."""

    losses: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    gradients: list[Tensor] = field(default_factory=list)
    weight: Tensor = field(default_factory=lambda: torch.zeros(1, 4))


def train(
    outputs: int,
    dtype: torch.dtype | None = torch.float16,
    scaler: torch.amp.GradScaler | None = None,
    factor: float = 1.0,
    steps: int = 40,
    reduction: str = "mean",
    make: Callable[[list[nn.Parameter]], torch.optim.Optimizer] | None = None,
) -> Run:
    """Train the chapter's model from zero, the loss multiplied and SGD's learning rate divided by factor."""
    x = torch.rand(outputs, 4, generator=torch.Generator().manual_seed(1)) * 2 - 1
    y = x @ TRUE.T
    model = nn.Linear(4, 1)
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    rate = 0.5 / factor if reduction == "mean" else 0.5 / factor / outputs
    optimizer = (make or (lambda parameters: torch.optim.SGD(parameters, lr=rate)))(list(model.parameters()))
    run = Run()
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype or torch.float16, enabled=dtype is not None):
            loss = mse_loss(model(x), y, reduction=reduction)
        if scaler is None:
            (loss * factor).backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        run.losses.append(loss.item())
        run.gradients.append(model.weight.grad.clone())
        with torch.no_grad():
            run.errors.append((model(x) - y).abs().max().item())
    run.weight = model.weight.detach().clone()
    return run


def scaler(**options: float) -> torch.amp.GradScaler:
    return torch.amp.GradScaler("cpu", **options)


# ---------------------------------------------------------------------- a quiet failure


def test_the_prose_shows_what_the_cells_computed(page: Page) -> None:
    # What is typed in the prose stands in book/claims/numbers; test_prose_numbers.py looks at it.
    assert page_code.wanted(page) == set(page.shown)
    assert all(isinstance(value, str) and value for value in page.shown.values())


def test_fp32_learns_the_function(page: Page) -> None:
    assert page["full"]["error"][-1] < 4e-7
    assert torch.allclose(train(2**12, dtype=None).weight, TRUE, rtol=0, atol=4e-7)


def test_a_million_outputs_are_a_picture_or_a_batch_of_sequences(page: Page) -> None:
    assert page["N"] == 2**20 == 1024 * 1024 == 1_048_576


def test_under_autocast_the_output_and_its_gradient_are_fp16_and_the_loss_is_not() -> None:
    model, x = nn.Linear(4, 1), torch.rand(8, 4)
    with torch.autocast("cpu", dtype=torch.float16):
        output = model(x)
        loss = mse_loss(output, torch.zeros(8, 1))
    output.retain_grad()
    loss.backward()
    assert (output.dtype, output.grad.dtype, loss.dtype) == (torch.float16, torch.float16, torch.float32)
    assert model.weight.dtype == model.weight.grad.dtype == torch.float32


def test_a_disabled_scaler_hands_on_the_loss_and_calls_the_optimizer() -> None:
    off, weight = scaler(enabled=False), nn.Parameter(torch.zeros(1))
    loss = torch.ones(())
    assert off.scale(loss) is loss
    weight.grad = torch.tensor([2.0])
    off.step(torch.optim.SGD([weight], lr=1.0))
    off.update()
    assert weight.item() == -2.0
    plain, disabled = train(2**10), train(2**10, scaler=scaler(enabled=False))
    assert torch.equal(plain.weight, disabled.weight)


# ------------------------------------------------------------------------- the floor


def test_the_gradient_of_a_mean_squared_error_is_2e_over_n() -> None:
    output = torch.randn(1000, dtype=torch.float64, requires_grad=True)
    target = torch.randn(1000, dtype=torch.float64)
    mse_loss(output, target).backward()
    assert torch.allclose(output.grad, 2 * (output - target).detach() / 1000, rtol=1e-12, atol=0)


@pytest.mark.parametrize("power", [14, 18, 20])
def test_an_output_gets_no_gradient_once_its_error_is_at_the_floor(power: int) -> None:
    n, floor = 2**power, 2.0 ** (power - 26)
    above = torch.nextafter(torch.tensor(floor), torch.tensor(1.0)).item()
    errors = torch.zeros(n)
    errors[:6] = torch.tensor([floor, -floor, floor / 3, above, -above, 3 * floor])
    output = torch.zeros(n, dtype=torch.float16, requires_grad=True)
    mse_loss(output.float(), -errors).backward()
    assert (output.grad[:6] != 0).tolist() == [False, False, False, True, True, True]
    assert not output.grad[6:].any()


def test_fp16_stops_at_the_predicted_floor(page: Page) -> None:
    assert page["floor"] == 2.0**-6
    assert 1.0 <= page["plain"]["error"][-1] / page["floor"] < 1.1


def test_the_outputs_fall_silent_one_after_the_other(page: Page) -> None:
    zeros = page["plain"]["zeros"]
    assert len(zeros) == 40
    assert zeros[0] < 0.05
    assert zeros[-1] > 0.999
    assert all(after >= before - 1e-3 for before, after in pairwise(zeros))


def test_the_zeros_of_fp32_are_outputs_that_are_exactly_right(page: Page) -> None:
    zeros = page["full"]["zeros"]
    assert max(zeros[:30]) < 0.005
    assert zeros[-1] > 0.05
    x = torch.rand(2**18, 4, generator=torch.Generator().manual_seed(1)) * 2 - 1
    y, model = x @ TRUE.T, nn.Linear(4, 1)
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    seen = []
    for _ in range(45):
        optimizer.zero_grad()
        output = model(x)
        output.retain_grad()
        mse_loss(output, y).backward()
        optimizer.step()
        assert torch.equal(output.grad == 0, output == y)
        seen.append((output.grad == 0).float().mean().item())
    assert seen[-1] > 0.1 > 0.005 > max(seen[:30])


def test_in_the_last_20_steps_fp16_hardly_moves_and_fp32_gains_a_thousandfold(page: Page) -> None:
    half, full = page["plain"]["error"], page["full"]["error"]
    assert 1.0 < half[19] / half[-1] < 1.1
    assert full[19] / full[-1] > 1000


def test_the_loss_falls_and_nothing_is_nan_and_no_warning_comes(page: Page) -> None:
    # pytest makes every warning an error, in the page's cells and here.
    assert page.number("loss-fall") > 3000
    assert all(math.isfinite(loss) for loss in page["plain"]["loss"])
    run = train(2**18)
    assert run.losses[0] / run.losses[-1] > 3000
    assert all(gradient.isfinite().all() for gradient in run.gradients)


# ------------------------------------------------------------------------ the scaler


def test_the_scaler_starts_with_65536() -> None:
    assert scaler().get_scale() == 65536.0 == 2.0**16


def test_the_four_lines_scale_divide_step_and_update() -> None:
    weight = nn.Parameter(torch.zeros(1))
    own = scaler(growth_interval=1)
    own.scale((weight * 3.0).sum()).backward()
    assert weight.grad.item() == 3.0 * 65536
    own.step(torch.optim.SGD([weight], lr=1.0))
    assert (weight.item(), weight.grad.item()) == (-3.0, 3.0)
    own.update()
    assert own.get_scale() == 2 * 65536.0
    weight.grad = torch.tensor([math.inf])
    own.step(torch.optim.SGD([weight], lr=1.0))
    assert weight.item() == -3.0


def test_with_a_scaler_the_error_is_a_hundred_times_smaller(page: Page) -> None:
    assert page["plain"]["error"][-1] / page["scaled"]["error"][-1] > 100
    assert max(page["scaled"]["zeros"]) < 0.01


def test_a_scale_moves_the_floor_by_its_own_factor() -> None:
    n, scale = 2**14, 2.0**6
    floor = n * 2.0**-26 / scale
    errors = torch.zeros(n)
    errors[:2] = torch.tensor([floor, floor * 1.001])
    output = torch.zeros(n, dtype=torch.float16, requires_grad=True)
    (mse_loss(output.float(), -errors) * scale).backward()
    assert (output.grad[:2] != 0).tolist() == [False, True]


def test_the_traveling_gradient_is_lost_unscaled_and_arrives_scaled(page: Page) -> None:
    assert torch.tensor(1e-8).half().item() == 0.0
    back = torch.tensor(1e-8 * 65536).half().float().item() / 65536
    assert abs(back / 1e-8 - 1) == pytest.approx(0.00028, abs=1e-5)
    assert page.shown["travel-off"] == "0.03%"


def test_a_larger_scale_does_not_mend_what_the_forward_pass_rounds() -> None:
    errors = {power: train(2**16, scaler=scaler(init_scale=2.0**power)).errors[-1] for power in (0, 4, 8, 12, 16)}
    assert errors[0] > 4 * errors[4]
    assert all(2.0**-14 < errors[power] < 2.0**-11 for power in (4, 8, 12, 16))
    assert max(errors[power] for power in (8, 12, 16)) < 1.1 * min(errors[power] for power in (8, 12, 16))


def by_hand(seed: int, weights: bool = False, inputs: bool = False, outputs: bool = False) -> tuple[float, Tensor]:
    """Train in fp32 with some of the forward pass's numbers rounded; return the largest error and the weight."""

    def rounded(values: Tensor, to_fp16: bool) -> Tensor:
        return values.half().float() if to_fp16 else values

    x = torch.rand(2**16, 4, generator=torch.Generator().manual_seed(seed)) * 2 - 1
    y, weight = x @ TRUE.T, torch.zeros(1, 4)
    for _ in range(40):
        seen = rounded(x, inputs)
        output = rounded(seen @ rounded(weight, weights).T, outputs)
        weight = weight - 0.5 * 2 * (output - y).T @ seen / len(x)
    return (x @ weight.T - y).abs().max().item(), weight


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_rest_comes_from_the_fp16_copy_of_the_weights_and_from_nothing_else(page: Page, seed: int) -> None:
    all_but_weights, weights = by_hand(seed, inputs=True, outputs=True)[0], by_hand(seed, weights=True)[0]
    assert by_hand(seed)[0] < 4e-7
    assert 1e-4 < weights < 2.5e-4
    assert max(all_but_weights, by_hand(seed, inputs=True)[0], by_hand(seed, outputs=True)[0]) < weights / 10
    alone = page["alone"]
    assert alone["weights"] > 20 * max(alone[other] for other in ("nothing", "gradients", "inputs", "outputs"))
    at_16 = train(2**16, scaler=scaler()).errors[-1]
    assert at_16 == pytest.approx(weights, rel=0.6)


def test_a_weight_settles_where_its_fp16_copy_jumps() -> None:
    numbers = torch.arange(0x3400, 0x3801, dtype=torch.int16).view(torch.float16).double()
    assert (numbers[0].item(), numbers[-1].item()) == (0.25, 0.5)
    assert set(numbers.diff().tolist()) == {2.0**-12}
    jump = (numbers[numbers < 0.3].max() + numbers[numbers > 0.3].min()).item() / 2
    assert abs(jump - 0.3) < 2.0**-13
    for seed in (1, 2, 3):
        weight = -by_hand(seed, weights=True)[1][0, 1].item()
        assert abs(weight - jump) < 3e-5 < abs(weight - 0.3) < 2.0**-13


# ------------------------------------------------------------------------ more outputs


def test_the_floor_rises_with_the_number_of_outputs(page: Page) -> None:
    assert page["outputs"] == [2**14, 2**16, 2**18, 2**20]
    reached, floors = page["reached"], page["floors"]
    for error, floor in list(zip(reached["fp16"], floors, strict=True))[1:]:
        assert 0.9 < error / floor < 1.1
    assert all(error < 4e-7 for error in reached["fp32"])
    assert all(1e-4 < error < 2.5e-4 for error in reached["fp16 + scaler"])


@pytest.mark.parametrize("seed", [1, 2])
def test_the_floor_is_exact_for_the_rounded_output_s_error(seed: int) -> None:
    n, floor = 2**16, 2.0**-10
    x = torch.rand(n, 4, generator=torch.Generator().manual_seed(seed)) * 2 - 1
    y, model = x @ TRUE.T, nn.Linear(4, 1)
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(40):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            output = model(x)
            loss = mse_loss(output, y)
        output.retain_grad()
        loss.backward()
        rounded = (output.float() - y).abs()
        assert torch.equal(output.grad == 0, rounded <= floor)
        optimizer.step()
    with torch.no_grad():
        error = (model(x) - y).abs().max().item()
    assert 0.8 < error / floor < 1.0  # what nobody rounded ends below
    assert rounded.max() > floor


def test_a_small_test_does_not_show_the_floor(page: Page) -> None:
    plain, with_scaler = page["reached"]["fp16"][0], page["reached"]["fp16 + scaler"][0]
    assert plain < 1.5 * with_scaler
    assert page["floors"][0] == 2.0**-12  # as large as the rounding of an output between a half and one


# -------------------------------------------------------------------- in your own run


def test_in_fp32_a_power_of_two_in_the_loss_cancels_exactly_and_in_fp16_it_helps() -> None:
    assert torch.equal(train(2**18, dtype=None, steps=20).weight, train(2**18, None, None, 1024.0, 20).weight)
    plain, lifted = train(2**18), train(2**18, factor=1024.0)
    assert plain.errors[-1] > 10 * lifted.errors[-1]


@pytest.mark.parametrize("how", ["plain", "momentum", "decay", "clip"])
def test_weight_decay_and_clipping_do_not_let_the_factor_cancel(how: str) -> None:
    def run(factor: float) -> Tensor:
        x = torch.rand(2**8, 4, generator=torch.Generator().manual_seed(1)) * 2 - 1
        weight = nn.Parameter(torch.zeros(1, 4))
        options = {"momentum": {"momentum": 0.9}, "decay": {"weight_decay": 0.1}}.get(how, {})
        optimizer = torch.optim.SGD([weight], lr=0.5 / factor, **options)
        for _ in range(10):
            optimizer.zero_grad()
            (mse_loss(x @ weight.T, x @ TRUE.T) * factor).backward()
            if how == "clip":
                nn.utils.clip_grad_norm_([weight], 0.1)
            optimizer.step()
        return weight.detach()

    assert torch.equal(run(1.0), run(1024.0)) == (how in ("plain", "momentum"))


def test_an_output_keeps_its_gradient_when_it_is_asked_to() -> None:
    output = nn.Linear(4, 1)(torch.rand(3, 4))
    output.retain_grad()
    (output * torch.tensor([[1.0], [0.0], [0.0]])).sum().backward()
    assert (output.grad == 0).float().mean().item() == pytest.approx(2 / 3)


def test_the_recalled_numbers_are_right(page: Page) -> None:
    power, scale = int(math.log2(page["at"])) + 26, page.number("r0-scale")
    assert page.number("r0-floor") == pytest.approx(2.0**power * 2.0**-26, rel=1e-2)
    assert page.number("r0-scaled-floor") == pytest.approx(2.0**power * 2.0**-26 / scale, rel=1e-2)
    assert page.number("r0-at") == 0
    assert page.number("r0-over") == pytest.approx(2.0**-24, rel=1e-2)


# ------------------------------------------------------------------------- go further


def test_a_sum_overflows_where_a_mean_underflows(page: Page) -> None:
    run = train(2**18, reduction="sum")
    assert run.gradients[0].isinf().any()
    assert math.isnan(run.errors[-1])
    true = train(2**18, dtype=None, reduction="sum", steps=1).gradients[0]
    assert true.isfinite().all()
    assert true.abs().max() > 65504
    assert page.shown["sum-error"] == "nan"
    assert "-inf" in page.shown["sum-first"]


def test_a_sum_is_a_mean_scaled_by_n() -> None:
    mean, total = (train(2**10, dtype=None, reduction=how, steps=1).gradients[0] for how in ("mean", "sum"))
    assert torch.allclose(mean * 2**10, total, rtol=1e-5)


def test_bf16_has_no_such_floor_and_a_coarser_forward_pass(page: Page) -> None:
    assert torch.finfo(torch.bfloat16).eps == 8 * torch.finfo(torch.float16).eps  # three bits of fraction less
    assert torch.finfo(torch.bfloat16).smallest_normal == torch.finfo(torch.float32).smallest_normal
    brain = train(2**18, dtype=torch.bfloat16).errors[-1]
    assert train(2**18).errors[-1] > 2 * brain > 4 * train(2**18, scaler=scaler()).errors[-1]
    assert page.number("small-fp16") > page.number("bf16-error") > page.number("small-scaled")


def test_adam_stops_near_the_floor_too(page: Page) -> None:
    def adam(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.Adam(parameters, lr=0.05)

    full, half, lifted = (
        train(2**18, dtype, own, steps=200, make=adam).errors[-1]
        for dtype, own in ((None, None), (torch.float16, None), (torch.float16, scaler()))
    )
    assert full < 1e-4
    assert 0.8 < half / 2.0**-8 < 1.2
    assert half > 5 * lifted
    assert page.number("adam-fp16") > 5 * page.number("adam-scaled") > 5 * page.number("adam-fp32")


# ------------------------------------------------------------------- how the book works


def test_a_check_says_what_was_tried_what_came_back_and_why(page: Page) -> None:
    said = " ".join(page.printed.split())
    for part in (
        "✗ Divides every gradient by the scale",
        "Called grad_scaler_step(",
        "It returned",
        "Expected",
        "A belief behind this:",
    ):
        assert part in said
