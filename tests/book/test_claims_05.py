"""The claims of chapter 5, "Dynamic scaling", each put to PyTorch itself. book/claims/05.yml lists them."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import page_code
import pytest
import torch
import yaml
from figures import scale_limits, scale_play, scale_trace, sinking, skip_rate, small_net
from figures.sawtooth import Trace, drive
from figures.sawtooth import draw as draw_sawtooth
from figures.scale_play import Setting
from hypothesis import given, settings
from hypothesis import strategies as st
from page_code import Page
from torch import Tensor, nn
from torch.nn.functional import mse_loss

LIMIT = 24_576.0
CLAIMS = {
    claim["id"]: claim["claim"]
    for claim in yaml.safe_load((page_code.BOOK / "claims/05.yml").read_text(encoding="utf-8"))
}
flags_of_a_run = st.lists(st.booleans(), max_size=80)


def by_scaler(flags: list[bool], init: float, interval: int, growth: float = 2.0, backoff: float = 0.5) -> Trace:
    """Run a whole ``GradScaler``, its step and all, on a weight whose gradient is inf where the flag is true."""
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler(
        "cpu", init_scale=init, growth_factor=growth, backoff_factor=backoff, growth_interval=interval
    )
    scaler.scale(torch.ones(()))
    scales, skipped = [], []
    for step, flag in enumerate(flags):
        scales.append(scaler.get_scale())
        before = weight.item()
        weight.grad = torch.tensor([math.inf if flag else 1.0]) * scales[-1]
        scaler.step(optimizer)
        scaler.update()
        if weight.item() == before:
            skipped.append(step)
    return Trace(scales, skipped, scaler.get_scale())


@pytest.fixture(scope="module")
def training() -> Trace:
    """The real training of the chapter's beginning."""
    model, (x, y) = small_net.network(), small_net.data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", growth_interval=20)
    scales, skipped = [], []
    for step in range(600):
        optimizer.zero_grad()
        scales.append(scaler.get_scale())
        scaler.scale(small_net.loss_in_half(model, x, y)).backward()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() < scales[-1]:
            skipped.append(step)
    return Trace(scales, skipped, scaler.get_scale())


@pytest.fixture(scope="module")
def page() -> Page:
    """What the chapter's own cells computed."""
    return page_code.run("05_dynamic_scaling")


# ------------------------------------------------------------------ before the first section


@given(st.integers(0, 20))
def test_what_fits_at_a_scale(exponent: int) -> None:
    scale = 2.0**exponent
    halves = [torch.tensor(limit / scale * scale).half().item() for limit in (65504, 65519, 65520)]
    assert halves == [65504.0, 65504.0, math.inf]


def test_a_gradient_survives_from_the_cut_off_on() -> None:
    for scale in (1.0, 2.0**10, 2.0**30):
        at, above = (torch.tensor(cut / scale * scale).half().item() for cut in (2**-25, 1.001 * 2**-25))
        assert (at, above) == (0.0, 2.0**-24)


def test_the_scale_of_a_training_falls_first_and_then_follows_the_gradients_up(training: Trace) -> None:
    assert training.skipped[:2] == [0, 1]
    assert min(training.scales) < training.scales[0] == 65536.0
    assert training.final > 4 * training.scales[0]
    assert all(after == before / 2 for before, after in pairs(training, training.skipped))


def pairs(trace: Trace, steps: list[int]) -> list[tuple[float, float]]:
    chain = [*trace.scales, trace.final]
    return [(chain[step], chain[step + 1]) for step in steps]


def test_a_larger_scale_buys_nothing_once_the_number_is_normal() -> None:
    back = [torch.tensor(1e-8 * 2.0**k).half().item() / 2.0**k for k in range(28)]
    assert back[:2] == [0.0, 0.0]
    assert 1e-8 * 2**12 < 2**-14 < 1e-8 * 2**13
    errors = [abs(value / 1e-8 - 1) for value in back]
    assert errors[2] > 0.4
    assert errors[7] < 0.03
    assert len(set(back[13:])) == 1
    # A subnormal number is off by half of the last bit at most, which each doubling makes half as large.
    assert all(abs(back[k] - 1e-8) <= 2.0**-25 / 2.0**k * 1.0001 for k in range(13))


# ----------------------------------------------------------------------------------- the rule


def test_the_statement_s_example_is_what_pytorch_does() -> None:
    flags = [False, True, False, False, False]
    expected = Trace([8.0, 8.0, 4.0, 4.0, 8.0], [1], 8.0)
    assert by_scaler(flags, 8.0, 2) == drive(flags, 5, 2, init=8.0) == expected


@given(flags_of_a_run, st.integers(1, 7), st.sampled_from([(2.0, 0.5), (4.0, 0.25), (1.5, 0.75)]))
@settings(deadline=None)
def test_the_operator_does_what_the_scaler_does(flags: list[bool], interval: int, factors: tuple[float, float]) -> None:
    growth, backoff = factors
    assert by_scaler(flags, 1024.0, interval, growth, backoff) == drive(
        flags, len(flags), interval, 1024.0, growth, backoff
    )


def test_a_checkpoint_holds_the_two_numbers_and_the_settings() -> None:
    scaler = torch.amp.GradScaler("cpu")
    keys = {"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"}
    assert set(scaler.state_dict()) == keys


