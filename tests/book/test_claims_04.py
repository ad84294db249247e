"""The claims of chapter 4, "One scaler step", each put to PyTorch itself. book/claims/04.yml lists them."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import page_code
import pytest
import torch
from figures import judging_order, overflow_map, policies, sawtooth, small_net
from hypothesis import given, settings
from hypothesis import strategies as st
from page_code import Page
from torch import Tensor

INF, NAN = math.inf, math.nan
HALF_MAX = 65504.0


@pytest.fixture(scope="module")
def page() -> Page:
    """Return what the chapter's own cells computed."""
    return page_code.run("04_one_scaler_step")


def scaler_step(*grads: Tensor, scale: float = 1024.0, **options: Any) -> tuple[list[Tensor], float, Any]:
    """Let PyTorch's scaler take one SGD step of lr 1 from zero weights; return weights, new scale, what step() gave."""
    weights = [torch.nn.Parameter(torch.zeros_like(grad)) for grad in grads]
    for weight, grad in zip(weights, grads, strict=True):
        weight.grad = grad.clone()
    optimizer = torch.optim.SGD(weights, lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=scale, **{"growth_interval": 1, **options})
    scaler.scale(torch.ones(()))
    returned = scaler.step(optimizer)
    scaler.update()
    return weights, scaler.get_scale(), returned


def skips(*grads: Tensor, scale: float = 1024.0) -> bool:
    """Return whether PyTorch's scaler skips a step with these gradients."""
    return scaler_step(*grads, scale=scale)[1] < scale


def half(value: float) -> float:
    """Return a number as float32, rounded to fp16."""
    return torch.tensor(value).half().item()


def flat(gradients: dict[str, Tensor]) -> Tensor:
    return torch.cat([gradient.flatten() for gradient in gradients.values()])


# ------------------------------------------------------------------ before the first section


def test_the_prose_shows_what_the_cells_computed(page: Page) -> None:
    assert page_code.wanted(page) == set(page.shown)
    assert all(isinstance(value, str) and value for value in page.shown.values())


def test_the_numbers_that_are_typed_into_the_prose(page: Page) -> None:
    sizes = [parameter.numel() for parameter in small_net.network().parameters()]
    for typed, meant in {
        "the 33 of the last layer": sum(sizes[-2:]),
        "most of the 3,489": sum(sizes),
        "the 2,048 that are inf or nan": int((~judging_order.every_half().isfinite()).sum()),
        "has 65,536 bit patterns": len(judging_order.every_half()),
        "the largest fp16 number is 65,504": int(HALF_MAX),
        "PyTorch waits for 2,000 of them": torch.amp.GradScaler("cpu").get_growth_interval(),
        "PyTorch's default scale, 65536": int(torch.amp.GradScaler("cpu").get_scale()),
        "above its `eps` of 1e-8": torch.optim.Adam([torch.zeros(1)]).defaults["eps"],
        "The gradient of the layer's *output* is 16": 16,
    }.items():
        assert typed in page.text, typed
        assert f"{meant:,}" in typed.replace("1e-8", "1e-08") or f"{meant}" in typed.replace("1e-8", "1e-08")
    assert "loss   inf, 2,994 bad" in page.printed


def test_the_network_on_the_page_is_the_figures_network(page: Page) -> None:
    shown, used = page["network"](), small_net.network()
    assert str(shown) == str(used)
    assert all(torch.equal(a, b) for a, b in zip(shown.parameters(), used.parameters(), strict=True))
    x, y = small_net.data()
    assert torch.equal(page["x"], x)
    assert torch.equal(page["y"], y)
    assert page["loss_in_half"](shown).item() == small_net.loss_in_half(used, x, y).item()


def test_the_order_of_calls_clips_the_true_gradient() -> None:
    model, (x, y) = small_net.network(), small_net.data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler, norms = torch.amp.GradScaler("cpu"), []
    for _ in range(4):
        optimizer.zero_grad()
        small_net.loss_in_float32(model, x, y).backward()
        true = flat({name: p.grad for name, p in model.named_parameters()}).norm().item()
        optimizer.zero_grad()
        scaler.scale(small_net.loss_in_half(model, x, y)).backward()
        scaler.unscale_(optimizer)
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0).item())
        if math.isfinite(norms[-1]):
            assert norms[-1] == pytest.approx(true, rel=0.01)
            left = flat({name: p.grad for name, p in model.named_parameters()}).norm().item()
            assert left == pytest.approx(2.0, rel=1e-5)
        scaler.step(optimizer)
        scaler.update()
    assert [math.isfinite(norm) for norm in norms] == [False, False, True, True]
    assert scaler.get_scale() == 65536 / 4


def test_stored_gradients_are_fp16_numbers() -> None:
    gradients = small_net.gradients(2.0**14)
    assert {gradient.dtype for gradient in gradients.values()} == {torch.float32}
    for name, gradient in gradients.items():
        assert torch.equal(gradient, gradient.half().float()), name


