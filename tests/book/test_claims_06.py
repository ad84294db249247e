"""The claims of chapter 6, "What scaling cannot save", each put to PyTorch itself. book/claims/06.yml lists them."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import page_code
import pytest
import torch
import yaml
from figures import activation_overflow as overflow
from figures import half_weights, partial_sums, rounding_mean, small_net, walking
from figures.rounding_mean import to_bf16
from hypothesis import example, given, settings
from hypothesis import strategies as st
from page_code import Page
from torch import Tensor, nn
from torch.nn import functional as F

CLAIMS = {
    claim["id"]: claim["claim"]
    for claim in yaml.safe_load((page_code.BOOK / "claims/06.yml").read_text(encoding="utf-8"))
}
F16, F32, B16 = torch.float16, torch.float32, torch.bfloat16
INF = math.inf
THREADS = pytest.mark.parametrize("threads", [1, 2])
EVERY = torch.arange(2**16, dtype=torch.int32)


def half(value: float) -> float:
    """Round a double once to the nearest fp16 number, by the standard library; inf where struct refuses."""
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return math.copysign(INF, value)


@contextmanager
def threads_of_torch(count: int) -> Iterator[None]:
    """Let torch's operators use so many threads, whatever the environment says, and put the old number back."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def by_sgd(update: float, steps: int, dtype: torch.dtype) -> float:
    """Move a weight of 1 by PyTorch's own SGD: where it is after so many steps of the same update."""
    weight = nn.Parameter(torch.ones((), dtype=dtype))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    weight.grad = torch.tensor(-update).to(dtype)
    for _ in range(steps):
        optimizer.step()
    return weight.item()


@pytest.fixture(scope="module")
def page() -> Page:
    """What the chapter's own cells computed."""
    return page_code.run("06_what_scaling_cannot_save")


# ----------------------------------------------------------------------------------- the update


def test_an_update_up_is_swallowed_and_the_same_one_down_goes_too_far() -> None:
    one, update = torch.tensor(1.0).half(), torch.tensor(3e-4).half()
    assert (one + update).item() == 1.0 == half(1 + 3e-4)
    assert (one - update).item() == 0.99951171875 == half(1 - 3e-4) == 1 - 2.0**-11


def test_the_two_thresholds_hold_for_every_normal_number() -> None:
    patterns = np.arange(0x0400, 0x7C00, dtype=np.uint16)
    weights = patterns.view(np.float16)[:-1].astype(np.float64)  # without the largest: above it is inf
    for sign in (1, -1):
        small = (weights * (1 + sign * 2.0**-12 * (1 - 2.0**-20))).astype(np.float16)
        large = (weights * (1 + sign * 2.0**-11 * (1 + 2.0**-20))).astype(np.float16)
        assert (small == weights).all()
        assert (large != weights).all()
        between = (weights * (1 + sign * 2.0**-11.5)).astype(np.float16) == weights
        assert 0 < between.sum() < len(between)
    one, above = torch.tensor(1.0).half(), 2.0**-11 * (1 + 2.0**-12)
    assert (one.float() + above).half().item() > 1
    assert (one + torch.tensor(above).half()).item() == 1  # it became the tie


@given(st.integers(0, 16))
def test_no_scale_changes_an_update(exponent: int) -> None:
    scale = 2.0**exponent
    unscaled = torch.tensor(-0.03 * scale).half().float() / scale
    assert unscaled.item() == torch.tensor(-0.03).half().item()
    assert (1 - 0.01 * unscaled).half().item() == 1.0


def test_a_scale_changes_the_update_of_a_gradient_that_does_not_survive_without_it() -> None:
    for scale, moved in ((1.0, False), (1024.0, True), (65536.0, True)):
        step = 100 * (torch.tensor(1e-8 * scale).half().float() / scale)
        assert ((torch.tensor(1e-3).half().float() - step).half() != torch.tensor(1e-3).half()).item() == moved


def test_a_thousand_updates_stand_still_or_run_too_fast() -> None:
    up, down = by_sgd(3e-4, 1000, F16), by_sgd(-3e-4, 1000, F16)
    assert (up, down) == (1.0, 1 - 999 * 2**-11 - 2**-11 + 0.0)
    assert up == walking.alone(3e-4, 1000)[-1]
    assert down == walking.alone(-3e-4, 1000)[-1] == pytest.approx(0.512, abs=5e-4)
    wide = by_sgd(-3e-4, 1000, F32)
    assert wide == pytest.approx(0.7, abs=1e-4)
    assert walking.with_master(-3e-4, 1000)[-1] == half(wide)