def test_factors_multiply_and_are_independent() -> None:
    for growth in (1.5, 2.0, 4.0):
        for backoff in (0.25, 0.5, 0.75):
            factors = {"init": 8.0, "growth": growth, "backoff": backoff}
            assert drive([False], 1, 1, **factors).final == 8 * growth
            assert drive([True], 1, 1, **factors).final == 8 * backoff


def test_pytorch_forgets_to_make_a_float_of_an_int() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=8)
    assert type(scaler.get_scale()) is int
    scaler.scale(torch.ones(()))
    assert type(scaler.get_scale()) is float


def test_a_map_is_used_up_and_an_array_of_ints_holds_no_floats() -> None:
    doubled = map((2.0).__mul__, [4.0, 8.0])
    assert [list(doubled), list(doubled)] == [[8.0, 16.0], []]
    assert np.issubdtype(np.array([8, 8]).dtype, np.integer)


# -------------------------------------------------------------------------- record, then update


def test_a_step_is_recorded_with_the_scale_that_it_used() -> None:
    trace = by_scaler([False, True, False], 8.0, 2000)
    assert (trace.scales, trace.skipped) == ([8.0, 8.0, 4.0], [1])
    assert by_scaler([False] * 4, 8.0, 3).scales == [8.0, 8.0, 8.0, 16.0]


@pytest.mark.parametrize(("flags", "final"), [([False], 8.0), ([True], 4.0), ([True, True], 2.0), ([], 8.0)])
def test_what_the_last_step_does_shows_in_the_final_scale_alone(flags: list[bool], final: float) -> None:
    trace = by_scaler(flags, 8.0, 2000)
    assert trace.final == final
    assert len(trace.scales) == len(flags)


def test_a_float_is_a_value() -> None:
    init_scale = 8.0
    scale = init_scale
    recorded = [scale]
    scale *= 0.5
    assert (scale, init_scale, recorded) == (4.0, 8.0, [8.0])


# ----------------------------------------------------------------------------------- skipped


def test_only_truth_itself_knows_every_true_flag() -> None:
    flags = (True, np.bool_(True), 1)
    assert [bool(flag) for flag in flags] == [True, True, True]
    assert [flag is True for flag in flags] == [True, False, False]
    assert [isinstance(flag, bool) for flag in flags] == [True, False, False]


def test_index_finds_the_first_equal_flag() -> None:
    flags = [False, True, False, True]
    assert [flags.index(flag) for flag in flags if flag] == [1, 1]


def test_tilde_is_not_for_python_s_bools() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and later warn of ~ on a bool
        assert (~True, ~False) == (-2, -1)
    assert bool(-2)
    assert bool(-1)
    assert not ~np.bool_(True)


# ----------------------------------------------------------------------------------- back off


def test_each_overflow_backs_off_before_the_next_step() -> None:
    trace = by_scaler([True, True, True, False], 1024.0, 2000)
    assert trace == Trace([1024.0, 512.0, 256.0, 128.0], [0, 1, 2], 128.0)
    assert 0 % 2000 == 0  # an empty run is a multiple of every interval


@pytest.mark.parametrize(("patience", "lost"), [(1, 2), (2, 4), (4, 8)])
def test_patience_with_overflows_costs_steps(patience: int, lost: int) -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer, scaler = torch.optim.SGD([weight], lr=1.0), torch.amp.GradScaler("cpu")
    bad = 0
    for _ in range(20):
        weight.grad = scaler.scale(torch.tensor([65504 / LIMIT])).half().float()
        overflow = bool(weight.grad.isinf())
        bad += overflow
        if not overflow or bad % patience == 0:  # else the scaler never learns of it
            scaler.step(optimizer)
            scaler.update()
    assert bad == lost
    assert scaler.get_scale() == 16_384.0


def test_without_backing_off_every_step_is_lost() -> None:
    # A backoff factor that float32 rounds to 1 keeps the scale where it is.
    trace = drive(lambda scale: scale > LIMIT, 200, interval=2000, backoff=1 - 2.0**-40)
    assert trace.share == 1.0


# ------------------------------------------------------------------------------ growth interval


@pytest.mark.parametrize("interval", [1, 2, 3, 10, 2000])
def test_exactly_the_nth_good_step_grows(interval: int) -> None:
    for count, final in ((interval - 1, 8.0), (interval, 16.0), (interval + 1, 16.0 * (1 + (interval == 1)))):
        assert drive([False] * count, count, interval, init=8.0).final == final
    trace = drive([False] * (interval + 1), interval + 1, interval, init=8.0)
    assert trace.scales[interval - 1 :] == [8.0, 16.0]


@pytest.mark.parametrize(("interval", "percent"), [(1, 50.0), (2, 33.3), (10, 9.09), (2000, 0.04998)])
def test_the_steady_share_is_exactly_one_in_n_plus_one(interval: int, percent: float) -> None:
    trace = drive(lambda scale: scale > LIMIT, 6 * (interval + 1), interval)
    share = skip_rate.steady_share(trace)
    assert share == Fraction(1, interval + 1)
    assert float(100 * share) == pytest.approx(percent, rel=2e-3)
    assert {trace.scales[step] for step in range(2, len(trace.scales)) if step not in trace.skipped} == {16_384.0}