def test_what_becomes_inf_at_the_default_scale() -> None:
    assert torch.amp.GradScaler("cpu").get_scale() == 65536.0
    assert half(65520 / 65536 * 65536) == INF
    assert half(65519 / 65536 * 65536) == HALF_MAX


def test_one_element_overflows_in_the_first_step() -> None:
    gradients, truth = small_net.gradients(65536.0), small_net.true_gradients()
    assert small_net.not_finite(gradients) == 1
    (where,) = [name for name, gradient in gradients.items() if not gradient.isfinite().all()]
    largest = max(truth, key=lambda name: float(truth[name].abs().max()))
    assert where == largest == "8.bias"
    assert truth[where].abs().max() * 65536 > 65520
    assert all(truth[name].abs().max() * 65536 < HALF_MAX for name in truth if name != where)


def test_the_recalled_numbers_are_right(page: Page) -> None:
    top, power = page.names["top"], page.names["highest"]
    assert half(top * 2.0**power) < INF == half(top * 2.0 ** (power + 1))
    below, above, gap = (int(page.number(f"r4-{name}")) for name in ("below", "above", "gap"))
    assert page.number("r4-tie") == (below + above) / 2
    assert above - below == gap
    neighbor = torch.nextafter(torch.tensor(float(below)).half(), torch.tensor(INF).half()).item()
    assert neighbor == above
    stored = page.number("r4-stored")
    assert stored == half((below + above) / 2)
    assert stored / gap % 2 == 0


# ------------------------------------------------------------------------------------ unscale


def test_the_loss_s_factor_is_the_gradients_factor() -> None:
    model, (x, y) = small_net.network(), small_net.data()
    small_net.loss_in_float32(model, x, y).backward()
    plain = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    (small_net.loss_in_float32(model, x, y) * 1024).backward()
    assert all(torch.equal(p.grad, 1024 * before) for p, before in zip(model.parameters(), plain, strict=True))


def test_the_traveling_gradient_survives_scaled_and_dies_in_fp16_unscaled() -> None:
    assert half(1e-8) == 0.0
    unscaled = torch.tensor(half(1e-8 * 2**14)) / 2**14
    assert unscaled.item() == pytest.approx(9.997166e-9, rel=1e-6)
    assert abs(unscaled.item() / 1e-8 - 1) < 0.0003
    assert half(unscaled.item()) == 0.0


def test_only_dividing_by_the_scale_unscales() -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    (weight * 2 * 1024).backward()  # the true gradient is 2
    g = weight.grad
    assert g.item() == 2048.0
    assert (g / 1024).item() == 2.0
    assert [w.item() for w in (g * 1024, g / 2048, g / 1024 / 1024)] == [2097152.0, 1.0, 2 / 1024]
    assert [(torch.tensor([v]) // 4.0).item() for v in (1.0, -3.0)] == [0.0, -1.0]
    assert torch.tensor([1e-5]).round(decimals=4).item() == 0.0


@pytest.mark.parametrize("scale", [3.0, 10.0, 1000.0, 1024.0, 65536.0])
def test_pytorch_multiplies_by_the_float32_reciprocal(scale: float) -> None:
    g = torch.randn(100_000, generator=torch.Generator().manual_seed(0))
    (weight,), _, _ = scaler_step(g, scale=scale)
    assert torch.equal(weight.grad, g * torch.tensor(1 / scale))
    apart = (weight.grad.view(torch.int32) - (g / scale).view(torch.int32)).abs()
    assert apart.max() == (0 if math.frexp(scale)[0] == 0.5 else 1)


def units_apart(values: Tensor, scale: float) -> int:
    both = (values / scale).view(torch.int32), (values * torch.tensor(1 / scale)).view(torch.int32)
    return int((both[0] - both[1]).abs().max())


@given(st.floats(1.0, 2.0**126, width=32))
@settings(max_examples=50)
def test_a_reciprocal_is_one_unit_away_at_most_up_to_a_limit(scale: float) -> None:
    draw = torch.Generator().manual_seed(0)
    values = torch.randn(1000, generator=draw) * 2.0 ** torch.randint(-140, 120, (1000,), generator=draw)
    assert units_apart(values, scale) <= 1
    power = 2.0 ** math.floor(math.log2(scale))
    assert units_apart(values, power) == 0  # with subnormal results among them
    assert units_apart(torch.randn(1000, generator=draw) * 2.0**100, 3.3e38) > 1


def test_a_reciprocal_in_fp16_is_too_coarse() -> None:
    assert 1 / abs(half(1 / 3) * 3 - 1) == pytest.approx(4096)
    assert half(2.0**-60) == 0.0


def step_length(kind: Any, factor: float, **options: Any) -> float:
    weight = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))
    weight.grad = torch.tensor([0.001 * factor], dtype=torch.float64)
    kind([weight], lr=0.1, **options).step()
    return 1 - weight.item()