def descend(dtype: torch.dtype, lr: float, steps: int) -> float:
    """Minimize (w - 0.5)² from 0 by PyTorch's SGD and autograd, the weight and its gradient in that dtype."""
    weight = nn.Parameter(torch.zeros((), dtype=dtype))
    optimizer = torch.optim.SGD([weight], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        ((weight.float() - 0.5) ** 2).backward()
        optimizer.step()
    return weight.item()


@pytest.mark.parametrize(
    ("lr", "steps", "half_gap"), [(1e-2, 2000, 2**-13), (1e-3, 5000, 2**-13), (1e-4, 20_000, 2**-14)]
)
def test_a_weight_stops_where_its_updates_are_half_a_gap(lr: float, steps: int, half_gap: float) -> None:
    predicted = 0.5 - half_gap / (2 * lr)
    assert descend(F16, lr, steps) == pytest.approx(predicted, abs=2 * half_gap)


def test_a_smaller_learning_rate_stops_earlier_and_fp32_does_not_stop() -> None:
    ends = [descend(F16, lr, steps) for lr, steps in ((1e-2, 2000), (1e-3, 5000), (1e-4, 20_000))]
    assert ends == sorted(ends, reverse=True)
    assert ends[1] == pytest.approx(0.439, abs=5e-4)
    assert descend(F32, 1e-3, 5000) == pytest.approx(0.5, abs=1e-3)


# ------------------------------------------------------------------------------- master weights


def test_fp32_keeps_what_fp16_does_not_see() -> None:
    master = torch.tensor(0.1)
    moved = master - 1e-8
    assert moved.item() == np.nextafter(np.float32(0.1), np.float32(0))
    assert moved.half() == master.half()
    exact = Fraction(master.item()) - Fraction(moved.item())
    assert float(exact) == 2.0**-27 == pytest.approx(7.45e-9, rel=1e-3)
    assert float(exact) == pytest.approx(0.75 * 1e-8, rel=0.01)


def test_the_master_s_own_rounding_delays_its_copy(page: Page) -> None:
    start = torch.tensor(0.1)
    edge = (Fraction(start.half().item()) + Fraction(half(start.half().item() - 2.0**-14))) / 2
    way = Fraction(start.item()) - edge
    assert page.number("travel-exact") == way // Fraction(1e-8) + 1 == 5494
    assert page.number("travel-steps") == way // Fraction(2.0**-27) + 1 == 7374  # the edge is a tie, which stays


@given(st.floats(2.0**-100, 2.0**100, width=32))
@settings(deadline=None)
def test_fp32_swallows_what_is_below_two_to_the_minus_25(weight: float) -> None:
    w = np.float32(weight)
    for sign in (1, -1):
        # In float64 the sum is exact enough to be rounded once, to float32.
        assert np.float32(float(w) * (1 + sign * 2.0**-25 * (1 - 2.0**-20))) == w
        assert np.float32(float(w) * (1 + sign * 2.0**-24 * (1 + 2.0**-20))) != w
    assert (torch.tensor(1.0) - 1e-8).item() == 1.0


@pytest.fixture(scope="module")
def late() -> dict[tuple[float, bool], half_weights.Run]:
    first = half_weights.train(True, steps=200, lr=0.01)
    return {
        (lr, master): half_weights.train(master, steps=300, lr=lr, start=first.weights)
        for lr in (1e-3, 1e-4)
        for master in (False, True)
    }


def test_late_in_a_training_a_master_copy_goes_on_where_fp16_stops(late: dict) -> None:
    share = {
        lr: (late[lr, False].losses[0] - late[lr, False].losses[-1])
        / (late[lr, True].losses[0] - late[lr, True].losses[-1])
        for lr in (1e-3, 1e-4)
    }
    assert 0.3 < share[1e-3] < 0.7
    assert 0 < share[1e-4] < 0.15
    assert late[1e-3, False].swallowed > 0.85
    assert late[1e-4, False].swallowed > 0.95


def test_with_another_seed_the_higher_rate_gives_another_share_and_the_lower_stays_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = small_net.network()
    with torch.random.fork_rng():
        torch.manual_seed(2)
        for part in other:
            if isinstance(part, nn.Linear):
                part.reset_parameters()
    monkeypatch.setattr(small_net, "network", lambda: other)
    first = half_weights.train(True, steps=200, lr=0.01)
    share = {}
    for lr in (1e-3, 1e-4):
        alone, kept = (half_weights.train(master, steps=300, lr=lr, start=first.weights) for master in (False, True))
        share[lr] = (kept.losses[0] - alone.losses[-1]) / (kept.losses[0] - kept.losses[-1])
    assert share[1e-3] > 0.8  # with the page's seed it is below 0.7
    assert 0 < share[1e-4] < 0.15


def test_both_trainings_start_from_the_same_numbers(late: dict) -> None:
    assert len({run.losses[0] for run in late.values()}) == 1
    for lr in (1e-3, 1e-4):
        assert late[lr, False].swallowed == late[lr, True].swallowed
        assert all((weight.half().float() == weight).all() for weight in late[lr, False].weights)
        assert not all((weight.half().float() == weight).all() for weight in late[lr, True].weights)


def test_swallowed_updates_are_counted_one_by_one() -> None:
    weights, updates = [torch.tensor([1.0, 1.0, 1.0])], [torch.tensor([-3e-4, 3e-4, 0.0])]
    assert half_weights.share_swallowed(weights, updates) == 0.5


def test_large_updates_get_through(page: Page) -> None:
    alone, kept = (half_weights.train(master, 400, 0.01) for master in (False, True))
    assert 0.5 < alone.swallowed < 0.65
    assert alone.losses[0] > 10
    assert min(alone.losses) < 0.1
    assert min(kept.losses) < 0.1
    assert page.number("net-early") == pytest.approx(min(alone.losses), abs=5e-4)
    assert page.number("net-early-master") == pytest.approx(min(kept.losses), abs=5e-4)


def test_under_autocast_the_parameters_stay_fp32() -> None:
    layer = nn.Linear(8, 8)
    with torch.autocast("cpu", dtype=F16):
        out = layer(torch.randn(4, 8))
    assert (layer.weight.dtype, out.dtype) == (F32, F16)
    out.float().sum().backward()
    assert layer.weight.grad.dtype == F32


def test_a_python_number_leaves_a_product_in_fp16() -> None:
    gradient = torch.tensor([1e-4]).half()
    assert (gradient * 1e-4).dtype == F16
    assert (gradient * 1e-4).item() == 0.0
    assert (gradient.float() * 1e-4).item() == pytest.approx(1e-8, rel=1e-3)


def test_two_honest_ways_differ_in_the_last_bit_at_most() -> None:
    draw = torch.Generator().manual_seed(0)
    master, gradient = torch.randn(100_000, generator=draw), torch.randn(100_000, generator=draw)
    apart, fused = master - 0.01 * gradient, torch.add(master, gradient, alpha=-0.01)
    assert (apart != fused).any()
    size = torch.maximum(master.abs(), (0.01 * gradient).abs())
    assert ((apart - fused).abs() <= 2 * 2.0**-23 * size).all()


def test_the_copy_and_the_master_lead_to_different_places() -> None:
    copy, master, update = torch.tensor([1.0]).half(), torch.tensor([1.0003]), 3e-4
    assert (copy.float() + update).item() == pytest.approx(1.0003, abs=1e-6)
    assert (master + update).item() == pytest.approx(1.0006, abs=1e-6)


# ----------------------------------------------------------------------------------------- sums


def test_a_loop_stops_where_a_gap_is_twice_the_addend() -> None:
    for dtype, top in ((F16, 2048.0), (B16, 256.0)):
        total = torch.zeros((), dtype=dtype)
        for one in torch.ones(5000, dtype=dtype):
            total = total + one
        assert total.item() == top == partial_sums.loop(5000, dtype)[-1]
    assert half(2049.0) == 2048.0


@given(st.integers(1, 65_000))
@settings(deadline=None)
@example(44_655)
def test_sum_adds_wider_and_rounds_once(count: int) -> None:
    ones = torch.ones(count, dtype=F16)
    with threads_of_torch(1):
        assert ones.sum().item() == half(float(count))
    with threads_of_torch(2):
        assert ones[:32_768].sum().item() == half(float(min(count, 32_768)))
        assert ones.sum(dtype=F32).item() == count


def test_several_threads_round_each_part_of_a_sum() -> None:
    ones = torch.ones(44_655, dtype=F16)
    both = torch.cat([torch.ones(80_000), -torch.ones(80_000)]).half()
    sums = []
    for count in (1, 2):
        with threads_of_torch(count):
            sums.append((ones.sum().item(), both.sum().item()))
            assert both.sum(dtype=F32).item() == 0
    assert sums[0] == (44640.0, 0.0) == (half(44_655.0), 0.0)
    assert sums[1][0] == 44672.0 == half(half(22_328.0) + half(22_327.0))
    assert math.isnan(sums[1][1])  # one thread's part is inf, the other's -inf


@THREADS
def test_adding_to_one_place_is_a_loop(threads: int, page: Page) -> None:
    place, ones = torch.zeros(5000, dtype=torch.long), torch.ones(5000).half()
    with threads_of_torch(threads):
        assert torch.zeros(1).half().index_add(0, place, ones).item() == 2048
        assert torch.zeros(1).half().index_put((place,), ones, accumulate=True).item() == 2048
        embedding = nn.Embedding(1, 1).half()
        embedding(place).sum().backward()
    assert embedding.weight.grad.item() == 2048 == page.number("stop-embedding")


@THREADS
def test_the_result_has_to_fit(threads: int) -> None:
    many, large = torch.ones(70_000, dtype=F16), torch.full((1000,), 300.0).half()
    with threads_of_torch(threads):
        assert many.sum().item() == INF
        assert many.sum(dtype=F32).item() == 70_000.0
        assert many.mean().item() == 1.0
        assert large.norm().item() == half(300 * math.sqrt(1000))
        assert large.pow(2).sum().sqrt().item() == INF
    inverse = torch.tensor([300.0, 300.0, 2.0**-8, 2.0**-8]).half()
    assert (inverse.prod().item(), inverse.float().prod().item()) == (INF, 90_000 / 65_536)  # prod is a loop


def test_python_s_sum_and_the_grad_of_an_fp16_parameter_are_loops() -> None:
    assert sum([torch.tensor(0.7).half()] * 5000).item() / 5000 == 0.4096
    for dtype, end in ((F16, 2048.0), (F32, 5000.0)):
        weight = nn.Parameter(torch.ones(1, dtype=dtype))
        for _ in range(5000):
            weight.sum().backward()
        assert weight.grad.item() == end
        assert weight.grad.dtype == dtype


def test_there_is_a_flag_for_sums_inside_cuda_products() -> None:
    assert isinstance(torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction, bool)


# ------------------------------------------------------------------------------------- autocast

X = torch.rand(4, 8, generator=torch.Generator().manual_seed(0))
CLASS = torch.zeros(4, dtype=torch.long)
ON_THE_CPU = {
    "linear": (lambda v: F.linear(v, torch.ones(8, 8)), F16, F16),
    "matmul": (lambda v: v @ torch.ones(8, 8), F16, F16),
    "relu": (torch.relu, F16, F32),
    "exp": (torch.exp, F16, F32),
    "pow": (lambda v: v.pow(2), F16, F32),
    "rsqrt": (torch.rsqrt, F16, F32),
    "sum": (torch.sum, F16, F32),
    "mean": (torch.mean, F16, F32),
    "norm": (torch.norm, F16, F32),
    "softmax": (lambda v: v.softmax(-1), F16, F32),
    "log_softmax": (lambda v: v.log_softmax(-1), F16, F32),
    "layer_norm": (lambda v: F.layer_norm(v, (8,)), F16, F32),
    "rms_norm": (lambda v: F.rms_norm(v, (8,)), F16, F32),
    "batch_norm": (lambda v: F.batch_norm(v, torch.zeros(8), torch.ones(8)), F16, F32),
    "prod": (torch.prod, F32, F32),
    "cross_entropy": (lambda v: F.cross_entropy(v, CLASS), F32, F32),
    "nll_loss": (lambda v: F.nll_loss(v, CLASS), F32, F32),
    "mse_loss": (lambda v: F.mse_loss(v, v.detach()), F32, F32),
    "l1_loss": (lambda v: F.l1_loss(v, v.detach()), F32, F32),
    "bce_with_logits": (lambda v: F.binary_cross_entropy_with_logits(v, v.detach()), F32, F32),
}


@pytest.mark.parametrize("name", ON_THE_CPU)
def test_what_autocast_on_the_cpu_returns(name: str) -> None:
    op, given_half, given_single = ON_THE_CPU[name]
    with torch.autocast("cpu", dtype=F16):
        assert (op(X.half()).dtype, op(X).dtype) == (given_half, given_single), torch.__version__


def test_the_page_asks_torch_and_counts_what_it_says(page: Page) -> None:
    by_name = {name: kind for kind, names in page["kinds"].items() for name in names}
    if page["device"] == "cpu":
        assert {name: by_name[name] for name in ON_THE_CPU} == {n: (a, b) for n, (_, a, b) in ON_THE_CPU.items()}
    assert page.number("ops") == len(by_name)
    assert page.number("half-count") == sum(kind[0] == F16 for kind in by_name.values())


@THREADS
@pytest.mark.parametrize(("size", "at_least"), [(64, 1.0), (63, 0.999)])
def test_what_comes_back_in_fp16_may_have_been_computed_wider(size: int, at_least: float, threads: int) -> None:
    z = torch.randn(1000, size, generator=torch.Generator().manual_seed(0)).half() * 4
    with threads_of_torch(threads):
        for op in (lambda v: v.softmax(-1), lambda v: v.sum(-1), lambda v: F.rms_norm(v, (size,))):
            assert (op(z) == op(z.float()).half()).double().mean().item() >= at_least


def test_a_probability_that_is_rounded_to_zero_has_an_infinite_loss() -> None:
    logits, target = torch.tensor([[20.0, 0.0]]).half(), torch.tensor([1])
    assert half(math.exp(-20)) == 0.0
    with torch.autocast("cpu", dtype=F16):
        assert (-logits.softmax(-1).log()[0, 1]).item() == INF
        assert F.cross_entropy(logits, target).item() == pytest.approx(20.0, abs=1e-3)
        assert F.cross_entropy(logits, target).dtype == F32
        near = -torch.tensor([[16.0, 0.0]]).half().softmax(-1).log()[0, 1]
    assert near.item() == pytest.approx(-math.log(2 * 2.0**-24), abs=0.01)


# -------------------------------------------------------------------------------- loud and silent


@pytest.fixture(scope="module")
def runs() -> dict[tuple[float, torch.dtype | None], overflow.Run]:
    return {
        (sign, dtype): overflow.train(overflow.Network(sign), dtype) for sign in (1.0, -1.0) for dtype in (None, F16)
    }


def test_a_loud_overflow_makes_the_loss_nan_and_sinks_the_scale(runs: dict) -> None:
    loud = runs[1.0, F16]
    assert all(math.isnan(loss) for loss in loud.losses)
    assert loud.skipped == len(loud.losses) == 200
    assert loud.scales[:167] == [2.0 ** (16 - step) for step in range(166)] + [0.0]
    assert runs[1.0, None].losses[-1] < 0.2 * runs[1.0, None].losses[0]
    model, (x, y) = overflow.Network(1.0), overflow.data()
    with torch.no_grad(), torch.autocast("cpu", dtype=F16):
        model.last.weight.abs_()
        assert F.mse_loss(model(x).float(), y).item() == INF


def test_a_silent_overflow_has_a_finite_falling_loss_and_a_healthy_scale(runs: dict) -> None:
    silent, wide = runs[-1.0, F16], runs[-1.0, None]
    assert silent.skipped == 0
    assert all(math.isfinite(loss) for loss in silent.losses)
    assert silent.losses[-1] < silent.losses[0]
    assert silent.scales == wide.scales
    assert silent.scales[-1] > silent.scales[0]
    assert wide.losses[-1] < 0.1 < 0.9 < silent.losses[-1]


def test_the_last_bias_s_own_gradient_may_overflow(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = overflow.data()
    for offset, fits in ((0.0, True), (0.5, False)):
        model = overflow.Network(-1.0)
        with torch.autocast("cpu", dtype=F16):
            out = model(x)
        (F.mse_loss(out.float(), y + offset) * 65536.0).backward()
        assert (model.first.weight.grad == 0).all()
        assert (model.last.weight.grad == 0).all()
        assert model.last.bias.grad.isfinite().item() is fits
        if fits:
            assert model.last.bias.grad.item() == -page.number("silent-bias")
            assert 0.94 < abs(model.last.bias.grad.item()) / 65_520 < 0.96
    monkeypatch.setattr(overflow, "data", lambda: (x, y + 0.5))
    assert overflow.train(overflow.Network(-1.0), F16).skipped > 0


class WithFactor(overflow.Network):
    """The silent network with PyTorch's own batch norm, in eval mode, its factor and shift trainable."""

    def __init__(self) -> None:
        super().__init__(-1.0)
        self.norm = nn.BatchNorm1d(overflow.WIDTH).eval()
        self.norm.running_mean.copy_(self.mean)
        self.norm.running_var.copy_(self.var)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(torch.relu(self.norm(self.first(x))))


def test_a_trainable_factor_sinks_the_scale_while_the_loss_is_finite() -> None:
    run = overflow.train(WithFactor(), F16)
    assert all(math.isfinite(loss) for loss in run.losses)
    assert run.skipped == len(run.losses) == 200
    assert run.scales[:167] == [2.0 ** (16 - step) for step in range(166)] + [0.0]
    model, (x, y) = WithFactor(), overflow.data()
    with torch.autocast("cpu", dtype=F16):
        loss = F.mse_loss(model(x).float(), y)
    loss.backward()
    bad = {name for name, p in model.named_parameters() if not p.grad.isfinite().all()}
    assert bad == {"norm.weight"}
    assert model.norm.weight.grad.isnan().all()


def test_every_first_output_is_minus_inf_and_only_the_last_bias_learns() -> None:
    model, (x, y) = overflow.Network(-1.0), overflow.data()
    with torch.autocast("cpu", dtype=F16):
        assert (model.first(x) == -INF).all()
        loss = F.mse_loss(model(x).float(), y)
    loss.backward()
    assert model.first.weight.grad.abs().max() == 0
    assert model.last.weight.grad.abs().max() == 0
    assert model.last.bias.grad.abs().item() > 0
    with torch.no_grad():
        normal = F.batch_norm(model.first(x), model.mean, model.var)
    assert normal.isfinite().all()
    assert 0.4 < (normal > 0).double().mean() < 0.6


def test_what_remains_is_the_variance_of_the_targets(runs: dict) -> None:
    assert runs[-1.0, F16].losses[-1] == pytest.approx(overflow.data()[1].var(correction=0).item(), abs=2e-3)


@pytest.mark.parametrize("exponent", [-20, -10, 0, 10, 16])
@pytest.mark.parametrize(("sign", "bad", "zeros"), [(1.0, 128, 0), (-1.0, 0, 128)])
def test_no_scale_changes_a_forward_overflow(exponent: int, sign: float, bad: int, zeros: int) -> None:
    model, (x, y) = overflow.Network(sign), overflow.data()
    with torch.autocast("cpu", dtype=F16):
        loss = F.mse_loss(model(x).float(), y)
    (loss * 2.0**exponent).backward()
    grad = model.first.weight.grad
    assert ((~grad.isfinite()).sum().item(), (grad == 0).sum().item()) == (bad, zeros)


def test_a_relu_right_behind_loses_nothing() -> None:
    wide, narrow = torch.tensor([-72_000.0]), torch.tensor([-72_000.0]).half()
    assert narrow.item() == -INF
    assert torch.relu(wide).item() == torch.relu(narrow).item() == 0.0
    assert half(65_519.99) == 65_504.0 < half(65_520.0) == INF
    for end in (torch.sigmoid, torch.tanh, torch.reciprocal):
        number = torch.tensor([INF]).half().requires_grad_()
        out = end(number)
        out.backward()
        assert out.isfinite()
        assert number.grad.item() == 0
    brought_back = [torch.relu((number + 73_000.0) / 1000).item() for number in (wide, narrow.float())]
    assert brought_back == [1.0, 0.0]


def test_what_helps_and_what_helps_half() -> None:
    plain = overflow.train(overflow.Network(-1.0), None).losses[-1]
    wide = overflow.train(overflow.Network(-1.0, wide=True), F16)
    brain = overflow.train(overflow.Network(-1.0), B16).losses[-1]
    assert 0 < wide.skipped < 10  # finding its scale: here the gradients are alive
    assert abs(wide.losses[-1] - plain) < 0.03
    assert brain > 4 * plain
    x = overflow.centered(overflow.data()[0])
    ends = []
    for dtype in (None, F16):
        model = overflow.Network(-1.0)
        with torch.no_grad():
            seen = model.first(x)
        model.mean, model.var = seen.mean(0), seen.var(0)
        ends.append(overflow.train(model, dtype, x=x).losses[-1])
    assert ends[1] == pytest.approx(ends[0], rel=0.02)


def test_the_silent_training_is_spared_even_the_search_for_a_scale(page: Page) -> None:
    assert page.number("wide-skips") == overflow.train(overflow.Network(-1.0, wide=True), F16).skipped > 0
    assert page["silent"].skipped == 0


def test_bf16_has_the_range_and_not_the_precision() -> None:
    edge = torch.tensor(72_000.0).bfloat16()
    assert edge.isfinite()
    assert (torch.nextafter(edge, torch.tensor(INF).bfloat16()) - edge).item() == 512.0
    nine = torch.tensor(9.0).bfloat16()
    assert (torch.nextafter(nine, torch.tensor(INF).bfloat16()) - nine).item() == 2.0**-4
    with torch.no_grad():
        apart = overflow.Network(-1.0).first(overflow.data()[0])
    apart -= apart.mean(0)
    assert (apart - apart.mean(1, keepdim=True)).std().item() < 512 / 4
    plain = overflow.train(overflow.Network(-1.0), None).losses[-1]
    for what in ("outputs", "weights"):
        assert overflow.train(overflow.Rounded(what), None).losses[-1] > 2 * plain


def test_one_thing_is_rounded_and_its_gradient_passes() -> None:
    values = torch.tensor([1.001, 72_000.0], requires_grad=True)
    rounded = overflow.as_bf16(values)
    rounded.sum().backward()
    assert torch.equal(rounded, values.detach().bfloat16().float())
    assert values.grad.tolist() == [1.0, 1.0]
    x = overflow.data()[0]
    outs = [model(x) for model in (overflow.Network(-1.0), overflow.Rounded("outputs"), overflow.Rounded("nothing"))]
    assert torch.equal(outs[0], outs[2])
    assert not torch.equal(outs[0], outs[1])


def test_a_norm_that_squares_in_fp16_forgets_its_row() -> None:
    assert half(255.875**2) < INF
    assert half(256.0**2) == INF
    for size, out in ((255.875, math.sqrt(2)), (256.0, 0.0), (300.0, 0.0)):
        v = torch.tensor([size, 1.0, -size, 1.0]).half().requires_grad_()
        by_hand = v * torch.rsqrt((v * v).mean(-1, keepdim=True))
        by_hand[0].backward()
        assert by_hand[0].item() == pytest.approx(out, abs=2e-3)
        assert (v.grad.abs().max().item() == 0) == (out == 0)
        assert by_hand.isfinite().all()
        assert v.grad.isfinite().all()
        built_in = F.rms_norm(v.detach().requires_grad_(), (4,))
        assert built_in[0].item() == pytest.approx(math.sqrt(2), abs=2e-3)


def test_a_hook_on_the_outputs_finds_what_the_gradients_do_not_show(page: Page) -> None:
    assert "first  4,096 of 4,096 bad\nlast       0 of   256 bad\n" in page.printed


# ----------------------------------------------------------------------------------------- Adam


def adam(gradient: float, dtype: torch.dtype, steps: int = 1, **options) -> tuple[float, Tensor]:
    """Return an Adam weight after so many steps from 1 with that gradient, and its second average."""
    weight = nn.Parameter(torch.ones(1, dtype=dtype))
    optimizer = torch.optim.Adam([weight], lr=1e-3, **options)
    for _ in range(steps):
        weight.grad = torch.tensor([gradient]).to(dtype)
        optimizer.step()
    return weight.item(), optimizer.state[weight]["exp_avg_sq"]


@pytest.mark.parametrize("foreach", [False, True])
def test_adam_on_fp16_parameters_ends_at_minus_inf_or_nan(foreach: bool) -> None:
    assert half(torch.optim.Adam([torch.zeros(1)]).defaults["eps"]) == 0.0
    for gradient in (1e-3, 1e-4):
        assert adam(gradient, F16, foreach=foreach)[0] == -INF
        assert adam(-gradient, F16, foreach=foreach)[0] == INF
    assert math.isnan(adam(0.0, F16, foreach=foreach)[0])
    for gradient in (1e-3, 1e-4):
        assert adam(gradient, F32, foreach=foreach)[0] == pytest.approx(0.999, abs=1e-5)


def test_the_second_average_is_zero_below_a_root() -> None:
    cut = math.sqrt(2.0**-25 / 1e-3)
    assert cut == pytest.approx(0.00546, abs=5e-6)
    below, above = (adam(cut * factor, F16)[1] for factor in (0.999, 1.001))
    assert below.dtype == above.dtype == F16
    assert (below.item(), above.item()) == (0.0, 2.0**-24)
    gradients = torch.arange(1, 0x7C00, dtype=torch.int16).view(F16)
    weight = nn.Parameter(torch.ones_like(gradients))
    weight.grad = gradients.clone()
    optimizer = torch.optim.Adam([weight])
    optimizer.step()
    second = optimizer.state[weight]["exp_avg_sq"]
    assert torch.equal(second == 0, gradients.double() < 0.00546)
    assert torch.equal(second.isinf(), gradients >= 8096)


def test_a_larger_eps_makes_steps_of_another_size(page: Page) -> None:
    weight = nn.Parameter(torch.zeros(1, dtype=F16))
    weight.grad = torch.tensor([1e-3]).half()
    torch.optim.Adam([weight], lr=1e-3, eps=1e-4).step()
    assert -weight.item() / 1e-3 == pytest.approx(1e-3 / 1e-4, rel=0.001)
    assert page.number("adam-eps-times") == pytest.approx(10, abs=0.05)
    assert half(2e-8) == 0
    assert adam(1e-3, F16, eps=2e-8)[0] == -INF


def fused_lengths(gradient: float, steps: int) -> tuple[list[float], float]:
    """Return the lengths of a fused fp16 Adam's steps in learning rates, always from 0, and its second average."""
    weight = nn.Parameter(torch.zeros(1, dtype=F16))
    optimizer = torch.optim.Adam([weight], lr=1e-4, fused=True)
    lengths = []
    for _ in range(steps):
        with torch.no_grad():
            weight.zero_()
        weight.grad = torch.tensor([gradient]).half()
        optimizer.step()
        lengths.append(-weight.item() / 1e-4)
    return lengths, optimizer.state[weight]["exp_avg_sq"].item()


def test_a_fused_adam_takes_longer_and_longer_steps(page: Page) -> None:
    lengths, second = fused_lengths(1e-3, 6000)
    assert second == 0.0
    for step in (1, 10, 100, 1000, 6000):
        expected = math.sqrt((1 - 0.999**step) / (1 - 0.999))
        assert lengths[step - 1] == pytest.approx(expected, rel=0.02)
    assert max(lengths) < page.number("adam-limit") * 1.001 == pytest.approx(31.6, abs=0.06)
    for gradient, at_most in ((6e-3, 2.5), (1e-2, 1.2)):
        lengths, second = fused_lengths(gradient, 3000)
        assert second > 0
        assert max(lengths) < at_most


def test_with_fp32_parameters_adam_remembers_in_fp32() -> None:
    layer = nn.Linear(4, 1)
    optimizer = torch.optim.Adam(layer.parameters())
    with torch.autocast("cpu", dtype=F16):
        loss = layer(torch.ones(2, 4)).float().sum()
    loss.backward()
    optimizer.step()
    state = optimizer.state[layer.weight]
    assert state["exp_avg"].dtype == state["exp_avg_sq"].dtype == F32


# --------------------------------------------------------------------------- stochastic rounding


def test_a_bf16_number_is_the_upper_half_of_an_fp32_number() -> None:
    patterns = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16)
    wide = patterns.view(B16).float()
    known = ~wide.isnan()
    assert torch.equal((wide.view(torch.int32) >> 16)[known], patterns.to(torch.int32)[known])
    assert (wide.view(torch.int32)[known] & 0xFFFF == 0).all()


@given(st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**127), max_value=2.0**127))
@settings(deadline=None, max_examples=60)
def test_the_mean_over_all_random_bits_is_the_number_itself(value: float) -> None:
    rounded = to_bf16(torch.full((2**16,), value), EVERY).double()
    counts = {number: int((rounded == number).sum()) for number in set(rounded.tolist())}
    assert len(counts) <= 2
    mean = sum(Fraction(number) * count for number, count in counts.items()) / 2**16
    assert mean == Fraction(torch.tensor(value).item())