@pytest.mark.parametrize("interval", [1, 2, 10])
def test_the_whole_scaler_has_the_same_steady_share(interval: int) -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1e-6)
    scaler = torch.amp.GradScaler("cpu", growth_interval=interval)
    skipped = []
    for step in range(8 * (interval + 1)):
        scaled = scaler.scale(torch.tensor(2.7)).half()  # what an fp16 backward pass would hand on of a gradient of 2.7
        before = scaler.get_scale()
        weight.grad = scaled.float().reshape(1)
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() < before:
            skipped.append(step)
    assert {b - a for a, b in pairwise(skipped[2:])} == {interval + 1}


def test_2100_steps_with_130_skips_end_32_halvings_lower_at_least() -> None:
    best = max(drive(flags, 2100, 20).final for flags in ([True] * 130 + [False] * 1970, ([False] * 20 + [True]) * 100))
    assert best >= 65536  # one in 21 can be made up for
    lowest = [drive(flags, 2100, 20).final for flags in ([False] * 1970 + [True] * 130, [True] * 130 + [False] * 1970)]
    assert max(lowest) == 65536 / 2**32


@given(st.lists(st.booleans(), max_size=140), st.integers(1, 9))
def test_the_bound_holds_for_any_run(flags: list[bool], interval: int) -> None:
    trace = drive(flags, len(flags), interval)
    growths = sum(after > before for before, after in pairs(trace, list(range(len(flags)))))
    sank = math.log2(65536.0 / trace.final)
    assert len(trace.skipped) == growths + sank
    assert growths <= (len(flags) - len(trace.skipped)) / interval
    assert len(trace.skipped) <= (len(flags) + interval * sank) / (interval + 1)


def test_the_bound_holds_for_the_real_training(training: Trace) -> None:
    growths = sum(after > before for before, after in pairs(training, list(range(600))))
    assert len(training.skipped) == growths - math.log2(training.final / 65536)
    assert 0.02 < training.share < 1 / 21


@pytest.mark.parametrize("interval", [1, 20, 2000])
def test_growing_by_1024_takes_ten_intervals(interval: int) -> None:
    assert drive([False] * (10 * interval), 10 * interval, interval, init=1.0).final == 1024.0
    assert drive([False] * (10 * interval - 1), 10 * interval - 1, interval, init=1.0).final == 512.0


# ------------------------------------------------------------------------- a run of good steps


def test_an_overflow_and_a_growth_both_put_the_run_back_at_zero() -> None:
    scale, run = torch.tensor([8.0]), torch.zeros(1, dtype=torch.int32)
    seen = []
    for flag in (False, False, True, False, False, False, False):
        torch._amp_update_scale_(scale, run, torch.tensor([float(flag)]), 2.0, 0.5, 3)
        seen.append(int(run))
    assert seen == [1, 2, 0, 1, 2, 0, 1]
    assert scale.item() == 8.0


def test_a_forgotten_reset_shows() -> None:
    long, broken = [False] * 14, [False] * 3 + [True] + [False] * 3
    assert drive(long, 14, 6, init=8.0).final == 32.0
    assert drive(broken, 7, 4, init=8.0).final == 4.0
    shifted = [False, True, False, False, False, False]
    assert drive(shifted, 6, 3, init=8.0).scales == [8.0, 8.0, 4.0, 4.0, 4.0, 8.0]
    clock = [step for step in range(6) if (step + 1) % 3 == 0 and not shifted[step]]
    assert clock == [2, 5]  # and PyTorch grew after step 4 alone


# ------------------------------------------------------------------------------ try the rule


def test_growing_gradients_are_followed_at_once_and_shrinking_ones_are_not() -> None:
    growing = Setting("grow")
    trace, most = scale_play.run(growing), scale_play.limits(growing)
    assert trace.skipped == [step for step in range(60) if trace.scales[step] > most[step]]
    assert most[-1] / 2 < trace.final <= most[-1]
    assert 2.0 ** (scale_play.DRIFT / 4) == 256
    keeps_up = {}
    for interval in scale_play.INTERVALS:
        shrinking = replace(growing, gradients="shrink", interval=interval)
        trace, most = scale_play.run(shrinking), scale_play.limits(shrinking)
        growths = sum(after > before for before, after in pairwise([*trace.scales, trace.final]))
        assert growths <= (60 - len(trace.skipped)) // interval
        keeps_up[interval] = trace.final > most[-1] / 2
    assert [interval for interval, does in keeps_up.items() if does] == [1, 2, 3, 4, 5, 6, 7]


def test_the_way_down_is_paid_for_once() -> None:
    runs = [scale_play.run(Setting(interval=50, length=1000, init=init)) for init in (16, 14)]
    assert len(runs[0].skipped) - len(runs[1].skipped) == 2
    assert runs[0].skipped[:2] == [0, 1]
    assert len(runs[1].skipped) == 1000 // 51