def test_sgd_minds_a_forgotten_unscale_and_adam_hardly() -> None:
    sgd, adam = torch.optim.SGD, torch.optim.Adam
    assert step_length(sgd, 1024) == pytest.approx(1024 * step_length(sgd, 1))
    assert step_length(adam, 1024) == pytest.approx(step_length(adam, 1), rel=1e-4)
    assert step_length(adam, 1e-5) == pytest.approx(0.05, rel=1e-3)  # a gradient of 1e-8, as large as eps
    assert step_length(adam, 1024e-5) == pytest.approx(0.0999, rel=1e-3)
    decayed = [step_length(sgd, factor, weight_decay=0.1) for factor in (1, 1024)]
    assert 2 < decayed[1] / decayed[0] < 20  # neither 1 nor 1024: the proportion to the decay has changed
    weight = torch.nn.Parameter(torch.ones(1))
    weight.grad = torch.tensor([1.024])
    torch.nn.utils.clip_grad_norm_([weight], max_norm=0.1)
    assert weight.grad.item() / 1024 < 0.001 / 10


def test_fp16_and_back_loses() -> None:
    assert [half(v) for v in (1e-8, 70000.0)] == [0.0, INF]
    assert half(1 / 3) == pytest.approx(0.33325195, rel=1e-7)
    assert torch.tensor(6e38, dtype=torch.float64).isfinite()
    assert torch.tensor(6e38).item() == INF


@pytest.mark.parametrize(
    "grad", [torch.zeros(2).double(), torch.zeros(2).half(), torch.zeros(1, 2), torch.zeros(3)], ids=str
)
def test_a_parameter_takes_only_gradients_of_its_dtype_and_shape(grad: Tensor) -> None:
    weight = torch.nn.Parameter(torch.zeros(2))
    with pytest.raises(RuntimeError, match="assign a gradient"):
        weight.grad = grad
    if grad.shape == weight.shape:
        weight.grad_dtype = grad.dtype
        weight.grad = grad
        assert weight.grad.dtype == grad.dtype


def test_the_scaler_refuses_fp16_gradients() -> None:
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler_step(torch.ones(1).half())


def test_results_match_gradients_by_place_and_shape() -> None:
    grads = [torch.tensor([4.0]), torch.tensor([]), torch.tensor([8.0, 12.0])]
    with pytest.raises(RuntimeError, match="equal size"):
        torch.stack(grads)
    lazy = (g / 4 for g in grads)
    assert [len(list(lazy)), len(list(lazy))] == [3, 0]
    assert type(grads[0].tolist()[0]) is float


def test_a_number_keeps_dtype_and_shape_and_a_tensor_may_not() -> None:
    for g in (torch.tensor(8.0), torch.tensor([8.0]), torch.tensor([[8.0]]).double()):
        for scale in (4.0, 4):
            assert ((g / scale).dtype, (g / scale).shape) == (g.dtype, g.shape)
    g = torch.tensor(8.0)
    assert (g / torch.tensor(4.0, dtype=torch.float64)).dtype == torch.float64
    assert (g / torch.tensor([4.0])).shape == (1,)


# -------------------------------------------------------------------------------------- judge


def test_only_isfinite_tells_bad_from_good() -> None:
    values = torch.tensor([INF, -INF, NAN, 1.0, 0.0, 1e6])
    bad = [True, True, True, False, False, False]
    assert (~values.isfinite()).tolist() == bad
    others = (values.isinf(), values.isnan(), values == INF, values != values, values > 65504)
    assert all(verdicts.tolist() != bad for verdicts in others)
    assert torch.tensor([1.0, -INF]).max() == 1.0


def test_nan_comes_from_inf_and_neither_is_unscaled_away() -> None:
    big = torch.tensor([60000.0]).half() * 2
    assert big.item() == INF
    assert (big - big).isnan()
    assert (big * 0).isnan()
    assert (big.float() / 1024).item() == INF
    assert ((big - big).float() / 1024).isnan()


def test_an_overflow_spreads_from_the_last_layers_and_turns_into_nan() -> None:
    higher = small_net.gradients(2.0**18)
    assert not small_net.gradients(2.0**14)["8.bias"].isinf()
    assert 1 < small_net.not_finite(higher) < 100
    assert higher["0.weight"].isfinite().all()
    highest = small_net.gradients(2.0**20)
    infs, nans = (sum(int(kind(g).sum()) for g in highest.values()) for kind in (torch.isinf, torch.isnan))
    assert nans > 10 * infs > 0
    assert any(g.isnan().any() and not g.isinf().any() for g in highest.values())
    assert not highest["0.weight"].isfinite().all()


# ------------------------------------------------------------------------------ every element