def test_up_is_away_from_zero_and_as_often_as_the_rest_says() -> None:
    x = torch.tensor(1.0) + 0.001
    rest = x.view(torch.int32).item() & 0xFFFF
    assert rest == 8389 == round(0.001 / 2**-7 * 65536)
    for value in (x.item(), -x.item()):
        rounded = to_bf16(torch.full((2**16,), value), EVERY).float().abs()
        assert (rounded > 1).sum().item() == rest
        assert rest / 65536 == pytest.approx(0.128, abs=5e-4)


def test_an_update_of_a_thousandth_is_swallowed_to_nearest_and_not_stochastically() -> None:
    assert by_sgd(1e-3, 1000, B16) == 1.0 == walking.alone(1e-3, 1000, dtype=B16)[-1]
    walks = rounding_mean.walk(1e-3, 1000)
    for step in (100, 500, 1000):
        spread = (walks.high[step] - walks.low[step]) / math.sqrt(1000)
        assert walks.mean[step] == pytest.approx(1 + 1e-3 * step, abs=spread)
    assert walks.low[-1] < 1.8 < 2.2 < walks.high[-1]


def test_the_noise_grows_with_the_root_of_the_steps() -> None:
    draw, state, deviations = torch.Generator().manual_seed(9), torch.ones(20_000, dtype=B16), {}
    for step in range(1, 401):
        r = torch.randint(0, 2**16, (20_000,), generator=draw, dtype=torch.int32)
        state = to_bf16(state.float() + 1e-3, r)
        deviations[step] = state.double().std().item()
    assert deviations[400] / deviations[100] == pytest.approx(2.0, rel=0.05)