@pytest.mark.parametrize("interval", [1, 2, 5, 10, 50])
def test_the_gentler_backoff_loses_more_steps(interval: int) -> None:
    runs = [scale_play.run(Setting(interval=interval, length=2000, backoff=factor)) for factor in (0.25, 0.5, 0.75)]
    lost = [len(run.skipped) for run in runs]
    assert lost[0] < lost[1] < lost[2]
    down = sum(step + 1 in runs[2].skipped for step in runs[2].skipped)
    assert down > 0, "several overflows in a row"


# ----------------------------------------------------------------------- no floor, no ceiling


def test_the_scale_is_no_fp16_number() -> None:
    assert torch.tensor(65536.0).half().item() == math.inf
    assert torch.tensor(2.0**-26).half().item() == 0.0
    scaled = torch.amp.GradScaler("cpu").scale(torch.tensor(0.5))
    assert (scaled.item(), scaled.dtype) == (32768.0, torch.float32)


def by_hand(out: Tensor, y: Tensor) -> Tensor:
    return (out - y.half()).pow(2).mean()


HALF_LOSSES = {
    "mean": by_hand,
    "sum": lambda out, y: (out - y.half()).pow(2).sum(),
    "abs": lambda out, y: (out - y.half()).abs().mean(),
    "norm": lambda out, y: (out - y.half()).norm(),
}


def in_float32(out: Tensor, y: Tensor) -> Tensor:
    return mse_loss(out.float(), y)


def loss_of(how: Callable[[Tensor, Tensor], Tensor], model: nn.Module) -> Tensor:
    x, y = small_net.data()
    with torch.autocast("cpu", dtype=torch.float16):
        return how(model(x), y)


@pytest.mark.parametrize("how", HALF_LOSSES.values(), ids=HALF_LOSSES)
def test_the_scale_passes_through_an_fp16_loss(how: Callable[[Tensor, Tensor], Tensor]) -> None:
    for scale, entering in ((2.0**15, 2.0**15), (2.0**16, math.inf), (2.0**17, math.inf)):
        loss = loss_of(how, small_net.network())
        assert loss.dtype == torch.float16
        loss.retain_grad()
        torch.amp.GradScaler("cpu", init_scale=scale).scale(loss).backward()
        assert loss.grad.item() == entering


@pytest.mark.parametrize(("how", "survives"), [(by_hand, False), (in_float32, True)])
def test_only_the_dtype_of_the_loss_stops_the_scale_at_32768(how: Callable[..., Tensor], survives: bool) -> None:
    # Targets so close to the outputs that no true gradient comes near an overflow.
    for scale, finite in ((2.0**15, True), (2.0**16, survives), (2.0**17, survives)):
        model, (x, _) = small_net.network(), small_net.data()
        with torch.autocast("cpu", dtype=torch.float16):
            out = model(x)
            loss = how(out, out.detach() + 2.0**-10)
        torch.amp.GradScaler("cpu", init_scale=scale).scale(loss).backward()
        assert (small_net.not_finite({name: p.grad for name, p in model.named_parameters()}) == 0) == finite


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_fp16_loss_keeps_a_training_at_32768(seed: int) -> None:
    best = {}
    for how in (by_hand, in_float32):
        torch.manual_seed(seed)
        model, (x, y) = small_net.network(), small_net.data()
        for parameter in model.parameters():
            parameter.data.mul_(1 + 0.1 * torch.randn_like(parameter))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        scaler, good = torch.amp.GradScaler("cpu", growth_interval=10), []
        for _ in range(200):
            with torch.autocast("cpu", dtype=torch.float16):
                loss = how(model(x), y)
            optimizer.zero_grad()
            used = scaler.get_scale()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            good += [used] if scaler.get_scale() >= used else []
        best[how] = max(good)
    assert best[by_hand] == 32_768
    assert best[in_float32] > 4 * 32_768


def test_tiny_gradients_need_scales_beyond_two_to_the_24() -> None:
    assert torch.tensor(1e-12 * 2.0**24).half() < torch.finfo(torch.float16).smallest_normal
    assert torch.tensor(1e-12 * 2.0**30).half() > torch.finfo(torch.float16).smallest_normal