def test_one_bad_element_spoils_the_network_within_two_steps() -> None:
    model, (x, y) = small_net.network(), small_net.data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    counts, losses = [], []
    for _ in range(3):
        loss = small_net.loss_in_half(model, x, y)
        optimizer.zero_grad()
        (loss * 65536).backward()
        for parameter in model.parameters():
            parameter.grad /= 65536
        optimizer.step()
        counts.append(small_net.not_finite(dict(model.named_parameters())))
        losses.append(loss.item())
    total = sum(parameter.numel() for parameter in model.parameters())
    assert counts[0] == 1
    assert total / 2 < counts[1] < total
    assert counts[2] == total
    assert losses[1] == INF
    assert math.isnan(losses[2])


def test_shortcuts_overlook_an_overflow_that_pytorch_finds() -> None:
    good, bad = torch.tensor([1.0, 2.0]), torch.tensor([1.0, INF])
    assert bad.isfinite().any()
    assert bad[0].isfinite()
    assert good.isfinite().all()
    assert all(skips(*grads) for grads in ([bad], [good, bad], [bad, good]))


def test_nothing_is_clean_and_has_no_largest_element() -> None:
    empty = torch.tensor([])
    assert empty.isfinite().all()
    assert all([])
    with pytest.raises(RuntimeError, match="numel"):
        empty.max()
    assert not skips(empty)


# -------------------------------------------------------------------------- large, not infinite


@pytest.mark.parametrize(
    ("grad", "alarm"),
    [
        (torch.tensor([7e4]), lambda g: g.max() > HALF_MAX),
        (torch.tensor([3e38, 3e38]), lambda g: g.sum() == INF),
        (torch.tensor([1e30, 1e30]), lambda g: g.norm() == INF),
        (torch.tensor([7e4]), lambda g: g.half() == INF),
        (torch.tensor([1e300], dtype=torch.float64), lambda g: g.float() == INF),
    ],
    ids=["threshold", "sum", "norm", "fp16", "float32"],
)
def test_alarms_on_finite_gradients_are_false(grad: Tensor, alarm: Any) -> None:
    assert alarm(grad)
    assert grad.isfinite().all()
    assert not skips(grad, scale=1.0)


@given(st.lists(st.floats(width=32), max_size=5), st.sampled_from([INF, -INF, NAN]))
def test_a_gradient_that_is_not_finite_has_such_a_norm(values: list[float], bad: float) -> None:
    assert not torch.tensor([*values, bad]).norm().isfinite()
    assert torch.tensor([INF, NAN]).norm().isnan()


def test_zero_is_no_overflow() -> None:
    assert scaler_step(torch.zeros(3), scale=4.0)[1] == 8.0


# -------------------------------------------------------------------------------------- order


def differing(values: Tensor, scale: float) -> int:
    return int((values.isfinite() != (values / scale).isfinite()).sum())


@pytest.mark.parametrize("scale", [1.0, 1.0000001, 1.5, 3.0, 1024.0, HALF_MAX, 65536.0, 2.0**127, 3.4e38, -1.0, -3.0])
def test_the_order_never_matters_from_scale_one_on(scale: float) -> None:
    assert differing(judging_order.every_half(), scale) == 0
    wide = torch.arange(0, 2**32, 4093).to(torch.int32).view(torch.float32)
    assert differing(wide, scale) == 0
    assert torch.equal(wide.isfinite(), (wide * torch.tensor(1 / scale)).isfinite())


@given(st.floats(width=32), st.floats(1, 2.0**127))
def test_the_order_never_matters_for_any_float32_and_scale(value: float, scale: float) -> None:
    assert differing(torch.tensor([value]), scale) == 0
    assert differing(torch.tensor([value], dtype=torch.float64), scale) == 0


def test_below_one_each_halving_adds_a_power_of_two_of_patterns() -> None:
    patterns = judging_order.every_half()
    assert [differing(patterns, 2.0**-k) for k in range(21)] == [2048 * k for k in range(21)]
    for first, bits, dtype in ((0x7F000000, torch.int32, torch.float32), (0x7FE0 << 48, torch.int64, torch.float64)):
        # The numbers of the highest power of two, from its smallest on: they and no smaller ones overflow at 1/2.
        smallest = torch.tensor([first], dtype=bits).view(dtype)
        below = torch.nextafter(smallest, torch.zeros_like(smallest))
        assert differing(torch.cat([smallest, torch.full_like(smallest, torch.finfo(dtype).max)]), 0.5) == 2
        assert differing(below, 0.5) == 0


def test_pytorch_judges_before_it_unscales() -> None:
    (weight,), scale, _ = scaler_step(torch.tensor([3e38]), scale=0.5)
    assert weight.grad.item() == INF
    assert weight.item() == -INF
    assert scale == 1.0


def test_it_takes_seventeen_overflows_to_leave_the_safe_side() -> None:
    trace = sawtooth.drive([True] * 17, 17, interval=2000)
    assert min(trace.scales) == 1.0
    assert trace.final == 0.5