def test_one_number_is_rounded_worse() -> None:
    sample = 1 + torch.rand(100_000, generator=torch.Generator().manual_seed(5))
    r = torch.randint(0, 2**16, (100_000,), generator=torch.Generator().manual_seed(6), dtype=torch.int32)
    errors = [
        (rounded.double() - sample.double()).square().mean().sqrt()
        for rounded in (to_bf16(sample, r), sample.bfloat16())
    ]
    assert (errors[0] / errors[1]).item() == pytest.approx(math.sqrt(2), rel=0.02)


def test_a_carry_may_become_inf_and_inf_never_carries() -> None:
    largest = torch.tensor([torch.finfo(B16).max])
    just_above = torch.nextafter(largest, torch.tensor([INF]))
    ones = torch.tensor([65535], dtype=torch.int32)
    assert to_bf16(largest, ones).item() == largest.item()
    assert to_bf16(just_above, ones).item() == INF
    for sign in (INF, -INF):
        assert (to_bf16(torch.full((2**16,), sign), EVERY).float() == sign).all()


def test_without_a_special_case_a_nan_may_change() -> None:
    payload, full, usual = (
        torch.tensor([bits], dtype=torch.int32).view(F32) for bits in (0x7F800001, 0x7FFFFFFF, 0x7FC00000)
    )
    assert all(number.isnan() for number in (payload, full, usual))
    assert to_bf16(payload, EVERY[:1]).item() == INF
    zero = to_bf16(full, EVERY[1:2]).item()
    assert (zero, math.copysign(1, zero)) == (0.0, -1.0)
    assert to_bf16(usual.expand(2**16).contiguous(), EVERY).isnan().all()
    assert torch.tensor(math.nan).view(torch.int32).item() == 0x7FC00000


