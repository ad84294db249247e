"""The claims of chapter 2, "Where gradients vanish", each put to PyTorch itself. book/claims/02.yml lists them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import page_code
import pytest
import torch
from figures import gradient_histogram, stairs
from page_code import Page
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

SMALLEST, CUTOFF, NORMAL = 2.0**-24, 2.0**-25, 2.0**-14


@pytest.fixture(scope="module")
def page() -> Page:
    """Return what the chapter's own cells computed."""
    return page_code.run("02_where_gradients_vanish")


def half(value: float) -> float:
    """Return a number as fp32, rounded to fp16."""
    return torch.tensor(value).half().item()


def floats(first: float, last: float) -> Tensor:
    """Return every fp32 number from first up to, and without, last; both are positive."""
    start, stop = (torch.tensor(value).view(torch.int32).item() for value in (first, last))
    return torch.arange(start, stop, dtype=torch.int32).view(torch.float32)


def test_the_prose_shows_what_the_cells_computed(page: Page) -> None:
    assert page_code.wanted(page) == set(page.shown)
    assert all(isinstance(value, str) and value for value in page.shown.values())


# ------------------------------------------------------------------------ the cut-off


def test_the_smallest_fp16_number_above_zero_is_2_to_the_minus_24() -> None:
    assert torch.tensor(1, dtype=torch.int16).view(torch.float16).item() == SMALLEST
    assert f"{SMALLEST:.0e}" == "6e-08"


def test_3e_8_is_rounded_up() -> None:
    assert [half(g) for g in (1e-8, 2.9e-8, 3e-8, 5e-8, 6e-8)] == [0, 0, SMALLEST, SMALLEST, SMALLEST]
    assert half(-3e-8) == -SMALLEST


def test_fp16_loses_what_is_not_larger_than_2_to_the_minus_25_and_nothing_else() -> None:
    below, above = floats(2.0**-27, CUTOFF), floats(CUTOFF, 2.0**-23)
    assert not below.half().any()
    assert half(CUTOFF) == 0
    assert (above[1:].half() > 0).all()  # every fp32 number up to 2**-23, and rounding is monotone
    patterns = torch.randint(0, 2**31, (2_000_000,), generator=torch.Generator().manual_seed(0)).to(torch.int32)
    numbers = patterns.view(torch.float32)
    numbers = numbers[~numbers.isnan()]
    assert torch.equal(numbers.half() == 0, numbers <= CUTOFF)


def test_65520_and_more_becomes_inf_and_less_does_not() -> None:
    below = torch.nextafter(torch.tensor(65520.0), torch.tensor(0.0)).item()
    assert (half(below), half(65520.0)) == (65504.0, float("inf"))
    assert (65520 - 65504) / 65520 < 2.0**-11


def test_a_tie_goes_to_the_even_neighbor() -> None:
    steps = torch.arange(0, 1024) + 0.5
    stored = (steps * SMALLEST).half().double() / SMALLEST
    assert (stored % 2 == 0).all()
    assert (stored - steps).abs().max() == 0.5


def test_a_histogram_up_to_2_to_the_minus_24_counts_a_bin_too_much() -> None:
    assert (floats(torch.nextafter(torch.tensor(CUTOFF), torch.tensor(1.0)).item(), SMALLEST).half() > 0).all()


# ---------------------------------------------------------------------- subnormal numbers


def test_below_2_to_the_minus_14_fp16_numbers_are_2_to_the_minus_24_apart() -> None:
    numbers = torch.arange(0, 0x401, dtype=torch.int16).view(torch.float16).double()
    assert numbers[-1].item() == NORMAL
    assert set(numbers.diff().tolist()) == {SMALLEST}