def test_the_scale_goes_below_one_and_above_the_first() -> None:
    assert drive([True] * 20, 20, 2000).final == 2.0**-4
    assert drive([False] * 20, 20, 1).final == 2.0**36
    assert (int(0.5), 0.5 // 1, round(2.0**-20, 4)) == (0, 0.0, 0.0)


# ---------------------------------------------------------------------------------- it sinks


@pytest.fixture(scope="module")
def runs() -> dict[str, sinking.Run]:
    """The four trainings of the section."""
    return {
        "healthy": sinking.train(),
        "batch": sinking.train(sinking.one_bad_batch),
        "weight": sinking.train(sinking.nan_in_a_weight),
        "stale": sinking.train(zero_grad=False),
    }


def test_one_bad_batch_costs_one_halving(runs: dict[str, sinking.Run]) -> None:
    batch = runs["batch"]
    assert batch.scales[61] == batch.scales[60] / 2
    assert math.isnan(batch.losses[60])
    assert batch.losses[-1] < 0.01
    assert min(batch.scales[61:]) >= batch.scales[61]


def test_one_bad_batch_costs_the_run_as_well(runs: dict[str, sinking.Run]) -> None:
    healthy, batch = runs["healthy"], runs["batch"]
    assert healthy.scales[:61] == batch.scales[:61]
    growths = [[step for step in range(60, 259) if run.scales[step + 1] > run.scales[step]] for run in (healthy, batch)]
    assert (growths[0][0], growths[1][0]) == (101, 110)  # 50 good steps after the last growth; after the overflow
    assert healthy.scales[-1] == 4 * batch.scales[-1]


def test_a_nan_weight_sinks_the_scale_in_a_straight_line_to_zero(runs: dict[str, sinking.Run]) -> None:
    falling = runs["weight"].scales[60:]
    assert 0.0 in falling
    assert all(after == before / 2 for before, after in pairwise(falling) if after)
    assert 0.0 not in runs["healthy"].scales


def test_a_forgotten_zero_grad_sinks_the_scale_from_its_first_overflow_on(runs: dict[str, sinking.Run]) -> None:
    falling = runs["stale"].scales
    assert falling.index(0.0) == 166
    assert all(after == before / 2 for before, after in pairwise(falling) if after)
    for init in (4.0, 1024.0):  # no overflow, and so nothing that stays
        assert all(after >= before for before, after in pairwise(sinking.train(zero_grad=False, init=init).scales))


def test_a_nan_born_in_backward_sinks_the_scale_with_zero_grad_and_a_constant_loss() -> None:
    run = sinking.train(loss_of=sinking.with_a_root_at_zero)
    assert run.scales.index(0.0) == 166
    assert len(set(run.losses[:167])) == 1
    assert math.isfinite(run.losses[0])
    zero = torch.zeros(3, requires_grad=True)
    zero.pow(2).sum().sqrt().backward()
    assert zero.grad.isnan().all()
    for norm in (torch.Tensor.norm, torch.linalg.vector_norm):  # PyTorch's norms are defined there
        zero = torch.zeros(3, requires_grad=True)
        norm(zero).backward()
        assert (zero.grad == 0).all()


def test_detect_anomaly_names_the_root() -> None:
    model = small_net.network()
    with (
        torch.autograd.set_detect_anomaly(True),
        pytest.warns(UserWarning, match="Anomaly Detection|PowBackward0"),
        pytest.raises(RuntimeError, match="PowBackward0"),
    ):
        sinking.with_a_root_at_zero(model, *small_net.data()).backward()


@pytest.mark.parametrize("dtype", [None, torch.bfloat16])
def test_without_fp16_the_scale_climbs_for_ever(dtype: torch.dtype | None) -> None:
    model, (x, y) = small_net.network(), small_net.data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", growth_interval=1)
    scales = []
    for _ in range(120):
        with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            loss = mse_loss(model(x).float(), y)
        optimizer.zero_grad()
        scales.append(scaler.get_scale())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    assert scales == [2.0 ** min(16 + step, 127) for step in range(120)]


def test_a_nan_loss_is_never_this_step_s_scale() -> None:
    x, y = small_net.data()
    for scale in (1.0, 2.0**16, 2.0**100):  # the same loss, whatever multiplies it
        model = small_net.network()
        loss = small_net.loss_in_half(model, x, y)
        torch.amp.GradScaler("cpu", init_scale=scale).scale(loss).backward()
        assert loss.isfinite()
    model = small_net.network()
    with torch.no_grad():
        model[0].weight.mul_(1e5)  # fits float32; its outputs do not fit fp16
    assert not small_net.loss_in_half(model, x, y).isfinite()
    assert small_net.loss_in_float32(model, x, y).isfinite()


def test_the_loss_tells_the_two_apart(runs: dict[str, sinking.Run]) -> None:
    assert math.isnan(runs["weight"].losses[-1])
    assert len(set(runs["stale"].losses)) == 1
    assert math.isfinite(runs["stale"].losses[0])


def test_at_scale_zero_a_healthy_network_is_destroyed() -> None:
    model = small_net.network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=0.0)
    loss = small_net.loss_in_half(model, *small_net.data())
    assert loss.isfinite()
    scaler.scale(loss).backward()
    assert all((parameter.grad == 0).all() for parameter in model.parameters())
    scaler.step(optimizer)
    scaler.update()
    assert small_net.not_finite(dict(model.named_parameters())) == sum(p.numel() for p in model.parameters())
    assert scaler.get_scale() == 0.0


def test_what_to_try_tells_the_faults_apart() -> None:
    model, (x, y) = small_net.network(), small_net.data()
    sinking.nan_in_a_weight(60, model, x)
    assert small_net.loss_in_float32(model, x, y).isnan()  # a nan that is no matter of fp16

    model = small_net.network()
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.01), torch.amp.GradScaler("cpu")
    bad = []
    for _ in range(3):
        bad.append(sum(int((~p.grad.isfinite()).sum()) for p in model.parameters() if p.grad is not None))
        scaler.scale(small_net.loss_in_half(model, x, y)).backward()
        scaler.step(optimizer)
        scaler.update()
    assert bad == [0, 1, 1]


# ---------------------------------------------------------------------------------- defaults


def test_the_defaults_are_pytorch_s() -> None:
    parameters = inspect.signature(torch.amp.GradScaler).parameters
    expected = {"init_scale": 65536.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000}
    assert {name: parameters[name].default for name in expected} == expected