def test_rounding_again_after_the_addition_is_half_a_gap_too_high() -> None:
    x = torch.full((2**16,), 1.001)
    again = (x.view(torch.int32) + EVERY).view(F32).bfloat16().double().mean().item()
    assert (again - x[0].item()) / 2**-7 == pytest.approx(0.5, abs=1e-3)
    cut = ((x.view(torch.int32) >> 16) << 16).view(F32)[0].item()
    assert (cut - x[0].item()) / 2**-7 == pytest.approx(-0.128, abs=1e-3)


def test_a_view_reads_bits_and_a_conversion_numbers() -> None:
    pattern = torch.tensor([0x3F80])
    assert pattern.to(torch.int16).view(B16).item() == 1.0
    assert pattern.to(B16).item() == 16256.0


# --------------------------------------------------------------------------------- further on


def test_mixed_adam_takes_as_many_bytes_as_fp32(page: Page) -> None:
    f16, f32 = (torch.zeros((), dtype=dtype).element_size() for dtype in (F16, F32))
    assert 2 * f16 + 3 * f32 == 4 * f32 == 16 == page.number("more-mixed") == page.number("more-full")


def test_cleverer_sums_in_fp16_do_not_stop(page: Page) -> None:
    ones = torch.ones(5000, dtype=F16)
    assert page["compensated"](ones) == page["in_pairs"](ones) == 5000.0
    assert page["compensated"](torch.full((5000,), 0.1).half()) == half(5000 * half(0.1))