def test_a_wider_dtype_hides_what_the_stored_tensor_holds() -> None:
    wide = torch.tensor([3e38]).double() / 0.5
    assert wide.isfinite()
    assert wide.float().isinf()


# --------------------------------------------------------------------------------------- skip


@pytest.mark.parametrize(
    ("kind", "options", "moves"),
    [
        (torch.optim.SGD, {}, False),
        (torch.optim.SGD, {"momentum": 0.9}, True),
        (torch.optim.SGD, {"weight_decay": 0.01}, True),
        (torch.optim.Adam, {}, True),
    ],
    ids=["plain", "momentum", "decay", "adam"],
)
def test_a_step_with_zero_gradients_is_a_step_and_a_skipped_one_is_none(kind: Any, options: Any, moves: bool) -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = kind([weight], lr=0.1, **options)
    weight.grad = torch.tensor([0.5])
    optimizer.step()
    before = weight.item()
    weight.grad = torch.zeros(1)
    optimizer.step()
    assert (weight.item() != before) == moves
    counted = [int(state["step"]) for state in optimizer.state.values() if "step" in state]
    assert counted == ([2] if kind is torch.optim.Adam else [])

    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(torch.ones(()))
    before = weight.item()
    weight.grad = torch.tensor([INF])
    scaler.step(optimizer)
    assert weight.item() == before
    assert [int(state["step"]) for state in optimizer.state.values() if "step" in state] == counted


def test_mended_gradients_point_elsewhere(page: Page) -> None:
    assert torch.nan_to_num(torch.tensor(INF)).item() == torch.finfo(torch.float32).max
    truth = flat(small_net.true_gradients())
    cosines = []
    for exponent in (14, 16, 18, 20):
        scaled = flat(small_net.gradients(2.0**exponent)) / 2.0**exponent
        zeros = torch.nan_to_num(scaled, 0, 0, 0)
        cosines.append(torch.cosine_similarity(zeros, truth, dim=0).item())
    assert cosines[0] > 0.999
    without_the_largest = math.sqrt(1 - (truth.abs().max() / truth.norm()).item() ** 2)
    assert cosines[1] == pytest.approx(without_the_largest, abs=0.002)
    assert page.number("skip-cosine") == pytest.approx(cosines[1], abs=0.006)
    assert cosines[1] == pytest.approx(0.57, abs=0.01)  # another seed gives another: 6 gives 0.65
    assert cosines == sorted(cosines, reverse=True)
    assert cosines[3] < 0.1


@pytest.mark.parametrize("exponent", [16, 18, 20])
def test_skipping_trains_only_if_the_scale_backs_off(exponent: int) -> None:
    kept = policies.train("skip", back_off=False, scale=2.0**exponent)
    assert kept.overflows == len(kept.losses) == 100
    assert kept.losses[-1] == kept.losses[0]
    assert policies.train("skip", back_off=True, scale=2.0**exponent).losses[-1] < 0.01 * kept.losses[0]


@pytest.mark.parametrize("policy", ["zeros", "clip", "drop"])
def test_mending_trains_where_something_is_left_to_mend(policy: str, page: Page) -> None:
    low, high = (policies.train(policy, back_off=False, scale=2.0**exponent) for exponent in (16, 20))
    assert low.overflows > 30
    assert low.losses[-1] < policies.train_in_float32().losses[-1]
    assert high.overflows == 100
    assert high.losses[-1] > 0.99 * high.losses[0]
    assert small_net.not_finite(small_net.gradients(2.0**16)) == 1
    assert all(gradient.isnan().any() for gradient in small_net.gradients(2.0**20).values())
    if policy == "zeros":
        assert (page.number("keep-sixteen"), page.number("keep-tensors")) == (low.overflows, 10)
        assert page.number("keep-zeros") == pytest.approx(low.losses[-1], abs=6e-4)


@pytest.mark.parametrize("policy", ["zeros", "clip", "drop"])
def test_mending_does_no_worse_than_skipping_where_the_scale_backs_off(policy: str, page: Page) -> None:
    mended, skipped = (policies.train(p, back_off=True, scale=2.0**20) for p in (policy, "skip"))
    assert mended.losses[-1] <= skipped.losses[-1]
    assert mended.overflows == page.number("keep-first")


def test_step_returns_none_in_either_case() -> None:
    assert scaler_step(torch.tensor([1024.0]))[2] is None
    assert scaler_step(torch.tensor([INF]))[2] is None


@given(st.lists(st.sampled_from([1.0, INF, NAN]), min_size=1, max_size=6), st.sampled_from([1, 2, 2000]))
def test_the_scale_is_smaller_exactly_after_a_skip(values: list[float], interval: int) -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", growth_interval=interval)
    scaler.scale(torch.ones(()))
    for value in values:
        before, place = scaler.get_scale(), weight.item()
        weight.grad = torch.tensor([value * before])
        scaler.step(optimizer)
        scaler.update()
        assert (scaler.get_scale() < before) == (weight.item() == place) == (not math.isfinite(value))