@pytest.mark.parametrize(("init", "steps", "lost"), [(1.0, 28_000, 0), (65536.0, 2, 2), (2.0**24, 10, 10)])
def test_the_way_down_is_short_and_the_way_up_is_long(init: float, steps: int, lost: int) -> None:
    trace = drive(lambda scale: scale > LIMIT, 30_000, 2000, init=init)
    there = trace.scales.index(16_384.0)
    assert (there, sum(step < there for step in trace.skipped)) == (steps, lost)


# ------------------------------------------------------------------------- one pass, no memory


def test_copying_the_list_at_each_step_copies_a_square() -> None:
    scales: list[float] = []
    copied = 0
    for _ in range(100):
        before = scales
        scales = scales + [1.0]  # noqa: RUF005
        assert scales is not before  # a new list, with all that the old one holds
        copied += len(before)
    assert copied == 100 * 99 // 2
    scales.append(1.0)
    before = scales
    before.append(1.0)
    assert scales is before


def test_recursion_ends_before_a_run_does() -> None:
    def good_run(flags: list[bool], step: int = 0) -> int:
        return 0 if step == len(flags) else 1 + good_run(flags, step + 1)

    with pytest.raises(RecursionError):
        good_run([False] * 200_000)


def test_defaults_are_made_once_and_lists_are_the_caller_s() -> None:
    def record(scale: float, seen: list[float] = []) -> list[float]:  # noqa: B006
        seen.append(scale)
        return seen

    record(8.0)
    assert record(4.0) == [8.0, 4.0]
    mine = [False, True]
    theirs = mine
    theirs.pop()
    assert mine == [False]


# ---------------------------------------------------------------------------- not the scaler


def python_scales(factor: float) -> list[float]:
    """Return a Python float's scale from 65536 on, multiplied by the factor until it stays the same."""
    scales = [65536.0]
    while scales[-1] * factor != scales[-1]:
        scales.append(scales[-1] * factor)
    return scales


def test_the_scale_saturates_at_two_to_the_127() -> None:
    trace = drive([False] * 115, 115, interval=1)
    assert trace.scales.index(2.0**127) == 111
    assert trace.final == 2.0**127
    assert python_scales(2.0).index(math.inf) == 1008


def test_the_scale_dies_at_the_166th_overflow_and_stays_dead() -> None:
    trace = drive([True] * 170, 170, interval=1)
    assert trace.scales.index(0.0) == 166
    assert drive([True] * 170 + [False] * 10, 180, interval=1).final == 0.0
    assert python_scales(0.5).index(0.0) == 1091
    assert drive([True] * 500, 500, interval=1, backoff=0.7).final == 2.0**-149  # 0.7 of it rounds back to it


@pytest.mark.parametrize("growth", [1.5, 2.0, 4.0])
def test_each_growth_factor_stops_where_its_next_product_does_not_fit(growth: float) -> None:
    trace = drive([False] * 300, 300, interval=1, growth=growth)
    assert trace.scales[-20:] == [trace.final] * 20
    assert trace.final <= torch.finfo(torch.float32).max < trace.final * growth
    assert {1.5: trace.final > 2.0**127, 2.0: trace.final == 2.0**127, 4.0: trace.final == 2.0**126}[growth]


def test_three_quarters_of_twice_the_smallest_number_is_that_number() -> None:
    trace = drive([True] * 1000, 1000, interval=1, backoff=0.75)
    assert trace.final == 2 * 2.0**-149
    assert (0.75 * torch.tensor([trace.final])).item() == trace.final
    assert all(scale > trace.final for scale in trace.scales[: trace.scales.index(trace.final)])
    assert 0.0 in drive([True] * 200, 200, interval=1, backoff=0.25).scales


@given(st.lists(st.booleans(), max_size=100), st.integers(1, 9))
def test_inside_the_range_pytorch_s_float32_makes_no_difference(flags: list[bool], interval: int) -> None:
    scale, run, scales = 65536.0, 0, []
    for flag in flags:
        scales.append(scale)
        scale, run = (scale * 0.5, 0) if flag else (scale, run + 1)
        if run == interval:
            scale, run = scale * 2.0, 0
    trace = drive(flags, len(flags), interval)
    assert (trace.scales, trace.final) == (scales, scale)


def test_where_float32_rounds_or_refuses() -> None:
    assert drive([True], 1, 1, init=8.0, backoff=0.7).final == 5.599999904632568
    assert drive([], 0, 1, init=0.1).final == 0.10000000149011612
    assert drive([], 0, 1, init=1e-46).final == 0.0
    assert drive([False], 1, 1, init=8.0, growth=1e300).final == 8.0
    with pytest.raises(RuntimeError, match="overflow"):
        drive([], 0, 1, init=1e39)


@given(st.floats(2.0**-100, 2.0**100), st.floats(0.01, 0.99))
def test_the_factor_is_no_float32(scale: float, factor: float) -> None:
    start = torch.tensor([scale]).item()
    final = drive([True], 1, 1, init=start, backoff=factor).final
    assert final == torch.tensor(start * factor, dtype=torch.float64).float().item()
    assert drive([True], 1, 1, init=9.0, backoff=0.7).final != (9 * torch.tensor(0.7)).item()
    both = torch.tensor([9 * 0.7, 9 * torch.tensor(0.7).item()]).view(torch.int32)
    assert 1 <= (both[0] - both[1]).item() <= 2