def test_masks_in_fp16() -> None:
    logits = torch.zeros(1, 4).half()
    with pytest.raises(RuntimeError, match="without overflow"):
        logits.masked_fill(torch.ones(1, 4, dtype=torch.bool), -1e9)
    lowest = torch.tensor(torch.finfo(F16).min).half()
    assert (lowest.item(), (lowest + lowest).item()) == (-65504.0, -INF)
    assert torch.full((1, 2), -INF).half().softmax(-1).isnan().all()
    for refused in (lambda: torch.full((2,), -1e9, dtype=F16), lambda: torch.zeros(2).half().fill_(-1e9)):
        with pytest.raises(RuntimeError, match="without overflow"):
            refused()
    quiet = [
        torch.full((1,), -1e9, dtype=F16),
        torch.zeros(1).half().fill_(-1e9),
        torch.where(logits == 0, -1e9, logits),
        logits + -1e9,
        (logits + 1) * -1e9,
        torch.full((4,), -1e9).half(),
    ]
    assert all((mask == -INF).all() for mask in quiet)
    q = torch.ones(1, 2, 4).half()
    assert (F.scaled_dot_product_attention(q, q, q, attn_mask=torch.full((2, 2), -INF).half()) == 0).all()


def test_shared_random_bits_do_not_average_out(page: Page) -> None:
    assert page["spread"](True) > 10 * page["spread"](False)