def test_the_smaller_a_subnormal_gradient_the_larger_its_error(page: Page) -> None:
    exponents, worst = stairs.envelope(-30, -9)
    by_size = dict(zip(exponents, worst, strict=True))
    assert all(by_size[e] == 1 for e in range(-30, -25))
    assert all(2 * by_size[e + 1] == pytest.approx(by_size[e], rel=0.35) for e in range(-25, -15))
    assert all(by_size[e] == pytest.approx(2.0**-11, rel=1e-3) for e in range(-14, -9))
    # the figures of the table, against every fp32 number of a bin
    for exponent, name in ((-25, "worst-small"), (-20, "worst-micro"), (-14, "worst-normal")):
        numbers = floats(2.0**exponent, 2.0 ** (exponent + 1))[1:]
        true = ((numbers.half().float() - numbers).abs() / numbers).max().item()
        assert page.number(name) == pytest.approx(true, rel=0.05)


def test_3e_8_survives_99_percent_off(page: Page) -> None:
    assert page.number("three-off") == 0.99
    assert half(3e-8) / 3e-8 == pytest.approx(1.987, abs=1e-3)


def test_the_same_digits_lose_more_the_smaller_they_are() -> None:
    errors = [abs(half(1.4 * 2.0**e) / (1.4 * 2.0**e) - 1) for e in (-24, -22, -20, -17, -14)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 0.28
    assert errors[-1] < 2.0**-11


# -------------------------------------------------------------------------------- .grad


def linear_gradient(dtype: torch.dtype | None, scale: float = 1.0, passes: int = 1) -> tuple[nn.Linear, Tensor]:
    """Return a linear layer after some backward passes, and the last input."""
    generator = torch.Generator().manual_seed(0)
    layer = nn.Linear(64, 10)
    with torch.no_grad():
        layer.weight.copy_(torch.randn(10, 64, generator=generator) / 8)
        layer.bias.zero_()
    for _ in range(passes):
        x = torch.randn(128, 64, generator=generator)
        y = torch.randint(10, (128,), generator=generator)
        with torch.autocast("cpu", dtype=dtype or torch.float16, enabled=dtype is not None):
            loss = cross_entropy(layer(x), y)
        (loss * scale).backward()
    return layer, x


def is_fp16(values: Tensor) -> Tensor:
    return values.half().float() == values


def test_grad_is_fp32_and_every_value_in_it_an_fp16_number() -> None:
    layer, _ = linear_gradient(torch.float16)
    for parameter in (layer.weight, layer.bias):
        assert parameter.grad.dtype == torch.float32
        assert is_fp16(parameter.grad).all()
    full, _ = linear_gradient(None)
    assert is_fp16(full.weight.grad).float().mean() < 0.01


def test_a_convolution_s_grad_holds_fp16_numbers_too() -> None:
    torch.manual_seed(0)
    layer = nn.Conv2d(3, 8, 3)
    with torch.autocast("cpu", dtype=torch.float16):
        loss = layer(torch.randn(4, 3, 16, 16)).float().square().mean()
    loss.backward()
    assert is_fp16(layer.weight.grad).all()
    assert is_fp16(layer.bias.grad).all()


def test_an_embedding_runs_in_fp32_and_adds_up_there() -> None:
    torch.manual_seed(0)
    table, layer = nn.Embedding(50, 16), nn.Linear(16, 10)
    with torch.autocast("cpu", dtype=torch.float16):
        rows = table(torch.randint(50, (128,)))
        cross_entropy(layer(rows), torch.randint(10, (128,))).backward()
    assert rows.dtype == torch.float32
    assert is_fp16(layer.weight.grad).all()
    used = table.weight.grad != 0
    assert is_fp16(table.weight.grad)[used].float().mean() < 0.8


def test_a_weight_s_own_gradient_is_rounded_once_more() -> None:
    layer, x = nn.Linear(4, 2), torch.full((1, 4), 1e-3)
    with torch.autocast("cpu", dtype=torch.float16):
        output = layer(x)
    arriving = torch.full_like(output, 1e-5)
    output.backward(arriving)
    assert arriving.all()
    assert not layer.weight.grad.any()  # 1e-8 in fp32
    assert layer.bias.grad.all()


def test_grad_is_the_widened_gradient_of_an_fp16_copy() -> None:
    layer, x = linear_gradient(torch.float16)
    y = torch.randint(10, (128,), generator=torch.Generator().manual_seed(5))
    layer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        cross_entropy(layer(x), y).backward()
    copies = [parameter.detach().half().requires_grad_() for parameter in (layer.weight, layer.bias)]
    cross_entropy(nn.functional.linear(x.half(), *copies).float(), y).backward()
    assert copies[0].grad.dtype == torch.float16
    assert torch.equal(layer.weight.grad, copies[0].grad.float())


def test_a_float32_grad_underflows_and_overflows(page: Page) -> None:
    small, large = (linear_gradient(torch.float16, scale)[0].weight.grad for scale in (1e-8, 2.0**22))
    assert not small.any()
    assert large.isinf().float().mean() > 0.5
    for scale in (1e-8, 2.0**22):
        true = linear_gradient(None, scale)[0].weight.grad
        assert true.isfinite().all()
        assert (true != 0).all()
        assert true.abs().max() < torch.finfo(torch.float32).max / 2**64
    assert "1e-08    1.1e-09    100%     0%" in page.printed


def test_fp32_goes_down_to_1e_45_and_holds_every_fp16_number() -> None:
    assert torch.tensor(1, dtype=torch.int32).view(torch.float32).item() == pytest.approx(1.4e-45, rel=0.01)
    numbers = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(torch.float16)
    assert torch.equal(
        numbers.float().half().view(torch.int16)[~numbers.isnan()], numbers.view(torch.int16)[~numbers.isnan()]
    )


# ------------------------------------------------------------------------ the histogram


def test_a_hook_gets_an_output_s_gradient_during_backward_and_can_leave_it_alone() -> None:
    order: list[str] = []
    w = torch.ones(1, requires_grad=True)
    first = w * 2
    second = first * 3
    first.register_hook(lambda g: order.append(f"first {g.item():g}"))
    second.register_hook(lambda g: order.append(f"second {g.item():g}"))
    second.backward()
    assert order == ["second 1", "first 3"]
    assert w.grad.item() == 6


def test_the_network_is_trained_and_its_outputs_are_65536(page: Page) -> None:
    assert len(page["y"]) == 16 * 64 * 64 == 65_536
    assert page["x"].shape == (65_536, 25)
    assert page["right"] > 0.99
    assert list(page["layers"]) == [f"layer {i}" for i in range(1, 6)]


def test_an_ordinary_histogram_shows_one_spike(page: Page) -> None:
    for g in page["true"].values():
        counts = torch.histc(g.cpu(), bins=51)
        assert counts.max() / counts.sum() > 0.95


def test_a_scale_shifts_the_bins_and_keeps_their_shape() -> None:
    g = torch.randn(10_000, generator=torch.Generator().manual_seed(0)) * 2.0**-20
    before, after = gradient_histogram.sizes(g), gradient_histogram.sizes(g, 2.0**16)
    assert before.bins[:-16] == after.bins[16:]
    assert sum(before.bins[-16:]) == sum(after.bins[:16]) == 0


def test_a_relu_that_is_off_sends_back_an_exact_zero() -> None:
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    (nn.functional.relu(x) * 5).sum().backward()
    assert x.grad.tolist() == [0.0, 5.0]


def test_nine_of_ten_gradients_at_the_output_are_lost_and_none_before_training(page: Page) -> None:
    last, fresh = page["true"]["layer 5"], page["fresh"]["layer 5"]
    assert 0.85 < (last.half() == 0).float().mean() < 0.95
    assert (last != 0).float().mean() > 0.999
    assert not (fresh.half() == 0).any()
    assert fresh.abs().median() > 1000 * last.abs().median()


def test_the_output_s_gradient_is_prediction_minus_target_over_n(page: Page) -> None:
    with torch.no_grad():
        wanted = (page["model"](page["x"]).sigmoid() - page["y"]) / 65536
    assert torch.allclose(page["true"]["layer 5"], wanted, rtol=1e-3, atol=1e-12)


def test_the_picture_predicts_the_zeros_of_a_real_fp16_pass(page: Page) -> None:
    zeros = {
        name: ((g.half() == 0).float().mean().item(), (page["fp16"][name] == 0).float().mean().item())
        for name, g in page["true"].items()
    }
    assert zeros["layer 5"][1] == pytest.approx(zeros["layer 5"][0], abs=2e-3)
    assert all(predicted - 2e-3 < found < predicted + 0.03 for predicted, found in zeros.values())
    assert zeros["layer 1"][1] > zeros["layer 1"][0] + 5e-3


def test_below_the_output_gradients_may_rise_or_fall_in_training(page: Page) -> None:
    fresh, true = page["fresh"], page["true"]
    for name in ("layer 1", "layer 5"):
        assert true[name].abs().median() < fresh[name].abs().median() / 100
    assert true["layer 1"].abs().max() > 20 * fresh["layer 1"].abs().max()
    assert true["layer 1"].norm() > 5 * fresh["layer 1"].norm()
    assert page.number("first-fresh") == pytest.approx(loss_of(fresh["layer 1"])[0], abs=6e-3)
    before, after = page["before"], page["errors"]
    assert before["layer 1"] > 1.5 * after["layer 1"]
    assert after["layer 4"] > 5 * before["layer 4"]


# ------------------------------------------------------------------------ count and mass


def loss_of(g: Tensor, scale: float = 1.0) -> tuple[float, float]:
    """Return the shares of the non-zero elements and of the sum of |g| at or below the cut-off."""
    size = g.double().abs()
    gone = (size > 0) & (size * scale <= CUTOFF)
    return (gone.sum() / (size > 0).sum()).item(), (size[gone].sum() / size.sum()).item()


def test_nine_of_ten_are_lost_and_less_than_5_percent_of_the_mass(page: Page) -> None:
    for name, g in page["true"].items():
        count, mass = loss_of(g)
        assert count > 0.9
        assert mass < 0.05
        assert page["lost"](g) == pytest.approx((count, mass), rel=1e-6)
        assert page["rows"][name].below(-25) == pytest.approx(count * (g != 0).float().mean().item(), abs=1e-4)
    assert page.number("mass-most") < 0.05


def test_on_the_first_page_the_lost_carry_nearly_all_the_mass(page: Page) -> None:
    assert page["lost"](page["asked"]) == pytest.approx(loss_of(page["asked"]), rel=1e-6)
    count, mass = loss_of(page["asked"])
    assert count > 0.99
    assert mass > 0.99


def test_lost_of_nothing_is_nothing(page: Page) -> None:
    assert page["lost"](torch.zeros(3)) == (0.0, 0.0)


def network(page: Page, seed: int) -> tuple[nn.Sequential, Tensor, Tensor]:
    """Return the chapter's network, trained as the chapter trains it from some seed, and its data."""
    torch.manual_seed(seed)
    x, y = page["pixels"]()
    pairs = [(nn.Linear(a, b), nn.ReLU()) for a, b in pairwise(page["sizes"])]
    model = nn.Sequential(*[part for pair in pairs for part in pair][:-1]).to(x.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(50):
        optimizer.zero_grad()
        binary_cross_entropy_with_logits(model(x), y).backward()
        optimizer.step()
    return model, x, y


def weights_gradients(
    model: nn.Sequential, x: Tensor, y: Tensor, change: Callable[[Tensor], Tensor] = lambda g: g
) -> list[Tensor]:
    """Return the weights' gradients of an fp32 pass, with the gradients at the layers' outputs changed."""
    hooks = [
        part.register_forward_hook(lambda _, args, output: output.register_hook(change) and None) for part in model[::2]
    ]
    model.zero_grad()
    binary_cross_entropy_with_logits(model(x), y).backward()
    for hook in hooks:
        hook.remove()
    return [part.weight.grad.clone() for part in model[::2]]


def test_the_weights_gradient_is_almost_20_percent_off(page: Page) -> None:
    errors = page["errors"]
    assert 0.15 < max(errors.values()) < 0.2
    assert all(errors[name] > 2 * loss_of(g)[1] for name, g in page["true"].items())
    assert all(errors[name] < loss_of(g)[0] / 4 for name, g in page["true"].items())


def test_rounding_between_the_layers_alone_makes_the_same_error(page: Page) -> None:
    alone = page["alone"]["both"]
    assert alone == pytest.approx(page["errors"], abs=0.01)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_what_is_lost_does_it_and_not_the_rounding_of_the_rest(page: Page, seed: int) -> None:
    trained = network(page, seed)
    wanted = weights_gradients(*trained)
    zeroed = weights_gradients(*trained, lambda g: torch.where(g.abs() <= CUTOFF, 0.0, g))
    coarse = weights_gradients(*trained, lambda g: torch.where(g.abs() <= CUTOFF, g, g.half().float()))
    off = [((zeros - true).norm() / true.norm()).item() for zeros, true in zip(zeroed, wanted, strict=True)]
    worst = max(range(5), key=off.__getitem__)
    rest = ((coarse[worst] - wanted[worst]).norm() / wanted[worst].norm()).item()
    assert off[worst] > 3 * rest
    if seed == 0:
        names = ("small ones zeroed", "the others rounded")
        shown = [page["alone"][name][f"layer {worst + 1}"] for name in names]
        assert shown == pytest.approx([off[worst], rest], rel=0.02)


def test_the_lost_pull_one_way_and_the_kept_cancel(page: Page) -> None:
    g = page["true"]["layer 5"].double()
    gone = g.abs() <= CUTOFF
    assert (g[gone] > 0).double().mean() > 0.98
    assert g[~gone].sum().abs() < 0.15 * g[~gone].abs().sum()
    mass = (g[gone].abs().sum() / g.abs().sum()).item()
    share = (g[gone].sum() / g.sum()).item()
    assert share < -5 * mass  # against the sum
    assert page.number("out-lost-mass") == pytest.approx(mass, abs=1e-3)
    assert page.number("out-too-large") == pytest.approx(-share, abs=1e-2)


def test_how_much_of_the_sum_is_lost_depends_on_the_seed(page: Page) -> None:
    shares = {}
    for seed, g in page["seeds"].items():
        gone = g.float().half() == 0
        assert (g[gone] > 0).double().mean() > 0.9  # one way, with every seed
        shares[seed] = (g[gone].sum() / g.sum()).item()
    assert set(shares) == {0, 1, 2, 3}
    assert shares[0] < -0.05 < 0.05 < max(shares.values())  # here against the sum, there with it
    assert min(abs(share) for share in shares.values()) < 0.01


def test_the_large_ones_are_at_the_edges_and_the_lost_in_the_background(page: Page) -> None:
    torch.manual_seed(0)  # as the chapter draws its circles
    at = torch.arange(64, dtype=torch.float32)
    center, radius = torch.rand(16, 2, 1, 1) * 64, 4 + 12 * torch.rand(16, 1, 1)
    beyond = (((at[:, None] - center[:, 0]) ** 2 + (at - center[:, 1]) ** 2).sqrt() - radius).flatten()
    assert torch.equal((beyond < 0).float(), page["y"].cpu().flatten())
    g = page["true"]["layer 5"].cpu().flatten()
    large, lost = g.abs() > g.abs().max() / 4, g.abs() <= CUTOFF
    assert (beyond[large].abs() < 2).float().mean() > 0.9
    assert (beyond[lost] > 0).float().mean() > 0.98


# -------------------------------------------------------------------------------- scaled


def test_a_scale_mends_the_weights_and_leaves_some_elements_lost(page: Page) -> None:
    assert max(page["mended"].values()) < 0.005
    assert max(page["errors"][name] / error for name, error in page["mended"].items()) > 30
    for g in page["true"].values():
        count, mass = loss_of(g, 2.0**16)
        assert 0.005 < count < 0.04
        assert mass < 1e-6


def test_dividing_by_16_multiplies_the_lost_mass(page: Page) -> None:
    divided = {name: loss_of(g, 1 / 16)[1] for name, g in page["true"].items()}
    heavy = max(divided, key=divided.get)
    before = loss_of(page["true"][heavy])[1]
    assert page.shown["divided-layer"] == heavy
    assert page.number("divided-mass") == pytest.approx(divided[heavy], abs=6e-3)
    assert page.number("undivided-mass") == pytest.approx(before, abs=6e-4)
    assert all(mass > 3 * loss_of(page["true"][name])[1] for name, mass in divided.items())
    loss = (torch.tensor([1.0, 2.0], requires_grad=True) ** 2).sum()
    (whole,), (part,) = (torch.autograd.grad(each, loss, retain_graph=True) for each in (loss, loss / 16))
    assert part == whole / 16


def test_the_mass_is_saved_long_before_the_count(page: Page) -> None:
    def heaviest(power: int) -> float:
        return max(loss_of(g, 2.0**power)[1] for g in page["true"].values())

    light = page["light"]
    assert heaviest(light) < 1e-3 <= heaviest(light - 1)
    low, high = (float(part.rstrip("%")) / 100 for part in page.shown["light-lost"].split(" to "))
    counts = [loss_of(g, 2.0**light)[0] for g in page["true"].values()]
    assert (low, high) == pytest.approx((min(counts), max(counts)), abs=6e-3)
    assert 0.4 < low < high < 0.7
    for g in page["true"].values():  # each doubling brings back the largest of the lost
        lost, left = ((g * 2.0**power).half() == 0 for power in (light, light + 1))
        size = g.abs()
        assert size[lost & ~left].min() > size[left].max()


def test_no_power_of_two_loses_nothing_and_overflows_nothing(page: Page) -> None:
    g = torch.cat([each.flatten() for each in page["true"].values()])
    g = g[g != 0]
    fates = {power: (g * 2.0**power).half() for power in range(-8, 60)}
    lost = {power: int((stored == 0).sum()) for power, stored in fates.items()}
    infinite = {power: int(stored.isinf().sum()) for power, stored in fates.items()}
    assert all(lost[power] or infinite[power] for power in fates)
    finite = page["finite"]
    assert (infinite[finite], infinite[finite + 1]) == (0, page.number("first-inf"))
    assert (lost[finite], lost[finite + 1]) == (page.number("finite-lost"), 0)
    assert infinite[finite + 1] > lost[finite] > 0
    size = g.double().abs()
    assert size[fates[finite] == 0].sum() < 1e-9 * size.sum()
    assert page.number("span") == round((size.max() / size.min()).log2().item()) == 41
    assert round((torch.tensor(65520.0).log2() + 25).item()) == 41


def test_a_real_pass_overflows_between_the_layers_where_the_picture_does(page: Page) -> None:
    assert page["first"]["between"] == page["finite"] + 1


def test_what_a_scale_leaves_is_rounded_in_the_forward_pass(page: Page) -> None:
    trained = network(page, 0)
    parts = trained[0]
    wanted = weights_gradients(*trained)

    def off(found: list[Tensor]) -> float:
        return max(((g - true).norm() / true.norm()).item() for g, true in zip(found, wanted, strict=True))

    def straight(values: Tensor) -> Tensor:
        return values + (values.half().float() - values).detach()

    between = off(weights_gradients(*trained, lambda g: (g * 2.0**16).half().float() / 2.0**16))
    assert between < 3e-4
    assert page.number("rounding-costs") == pytest.approx(between, abs=1e-4)
    hooks = [part.register_forward_pre_hook(lambda _, args: (straight(args[0]),)) for part in parts[::2]]
    inputs = off(weights_gradients(*trained))
    for hook in hooks:
        hook.remove()
    hooks = [part.register_forward_hook(lambda _, args, output: straight(output)) for part in parts[::2]]
    outputs = off(weights_gradients(*trained))
    for hook in hooks:
        hook.remove()
    with torch.no_grad():
        for parameter in parts.parameters():
            parameter.copy_(parameter.half())
    weights = off(weights_gradients(*trained))
    assert min(inputs, outputs, weights) > 5 * between
    assert max(inputs, outputs, weights) < 1.2 * max(page["mended"].values())
    low, high = (float(part.rstrip("%")) / 100 for part in page.shown["third-zone"].split(" to "))
    assert 0.15 < low < high < 0.5


def test_the_weights_gradients_overflow_first(page: Page) -> None:
    first = page["first"]
    assert first["weights"] + 4 <= first["between"]
    between, weights = page["watch"](half=True, scale=2.0 ** first["weights"])
    assert all(g.isfinite().all() for g in between.values())
    assert not all(g.isfinite().all() for g in weights.values())
    assert any(layer.weight.grad.isinf().any() for layer in page["layers"].values())


def test_with_small_inputs_a_bias_overflows_first() -> None:
    first: dict[str, int] = {}
    layer, x = nn.Linear(4, 1), torch.full((4096, 4), 0.01)
    for exponent in range(40):
        layer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = layer(x).float().mean()
        (loss * 2.0**exponent).backward()
        for name, parameter in layer.named_parameters():
            if parameter.grad.isinf().any():
                first.setdefault(name, exponent)
    assert first["bias"] < first["weight"]


def test_inside_the_room_no_scale_is_better_than_another(page: Page) -> None:
    for exponent in (16, 20, page["first"]["weights"] - 1):
        found = page["off"](page["watch"](half=True, scale=2.0**exponent)[1], page["true_weights"])
        assert found == pytest.approx(page["mended"], abs=1e-4)


# ------------------------------------------------------------------------ in your own run


def test_zeros_in_grad_hide_what_was_lost(page: Page) -> None:
    name = page["zero_layer"]
    between, found, true = (page.number(f"zero-{which}") for which in ("between", "half", "true"))
    assert between > 0.9
    assert true <= found < true + 0.1
    number = int(name[-1])
    with torch.no_grad():  # which ReLUs are on together for some pixel: in front of the layer, and behind it
        x = page["model"][: 2 * (number - 1)](page["x"])
        behind = page["model"][: 2 * number](page["x"])
    together = (behind > 0).float().T @ (x > 0).float() > 0
    assert torch.equal(page["true_weights"][name] == 0, ~together)


def test_the_recalled_numbers_are_right(page: Page) -> None:
    error, power = page.number("r2-error"), page["power"]
    assert error <= 2.0 ** (power - 26)
    assert error > 2.0 ** (power - 27)
    assert page.number("r2-at") == 0
    assert page.number("r2-under") > 0
    gradient, scale = page["gradient_to_lift"], page.number("r2-scale")
    assert gradient * scale > CUTOFF >= gradient * page.number("r2-half-scale")
    assert page.number("r2-gradient") == pytest.approx(gradient, rel=0.05)
    odd, even, other = (page.number(f"r2-{name}") for name in ("odd", "even", "other"))
    assert odd % 2 == 1
    assert 2048 < odd < 4096
    assert half(odd) == even == 2 * odd - other
    assert even % 4 == 0 != other % 4


def test_accumulated_gradients_are_sums_of_fp16_numbers_in_fp32(page: Page) -> None:
    layer, _ = linear_gradient(torch.float16, passes=4)
    share = is_fp16(layer.weight.grad).float().mean().item()
    assert 0.05 < share < 0.5
    assert 0.05 < page.number("accumulated") < 0.5


def test_the_largest_gradient_falls_toward_layer_1_before_training_and_rises_after(page: Page) -> None:
    def peaks(gradients: dict[str, Tensor]) -> list[float]:
        return [gradients[f"layer {i}"].abs().max().item() for i in (5, 4, 3, 2, 1)]

    assert all(after < before for before, after in pairwise(peaks(page["fresh"])))
    trained = peaks(page["true"])
    assert trained[-1] > trained[0]
    assert trained[-1] == max(trained)


def test_bf16_keeps_1e_8_and_is_off_by_up_to_0_4_percent(page: Page) -> None:
    smallest = 2.0**-133
    assert torch.tensor(1, dtype=torch.int16).view(torch.bfloat16).item() == smallest
    assert torch.tensor(smallest / 2).bfloat16().item() == 0
    assert torch.nextafter(torch.tensor(smallest / 2), torch.tensor(1.0)).bfloat16().item() == smallest
    assert page.number("bf16-smallest") == pytest.approx(smallest, rel=0.01)
    numbers = floats(1.0, 2.0)
    worst = ((numbers.bfloat16().float() - numbers).abs() / numbers).max().item()
    assert worst == pytest.approx(2.0**-8, rel=0.01)
    assert f"{worst:.1%}" == "0.4%"
    assert abs(torch.tensor(1e-8).bfloat16().item() / 1e-8 - 1) < worst