@given(st.floats(2.0**-100, 2.0**100), st.floats(0.01, 0.99))
def test_a_rounding_costs_one_part_in_16_million_at_most(scale: float, factor: float) -> None:
    start = torch.tensor([scale]).item()
    final = drive([True], 1, 1, init=start, backoff=factor).final
    assert abs(final / (start * factor) - 1) <= 2.0**-24


def test_growing_by_one_and_a_half_rounds_at_the_16th_update() -> None:
    trace = drive([False] * 16, 16, 1, growth=1.5)
    exact = [65536 * Fraction(3, 2) ** step for step in range(17)]
    assert [Fraction(scale) for scale in trace.scales] == exact[:16]
    assert Fraction(trace.final) != exact[16]


def test_two_overflows_before_one_update_back_off_once() -> None:
    weights = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    optimizers = [torch.optim.SGD([weight], lr=1.0) for weight in weights]
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(torch.ones(()))
    for weight, optimizer in zip(weights, optimizers, strict=True):
        weight.grad = torch.tensor([math.inf])
        scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 4.0


# -------------------------------------------------------------------------------- go further


@pytest.mark.parametrize(
    ("growth", "backoff"), [(2.0, 0.5), (2.0, 0.25), (4.0, 0.5), (1.5, 0.5), (2.0, 0.75), (1.1, 0.9), (3.0, 0.1)]
)
@pytest.mark.parametrize("interval", [1, 10])
@pytest.mark.parametrize("limit", [LIMIT, 700.0])
def test_the_share_for_other_factors(growth: float, backoff: float, interval: int, limit: float) -> None:
    trace = drive(lambda scale: scale > limit, 20_000, interval, init=limit, growth=growth, backoff=backoff)
    expected = 1 / (1 + interval * math.log(1 / backoff) / math.log(growth))
    assert trace.share == pytest.approx(expected, rel=0.02)


def test_a_hundred_skips_in_fifty_thousand_steps_need_76_halvings() -> None:
    # The run that does it with as few halvings as can be: it grows whenever the interval lets it.
    flags = ([False] * 2000 + [True]) * 24 + [True] * 76
    flags += [False] * (50_000 - len(flags))
    trace = drive(flags, 50_000, 2000)
    assert len(trace.skipped) == 100
    assert math.log2(65536.0 / trace.final) == 76
    assert math.ceil((100 * 2001 - 50_000) / 2000) == 76


def test_a_checkpoint_without_the_run_grows_later() -> None:
    straight = drive([False] * 2500, 2500, 2000)
    assert straight.scales.index(131072.0) == 2000
    assert straight.final == 131072.0
    resumed = drive([False] * 1000, 1000, 2000, init=straight.scales[1500])
    assert resumed.final == 65536.0
    assert drive([False] * 2500, 2500, 2000).scales.index(131072.0) + 1500 == 3500


# ------------------------------------------------------------- what is shown, what is claimed


def test_the_prose_shows_what_the_cells_computed(page: Page) -> None:
    assert page_code.wanted(page) == set(page.shown)
    assert all(page.shown.values())