def test_an_empty_list_is_falsy_and_is_not_none() -> None:
    empty: list[Tensor] = []
    assert not empty
    assert (empty or None) is None
    assert empty is not None


# ---------------------------------------------------------------------------- grow and back off


def test_the_new_scale_is_one_multiplication_by_the_factor_given() -> None:
    good, bad = torch.tensor([1.0, 0.0]), torch.tensor([INF, NAN])
    assert scaler_step(good, bad, scale=4.0)[1] == scaler_step(bad, bad, bad, scale=4.0)[1] == 2.0
    assert scaler_step(good, scale=4.0, growth_factor=3.0)[1] == 12.0
    assert scaler_step(bad, scale=4.0, growth_factor=3.0)[1] == 2.0
    assert scaler_step(bad, scale=4.0, backoff_factor=0.75)[1] == 3.0
    assert scaler_step(bad, scale=1.0)[1] == 0.5
    assert scaler_step(good, scale=65536.0)[1] == 131072.0


def test_factors_reach_any_scale_in_a_few_steps() -> None:
    scales = list(itertools.takewhile(lambda s: s < 2**24, (2.0**k for k in itertools.count())))
    assert len(scales) == 24
    assert (65536**2, 1**2) == (4294967296, 1)


def test_a_tensor_of_shape_one_is_no_number() -> None:
    assert (torch.tensor(1.0) * torch.tensor([4.0])).shape == (1,)
    assert (torch.tensor(1.0) / torch.tensor([4.0])).shape == (1,)


def test_growing_at_every_clean_step_skips_about_half_of_a_real_training() -> None:
    model, (x, y) = small_net.network(), small_net.data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler, skipped = torch.amp.GradScaler("cpu", growth_interval=1), 0
    for _ in range(60):
        before = scaler.get_scale()
        optimizer.zero_grad()
        scaler.scale(small_net.loss_in_half(model, x, y)).backward()
        scaler.step(optimizer)
        scaler.update()
        skipped += scaler.get_scale() < before
    assert 24 <= skipped <= 33


def test_growing_at_every_clean_step_skips_exactly_half_where_gradients_stay() -> None:
    trace = sawtooth.drive(lambda scale: scale > 24_576, 1002, interval=1)
    assert trace.skipped == [0, *range(1, 1002, 2)]


# ------------------------------------------------------------------------------------- inputs


def test_dividing_makes_a_new_tensor_and_in_place_forms_do_not() -> None:
    for scale, new in ((4, True), (1, True)):
        g = torch.tensor([8.0])
        assert ((g / scale).data_ptr() != g.data_ptr()) == new
        assert g.item() == 8.0
    for change in (lambda g: g.div_(4), lambda g: g.__itruediv__(4)):
        g = torch.tensor([8.0])
        assert change(g).data_ptr() == g.data_ptr()
        assert g.item() == 2.0


def test_unscale_works_in_place_and_only_once() -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.tensor([4096.0])
    optimizer, scaler = torch.optim.SGD([weight], lr=1.0), torch.amp.GradScaler("cpu", init_scale=1024.0)
    scaler.scale(torch.ones(()))
    held = weight.grad
    scaler.unscale_(optimizer)
    assert held.item() == 4.0
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)


def test_a_default_argument_lives_as_long_as_its_function() -> None:
    def counts(seen: list[int] = []) -> int:  # noqa: B006
        seen.append(1)
        return len(seen)

    assert [counts(), counts(), counts()] == [1, 2, 3]


# ---------------------------------------------------------------------------- not the scaler


def test_where_pytorch_s_scaler_differs() -> None:
    (weight,), scale, _ = scaler_step(torch.tensor([INF]), scale=4.0)
    assert (weight.grad.item(), scale) == (INF, 2.0)
    assert scaler_step(torch.tensor([INF]), scale=8.0, backoff_factor=0.7)[1] == pytest.approx(5.6, rel=1e-7)
    assert scaler_step(torch.tensor([INF]), scale=8.0, backoff_factor=0.7)[1] != 5.6
    assert scaler_step(torch.ones(1), scale=2.0**127)[1] == 2.0**127
    assert scaler_step(torch.tensor([8.0]), scale=4.0, growth_interval=2000)[1] == 4.0


def test_the_scaler_raises_where_all_gradients_are_none() -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(torch.ones(()))
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)