def test_bf16_swallows_below_two_to_the_minus_9() -> None:
    weights = torch.arange(0x0080, 0x7F7F, dtype=torch.int32).to(torch.int16).view(B16).double()
    for sign in (1, -1):
        moved = [
            (weights * (1 + sign * share)).float().bfloat16()
            for share in (2.0**-9 * (1 - 2**-10), 2.0**-8 * (1 + 2**-10))
        ]
        assert (moved[0].double() == weights).all()
        assert (moved[1].double() != weights).all()


def test_the_three_recalls_are_right(page: Page) -> None:
    interval = page.number("r6-interval")
    assert page.number("r6-cycle") == interval + 1 == page.number("r6-between")
    assert page.number("r6-steady") == pytest.approx(1 / (interval + 1), abs=5e-5)
    gradient, scale = page["lost"], page.number("r6-scale")
    assert half(gradient) == 0.0 == page.number("r6-late")
    assert page.number("r6-early") == pytest.approx(half(gradient * scale) / scale, rel=1e-3)
    weight = page.number("r6-weight")
    assert 0.5 < weight < 1
    assert half(weight) == pytest.approx(page.number("r6-copy"), abs=1e-7)
    assert abs(half(weight) - weight) <= 2.0**-12


# ------------------------------------------------------------- what is shown, what is claimed