SHOWN = {
    "limit": LIMIT,
    "way-down": 2,
    "alarm-growths": (2100 - 130) // 20,
    "alarm-allowed": 2100 // 21,
    "alarm-sank": 32,
    "dead-at": 166,
    "root-at": 166,
    "stale-loss": 10.41,
    "root-loss": 10.41,
    "stale-small-falls": 0,
    "batch-before": 32768,
    "batch-after": 16384,
    "batch-cost": 4,
    "calibration": 10,
    "stuck-after": 111,
    "stuck-steps": 111 * 2000,
    "zero-after": 166,
    "python-inf": 1008,
    "python-zero": 1091,
    "rounds-at": 16,
    "more-share": 0.002,
    "more-sank": 76,
    "more-grew": 2000,
    "more-later": 3500,
    "more-final": 65536,
    "more-straight": 131072,
    "lost-0": 200,
    "lost-1": 2,
    "lost-2": 4,
    "lost-4": 8,
    "copied": 200_000 * 199_999 // 2,
    "run-long": 32,
    "run-broken": 4,
    "total-broken": 8,
    "stays-full-long": 8 * 2**9,
    "once-long": 16,
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_shown_number_is_what_its_claim_s_test_computes(page: Page, name: str) -> None:
    assert page.number(name) == pytest.approx(SHOWN[name], rel=1e-9)


def test_the_shown_run_of_the_training_is_the_tests_training(page: Page, training: Trace) -> None:
    assert page.number("real-skips") == len(training.skipped)
    assert page.number("real-share") == pytest.approx(training.share, abs=5e-4)
    assert 2 ** page.number("real-doublings") == training.final / 65536
    assert page.number("real-growths") == len(training.skipped) + math.log2(training.final / 65536)


CLAIMED = {
    "steady-skip-rate": ["50 %", "33.3 %", "9.09 %", "0.04998 %"],
    "alarm-by-example": ["20", "2,100", "130", "32", "100"],
    "fp16-loss-stops-at-32768": [f"{2**15:,}", f"{2**17:,}"],
    "one-bad-batch-costs-the-run": ["260", "50", "4"],
    "stale-gradients-sink-after-an-overflow": ["166", "65536", "4", "1024", "260"],
    "nan-born-in-backward": ["166"],
    "start-high": ["16,384", "2", "10", "28,000"],
    "saturation": ["111", "1008"],
    "death-at-zero": ["166", "65536", "1091"],
    "first-rounding": ["1.5", "65536", "15", "16th"],
    "a-hundred-skips": ["100", "50,000", "2000", "76"],
    "run-belongs-in-the-checkpoint": ["1,500", "2,000", "3,500"],
    "float32-rounds": ["5.599999904632568", "0.1", "1e-46", "1e300", "1e39"],
}


@pytest.mark.parametrize("claim", CLAIMED)
def test_a_claim_says_the_numbers_that_its_test_tries(claim: str) -> None:
    words = {word.strip(".,;:()") for word in CLAIMS[claim].replace(" %", "%").split()}
    assert {number.replace(" %", "%") for number in CLAIMED[claim]} <= words


# ---------------------------------------------------------------------------------- figures


def test_drive_takes_flags_or_a_rule() -> None:
    assert drive([True, False], 2, 1, init=4.0) == drive(lambda scale: scale > 2, 2, 1, init=4.0)
    assert drive([True, False], 2, 1, init=4.0) == Trace([4.0, 2.0], [0], 4.0)


def test_a_short_run_has_no_steady_state() -> None:
    with pytest.raises(ValueError, match="too short"):
        skip_rate.steady_share(Trace([1.0] * 9, [0, 1, 4], 1.0))


@pytest.mark.parametrize("narrow", [False, True])
def test_scale_trace_draws_the_stairs_and_marks_the_skips(narrow: bool) -> None:
    (ax,) = scale_trace.draw([8.0, 8.0, 4.0, 8.0], [1], narrow=narrow).axes
    stairs, marks = ax.get_lines()
    assert list(stairs.get_ydata()) == [3, 3, 2, 3]
    assert (list(marks.get_xdata()), list(marks.get_ydata())) == ([1], [3])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["2²", "2³"]


@pytest.mark.parametrize("narrow", [False, True])
def test_sawtooth_draws_a_panel_for_each_interval_with_its_limit(narrow: bool) -> None:
    traces = {n: drive(lambda scale: scale > LIMIT, 30, n) for n in (1, 2, 10)}
    figure = draw_sawtooth(traces, LIMIT, narrow=narrow)
    assert len(figure.axes) == 3
    for ax, trace in zip(figure.axes, traces.values(), strict=True):
        stairs, marks, limit = ax.get_lines()
        assert list(stairs.get_ydata()) == [math.log2(scale) for scale in trace.scales]
        assert list(marks.get_xdata()) == trace.skipped
        assert set(limit.get_ydata()) == {math.log2(LIMIT)}
        assert f"{len(trace.skipped)} of 30" in ax.get_title(loc="left")


@pytest.mark.parametrize("narrow", [False, True])
def test_skip_rate_labels_what_was_measured(narrow: bool) -> None:
    shares = {1: Fraction(1, 2), 2000: Fraction(1, 2001)}
    (ax,) = skip_rate.draw(shares, narrow=narrow).axes
    line, points = ax.get_lines()
    assert list(points.get_ydata()) == [50.0, pytest.approx(100 / 2001)]
    assert all(y == pytest.approx(100 / (x + 1)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True))
    assert [text.get_text() for text in ax.texts] == ["N = 1: 1 in 2", "N = 2,000: 1 in 2,001"]


@pytest.mark.parametrize("narrow", [False, True])
def test_sinking_ends_a_dead_line_with_a_mark_and_shows_the_living_again(narrow: bool) -> None:
    runs = {"well": sinking.Run([4.0, 8.0, 8.0], [1.0] * 3), "dead": sinking.Run([4.0, 2.0, 0.0], [1.0] * 3)}
    every, living = sinking.draw(runs, narrow=narrow).axes
    drawn = [(line.get_label(), list(line.get_ydata()), line.get_marker()) for line in every.get_lines()]
    assert drawn[0] == ("well", [2, 3, 3], "None")
    assert drawn[1] == ("dead", [2, 1], "None")
    assert drawn[2][1:] == ([1], "X")
    assert [list(line.get_ydata()) for line in living.get_lines()] == [[2, 3, 3]]
    assert [label.get_text() for label in living.get_yticklabels()] == ["2²", "2³"]


@pytest.mark.parametrize("narrow", [False, True])
def test_scale_limits_draws_both_ends(narrow: bool) -> None:
    up, down = ([1.0, 2.0, 2.0], [1.0, 2.0, 4.0]), ([1.0, 0.5, 0.0], [1.0, 0.5, 0.25])
    axes = scale_limits.draw(up, down, narrow=narrow).axes
    assert [[list(line.get_ydata()) for line in ax.get_lines()] for ax in axes] == [
        [[0, 1, 2], [0, 1, 1]],
        [[0, -1, -2], [0, -1], [-1]],
    ]