def test_float64_gradients_keep_seven_digits_unless_the_scale_is_a_power_of_two() -> None:
    g = torch.tensor([1 / 7], dtype=torch.float64)
    for scale in (3.0, 10.0, 1000.0):
        (weight,), _, _ = scaler_step(g, scale=scale)
        assert 1e-10 < abs(weight.grad.item() * scale / g.item() - 1) < 1e-7
    for scale in (4.0, 65536.0, 2.0**100):
        (weight,), _, _ = scaler_step(g, scale=scale)
        assert weight.grad.item() == g.item() / scale


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_fused_optimizers_do_the_scaler_s_work(kind: Any, fused: bool) -> None:
    def made(dtype: torch.dtype = torch.float32) -> tuple[Any, Any, Any]:
        weight = torch.nn.Parameter(torch.ones(2, dtype=dtype))
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        scaler.scale(torch.ones(()))
        return weight, kind([weight], lr=0.5, fused=fused), scaler

    weight, optimizer, scaler = made()
    scheduler, calls = torch.optim.lr_scheduler.StepLR(optimizer, 1), []
    optimizer.register_step_post_hook(lambda *_: calls.append(1))
    weight.grad = torch.tensor([8.0, INF])
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [1.0, 1.0]
    assert scaler.get_scale() == 2.0
    assert weight.grad.tolist() == ([8.0, INF] if fused else [2.0, INF])
    assert len(calls) == fused
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scheduler.step()
    assert any("before `optimizer.step()" in str(w.message) for w in caught) != fused

    weight, optimizer, scaler = made(torch.float16)
    weight.grad = torch.ones(2).half()
    if fused:
        scaler.step(optimizer)
        assert weight[0] < 1
    else:
        with pytest.raises(ValueError, match="FP16"):
            scaler.step(optimizer)

    weight, optimizer, scaler = made()
    if fused:
        scaler.step(optimizer)
    with pytest.raises(AssertionError, match="No inf checks were recorded"):
        scaler.update() if fused else scaler.step(optimizer)


def test_gradients_are_unscaled_on_an_overflow_too() -> None:
    (weight,), _, _ = scaler_step(torch.tensor([8.0, INF]), scale=4.0)
    assert weight.grad.tolist() == [2.0, INF]


# --------------------------------------------------------------------------- in your own run


def test_a_skipped_first_step_makes_the_scheduler_warn() -> None:
    for bad, warns in ((True, True), (False, False)):
        weight = torch.nn.Parameter(torch.zeros(1))
        optimizer, scaler = torch.optim.SGD([weight], lr=1.0), torch.amp.GradScaler("cpu")
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        scaler.scale(torch.ones(()))
        weight.grad = torch.tensor([INF if bad else 1.0])
        scaler.step(optimizer)
        scaler.update()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scheduler.step()
        assert any("lr_scheduler.step()` before `optimizer.step()" in str(w.message) for w in caught) == warns


def test_an_activation_s_gradient_overflows_first() -> None:
    layer = torch.nn.Linear(16, 1, bias=False)

    def gradient(scale: float) -> Tensor:
        layer.weight.grad = None
        with torch.autocast("cpu", dtype=torch.float16):
            out = layer(torch.full((1, 16), 1e-3))
        (out.float().sum() * 16 * scale).backward()
        return layer.weight.grad

    assert gradient(1.0).abs().max() * 65536 < HALF_MAX / 60
    assert not gradient(65536.0).isfinite().any()
    assert gradient(4093.0).isfinite().all()  # 16 times this fits, so it is the output's gradient that decides
    assert not gradient(4096.0).isfinite().any()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA")
def test_without_cuda_the_default_scaler_is_off() -> None:
    with pytest.warns(UserWarning, match="CUDA is not available"):
        scaler = torch.amp.GradScaler()
    assert not scaler.is_enabled()
    assert (scaler.get_scale(), scaler.state_dict()) == (1.0, {})
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.tensor([INF])
    scaler.step(torch.optim.SGD([weight], lr=1.0))
    assert weight.item() == -INF


def test_what_turns_bad_after_the_check_is_not_checked_again() -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.ones(1)
    optimizer, scaler = torch.optim.SGD([weight], lr=1.0), torch.amp.GradScaler("cpu")
    scaler.scale(torch.ones(()))
    scaler.unscale_(optimizer)
    weight.grad.fill_(NAN)
    scaler.step(optimizer)
    scaler.update()
    assert weight.isnan().all()
    assert scaler.get_scale() == 65536.0


# ------------------------------------------------------------------------------- go further


def test_dividing_in_fp16_destroys_gradients_silently() -> None:
    patterns = judging_order.every_half()
    usable = patterns[patterns.isfinite() & (patterns != 0)]
    assert len(usable) == 63_486
    divided = usable / 65536.0
    assert int((divided == 0).sum()) == 12_288
    assert divided.isfinite().all()


@given(st.lists(st.floats(width=32), max_size=6))
@settings(max_examples=300)
def test_times_zero_judges_like_isfinite(values: list[float]) -> None:
    g = torch.tensor(values)
    clean = bool(g.isfinite().all())
    assert bool((g * 0).sum() == 0) == clean
    assert bool((g - g == 0).all()) == clean