def test_the_prose_shows_what_the_cells_computed(page: Page) -> None:
    assert page_code.wanted(page) == set(page.shown)
    assert all(page.shown.values())


SHOWN = {
    "update-off": 0.0002,
    "up-half": 0.000488,
    "down-half": 0.000244,
    "down-moved": 0.000488,
    "down-times": 1.63,
    "walk-up": 1,
    "walk-down": 0.512,
    "walk-down-copy": 0.7,
    "travel-moved": 7.45e-9,
    "travel-one": 1,
    "stop-bf16": 256,
    "silent-inf": 1,
    "inside": 1,
    "silent-var": 0.98,
    "silent-last": 0.98,
    "loud-sunk": 166,
    "bf16-gap": 512,
    "square-last": 255.875,
    "adam-cut": 0.00546,
    "adam-fused": 0.999,
    "if-product": 0,
    "if-late": 1,
    "if-too-large": INF,
    "if-too-small": 0,
    "if-from-copy": 1.0003,
    "if-from-master": 1.0006,
    "sr-twice": 0.5,
    "sr-cut": -0.128,
    "sr-near": -0.128,
    "sr-view": 1,
    "sr-convert": 16256,
    "more-kahan": 5000,
    "more-pairs": 5000,
    "more-lowest": -65504,
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_shown_number_is_what_its_claim_s_test_computes(page: Page, name: str) -> None:
    assert page.number(name) == pytest.approx(SHOWN[name], rel=1e-9)


CLAIMED = {
    "update-up-and-down": ["3e-4", "0.99951171875"],
    "stops-early": ["0.439", "0.5"],
    "loops-stop": ["2048", "256"],
    "result-has-to-fit": ["70,000"],
    "loops-in-disguise": ["2048", "0.41", "0.7"],
    "loud": ["166", "200"],
    "norm-by-hand": ["256", "255.875"],
    "second-average": ["0.00546", "8096"],
    "sum-rounds-once": ["32,768", "44,655", "44640", "44672"],
    "index-add-is-a-loop": ["2048", "5,000"],
    "fused-drifts": ["31.6", "0.006"],
    "rest-says-how-often": ["12.8", "0.001"],
    "bytes-per-weight": ["16"],
}


@pytest.mark.parametrize("claim", CLAIMED)
def test_a_claim_says_the_numbers_that_its_test_tries(claim: str) -> None:
    words = {word.strip(".,;:()%") for word in CLAIMS[claim].split()}
    assert set(CLAIMED[claim]) <= words


# ---------------------------------------------------------------------------------- figures

WIDTHS = pytest.mark.parametrize("narrow", [False, True])


@WIDTHS
def test_walking_draws_both_weights_in_a_panel_for_each_update(narrow: bool) -> None:
    walks = {1e-3: ([1.0, 1.0], [1.0, 1.1]), -1e-3: ([1.0, 0.8], [1.0, 0.9])}
    axes = walking.draw(walks, narrow=narrow).axes
    assert [[list(line.get_ydata()) for line in ax.get_lines()] for ax in axes] == [
        [[1.0, 1.1], [1.0, 1.0]],
        [[1.0, 0.9], [1.0, 0.8]],
    ]
    assert [ax.get_title(loc="left") for ax in axes] == ["+0.001 a step", "−0.001 a step"]


@WIDTHS
def test_partial_sums_draws_the_exact_line_the_loops_and_a_point_for_each_sum(narrow: bool) -> None:
    (ax,) = partial_sums.draw({"a": [0, 1, 2], "b": [0, 1, 1]}, {1: 1.0, 2: 2.0}, narrow=narrow).axes
    assert [list(line.get_ydata()) for line in ax.get_lines()] == [[0, 2], [0, 1, 2], [0, 1, 1], [1.0, 2.0]]
    assert [text.get_text() for text in ax.texts] == ["2", "1"]


@WIDTHS
def test_activation_overflow_draws_no_loss_that_is_nan_and_marks_a_dead_scale(narrow: bool) -> None:
    plain = overflow.Run([2.0, 1.0, 0.5], [4.0, 4.0, 8.0], 0)
    dead = overflow.Run([math.nan] * 3, [2.0**-148, 2.0**-149, 0.0], 3)
    silent = overflow.Run([2.0, 1.5, 1.5], [4.0, 4.0, 8.0], 0)
    axes = overflow.draw({"loud": (plain, dead), "silent": (plain, silent)}, narrow=narrow).axes
    loud_loss, silent_loss = (axes[0], axes[2]) if narrow else (axes[0], axes[1])
    loud_scale, silent_scale = (axes[1], axes[3]) if narrow else (axes[2], axes[3])
    assert "nan from here on" in [text.get_text() for text in loud_loss.texts]
    assert not silent_loss.texts
    assert list(silent_loss.get_lines()[1].get_ydata()) == [2.0, 1.5, 1.5]
    assert [list(line.get_ydata()) for line in loud_scale.get_lines()] == [[-148, -149], [-149]]
    assert [list(line.get_ydata()) for line in silent_scale.get_lines()] == [[2, 2, 3]]


@WIDTHS
def test_rounding_mean_draws_the_exact_walk_the_mean_and_the_nearest(narrow: bool) -> None:
    walks = rounding_mean.Walks([1.0, 1.5], [1.0, 1.2], [1.0, 1.9], [1.0, 1.3])
    (ax,) = rounding_mean.draw(walks, [1.0, 1.0], [1.0, 1.4], narrow=narrow).axes
    assert [list(line.get_ydata()) for line in ax.get_lines()] == [[1.0, 1.4], [1.0, 1.3], [1.0, 1.5], [1.0, 1.0]]


def test_a_training_that_overflows_at_its_fixed_scale_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half_weights, "SCALE", 2.0**20)
    with pytest.raises(ValueError, match="overflowed at scale"):
        half_weights.train(True, steps=1, lr=0.01)