def test_scales_of_zero_inf_and_minus_two() -> None:
    (weight,), scale, _ = scaler_step(torch.tensor([1.0, 0.0]), scale=0.0)
    assert weight.grad[0] == INF
    assert weight.grad[1].isnan()
    assert weight[1].isnan()  # the step was taken
    assert scale == 0.0
    (weight,), scale, _ = scaler_step(torch.tensor([1.0, 5.0]), scale=INF)
    assert (weight.grad.tolist(), scale) == ([0.0, 0.0], INF)
    (weight,), scale, _ = scaler_step(torch.tensor([4.0]), scale=-2.0)
    assert (weight.grad.tolist(), scale) == ([-2.0], -4.0)


def test_at_odd_scales_the_scale_does_not_tell_a_skip() -> None:
    for scale, backoff in ((INF, 0.5), (2.0**-149, 0.75)):
        (weight,), after, _ = scaler_step(torch.tensor([INF]), scale=scale, backoff_factor=backoff)
        assert (weight.item(), after) == (0.0, scale)  # skipped, and the scale is the same
    (weight,), after, _ = scaler_step(torch.tensor([4.0]), scale=-2.0)
    assert weight.item() == 2.0
    assert after < -2.0  # a step, and the scale is smaller


def test_an_overflow_may_leave_no_trace() -> None:
    weight = torch.tensor([400.0]).half().requires_grad_()
    inside = weight * weight
    torch.sigmoid(inside).float().sum().backward()
    assert inside.item() == INF
    assert weight.grad.item() == 0.0
    off = torch.tensor([-1.0]).half().requires_grad_()
    torch.relu(off).backward(torch.tensor([INF]).half())
    assert off.grad.item() == 0.0
    assert not skips(weight.grad.float(), off.grad.float())


# ---------------------------------------------------------------------------------- figures


def test_shares_of_a_gradient_add_up() -> None:
    assert overflow_map.shares(torch.tensor([1.0, INF, -INF, NAN])) == (0.25, 0.5, 0.25)
    for gradient in small_net.gradients(2.0**20).values():
        assert sum(overflow_map.shares(gradient)) == pytest.approx(1)


@pytest.mark.parametrize("narrow", [False, True])
def test_overflow_map_draws_a_bar_for_each_parameter_and_kind(narrow: bool) -> None:
    gradients = {"a": torch.tensor([1.0, INF]), "b": torch.tensor([NAN, NAN])}
    figure = overflow_map.draw({1.0: gradients, 4.0: gradients}, narrow=narrow)
    assert len(figure.axes) == 2
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["2⁰: 3 bad", "2²: 3 bad"]
    widths = [patch.get_width() for patch in figure.axes[0].patches]
    assert widths == [0.5, 0.0, 0.5, 0.0, 0.0, 1.0]  # finite, inf, nan of a and b


@pytest.mark.parametrize("narrow", [False, True])
def test_judging_order_draws_the_counts_that_it_is_given(narrow: bool) -> None:
    patterns = judging_order.every_half()
    assert len(patterns.view(torch.int16).unique()) == 2**16
    counts = {2.0**k: judging_order.differing(patterns, 2.0**k) for k in range(-3, 3)}
    assert list(counts.values()) == [6144, 4096, 2048, 0, 0, 0]
    (ax,) = judging_order.draw(counts, narrow=narrow).axes
    assert [patch.get_height() for patch in ax.patches] == list(counts.values())


@pytest.mark.parametrize("narrow", [False, True])
def test_policies_draws_a_line_for_each_run(narrow: bool) -> None:
    runs = {"one": policies.Run([10.0, 1.0], 0, 1.0), "two": policies.Run([10.0, 9.0], 2, 4.0)}
    figure = policies.draw(runs, narrow=narrow)
    lines = figure.axes[0].get_lines()
    assert [(line.get_label(), list(line.get_ydata())) for line in lines] == [("one", [10, 1]), ("two", [10, 9])]
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 2


def test_gradients_are_mended_as_the_policy_says() -> None:
    bad = torch.tensor([1.0, INF, -INF, NAN])
    assert policies.mended(bad, "zeros", 5.0).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert policies.mended(bad, "clip", 5.0).tolist() == [1.0, 5.0, -5.0, 0.0]
    assert policies.mended(bad, "drop", 5.0) is None
    assert policies.mended(bad[:1], "drop", 5.0).tolist() == [1.0]


def test_the_network_and_its_data_are_the_same_each_time_and_leave_the_seed_alone() -> None:
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    models, batches = (small_net.network(), small_net.network()), (small_net.data(), small_net.data())
    assert all(torch.equal(a, b) for a, b in zip(*(model.parameters() for model in models), strict=True))
    assert all(torch.equal(a, b) for a, b in zip(*batches, strict=True))
    assert torch.equal(torch.random.get_rng_state(), before)
