"""The claims of chapter 3, "Scale the loss", each put to PyTorch itself. book/claims/03.yml lists them."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import page_code
import pytest
import torch
from page_code import Page
from torch import Tensor, nn
from torch.nn import functional

INF = math.inf
CUTOFF, NORMAL, LARGEST = 2.0**-25, 2.0**-14, 65504.0
Gradients = dict[str, Tensor]


@pytest.fixture(scope="module")
def page() -> Page:
    """Return what the chapter's own cells computed."""
    return page_code.run("03_scale_the_loss")


def half(value: float) -> float:
    """Return a number as fp32, rounded to fp16."""
    return torch.tensor(value).half().item()


def flat(tensors: Iterable[Tensor]) -> Tensor:
    return torch.cat([tensor.flatten() for tensor in tensors]).double()


def passed(
    page: Page, count: int, start: Tensor | float = 1.0, half: bool = False
) -> tuple[Gradients, Gradients, Tensor]:
    """Run a pass that starts backward from a number, without the page's hooks: autograd.grad is asked for each tensor.

    Return the gradients at the outputs of layers and norms, those of the parameters, and the loss.
    """
    model, outputs = page["network"](), {}
    value = page["x"][:count]
    with torch.autocast("cpu", torch.float16, enabled=half):
        for name, module in model.named_children():
            value = module(value)
            if not isinstance(module, nn.ReLU):
                outputs[name] = value
        loss = functional.mse_loss(value, page["y"][:count])
    parameters = dict(model.named_parameters())
    wanted = [*outputs.values(), *parameters.values()]
    found = torch.autograd.grad(loss, wanted, grad_outputs=torch.full_like(loss, start))
    between = dict(zip(outputs, found[: len(outputs)], strict=True))
    return between, dict(zip(parameters, found[len(outputs) :], strict=True)), loss.detach()


def largest(gradients: Gradients) -> float:
    return max(gradient.abs().max().item() for gradient in gradients.values())


def finite(gradients: Gradients) -> bool:
    return all(bool(gradient.isfinite().all()) for gradient in gradients.values())


# ----------------------------------------------------------------------- before the first section


def test_the_prose_shows_what_the_cells_computed(page: Page) -> None:
    assert page_code.wanted(page) == set(page.shown)
    assert all(isinstance(value, str) and value for value in page.shown.values())


def test_the_recalled_numbers_are_right(page: Page) -> None:
    lost, sub, normal = (page["sizes"][name] for name in ("lost", "sub", "normal"))
    assert lost <= CUTOFF < sub < NORMAL < normal
    assert half(lost) == 0
    assert page.number("r3-sub-off") == pytest.approx(abs(half(sub) / sub - 1), abs=1e-4)
    assert page.number("r3-normal-off") == pytest.approx(abs(half(normal) / normal - 1), abs=1e-4)
    assert page["recalled"].dtype == torch.float32
    assert page.number("r3-half") == page.number("r3-count") == 8 * 32
    gradient, need = 2 * page["mistake"] / 2 ** page["power"], page.number("r3-need")
    assert gradient * need > CUTOFF >= gradient * page.number("r3-before")
    assert page["mistake"] <= page.number("r3-floor") == 2.0 ** (page["power"] - 26)
    assert page["mistake"] > page.number("r3-floor") / need


# ----------------------------------------------------------------------------------- one factor


def test_the_hooks_see_what_autograd_gives_for_each_output(page: Page) -> None:
    between, parameters, _ = passed(page, 64)
    seen, stored = page["watch"](page["network"](), page["x"][:64], page["y"][:64])
    assert set(seen) == set(between)
    assert all(torch.equal(seen[name], between[name]) for name in between)
    assert all(torch.equal(stored[name], parameters[name]) for name in parameters)


def test_backward_is_linear_in_what_it_starts_from(page: Page) -> None:
    model, x, y = page["network"](), page["x"][:64], page["y"][:64]
    functional.mse_loss(model(x), y).backward(gradient=torch.tensor(1024.0))
    started = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    (functional.mse_loss(model(x), y) * 1024).backward()
    assert all(torch.equal(a, p.grad) for a, p in zip(started, model.parameters(), strict=True))


@pytest.mark.parametrize("exponent", [-20, 1, 10, 60])
def test_a_power_of_two_scales_every_gradient_exactly_in_fp32(page: Page, exponent: int) -> None:
    plain, scaled = passed(page, 4096), passed(page, 4096, 2.0**exponent)
    assert sum(g.numel() for g in plain[1].values()) == 2529
    for before, after in zip(plain[:2], scaled[:2], strict=True):
        assert all(torch.equal(after[name], before[name] * 2.0**exponent) for name in before)
    assert "1024         0          0 (0%)" in page.printed


def test_another_factor_is_exact_only_up_to_rounding(page: Page) -> None:
    plain, scaled = passed(page, 4096)[1], passed(page, 4096, 1000.0)[1]
    changed = flat(scaled[name] != plain[name] * 1000 for name in plain).mean().item()
    assert 0.5 < changed < 0.95
    true = flat(plain.values())
    off = ((flat(scaled.values()) / 1000 - true).norm() / true.norm()).item()
    assert 0 < off < 1e-5
    assert page.number("thousand-off") == pytest.approx(off, rel=1)


def test_out_of_range_a_power_of_two_is_not_exact_either(page: Page) -> None:
    plain, scaled = passed(page, 64)[1], passed(page, 64, 2.0**-120)[1]
    assert not torch.equal(flat(scaled.values()) * 2.0**120, flat(plain.values()))
    overflown = passed(page, 64, 2.0**127)[1]
    assert not finite(overflown)


def test_in_fp16_only_what_is_not_yet_normal_and_what_comes_of_it_does_not_double(page: Page) -> None:
    small, other = [], []
    for exponent in (-4, 0, 4, 8, 12):
        a, b = (flat(passed(page, 4096, 2.0**k, half=True)[0].values()) for k in (exponent, exponent + 1))
        small.append(((a.abs() < NORMAL) & (a != 0)).double().mean().item())
        other.append((b != 2 * a).double().mean().item())
    for shares in (small, other):
        assert shares == sorted(shares, reverse=True)
        assert shares[0] > 0.4
        assert shares[-1] < 0.005
    assert all(rest < 1.3 * few for few, rest in zip(small, other, strict=True))


# ------------------------------------------------------------------------------------- the flow


def test_what_the_flow_says_of_dtypes_and_of_the_forward_pass(page: Page) -> None:
    dtypes, losses = [], []
    for scale in (1.0, 1024.0):
        model, seen = page["network"](), {}
        with torch.autocast("cpu", torch.float16):
            out = model(page["x"][:64])
            loss = functional.mse_loss(out, page["y"][:64])
        out.register_hook(lambda g, seen=seen: seen.update(at=g.dtype))
        (loss * scale).backward()
        dtypes.append((out.dtype, loss.dtype, (loss * scale).dtype, seen["at"], model[0].weight.grad.dtype))
        losses.append(loss.item())
    fp16, fp32 = torch.float16, torch.float32
    assert dtypes == [(fp16, fp32, fp32, fp16, fp32)] * 2
    assert losses[0] == losses[1]


def test_gradients_of_linear_layers_hold_fp16_numbers_times_the_scale(page: Page) -> None:
    _, parameters = page["watch"](page["network"](), page["first_x"], page["first_y"], True, 256.0)
    for name, gradient in parameters.items():
        if name.startswith("layer"):
            assert torch.equal(gradient, gradient.half().float()), name


@pytest.mark.parametrize("loss", ["mse_loss", "cross_entropy", "binary_cross_entropy_with_logits", "smooth_l1_loss"])
def test_loss_functions_under_autocast_return_fp32(loss: str) -> None:
    with torch.autocast("cpu", torch.float16):
        out = nn.Linear(4, 3)(torch.ones(2, 4))
        assert out.dtype == torch.float16
        assert getattr(functional, loss)(out, torch.ones(2, 3) / 3).dtype == torch.float32


# ------------------------------------------------------------------------- to the last digit


def test_the_travelers_way_to_the_last_digit(page: Page) -> None:
    scaled = torch.tensor(1e-8) * 16384
    stored = scaled.half()
    assert repr(stored.item()) == "0.00016379356384277344"
    assert Fraction(stored.item()) == Fraction(1374, 2**23)
    back = stored.float() / 16384
    assert f"{back.item():.8e}" == "9.99716576e-09"
    for line in ("1374.390", "1374\n", "0.00016379356384277344", "9.99716576e-09", "0.0283%"):
        assert line in page.printed
    off = abs(Fraction(back.item()) / Fraction(1e-8) - 1)
    assert f"{float(off):.4%}" == page.shown["last-error"] == "0.0283%"


def test_ten_fraction_bits_come_through_and_the_others_do_not() -> None:
    def fraction(value: float) -> str:
        return f"{struct.unpack('<I', struct.pack('<f', value))[0]:032b}"[9:]

    back = (torch.tensor(1e-8 * 16384).half().float() / 16384).item()
    assert fraction(back) == fraction(1e-8)[:10] + 13 * "0"
    assert fraction(1e-8)[10] == "0"  # less than half a step is cut off, so it is rounded down
    assert fraction(1e-8 * 16384) == fraction(1e-8)


def test_from_which_scale_on_the_traveler_is_a_normal_number(page: Page) -> None:
    errors = {k: abs(half(1e-8 * 2.0**k) / (1e-8 * 2.0**k) - 1) for k in range(60) if half(1e-8 * 2.0**k) < INF}
    normal = [errors[k] for k in errors if 1e-8 * 2.0**k >= NORMAL]
    assert max(normal) == pytest.approx(min(normal), rel=1e-9)
    assert max(normal) < 2.0**-11
    assert (min(k for k in errors if 1e-8 * 2.0**k >= NORMAL), max(errors)) == (13, 42)
    assert (page.shown["last-enough"], page.shown["last-most"]) == ("2¹³", "2⁴²")
    for k in (2, 6, 10):
        assert page.number(f"last-{k}") == pytest.approx(errors[k], abs=5e-4)
    assert errors[2] > errors[6] > errors[10] > max(normal)
    assert [half(1e-8 * 2.0**k) == 0 for k in range(13)] == [True, True] + 11 * [False]


# ----------------------------------------------------------------------- where to multiply


def test_only_the_loss_can_be_multiplied(page: Page) -> None:
    found = {place: page["gradient_of_1e8"](**{place: 16384.0}).item() for place in ("loss", "output", "grad")}
    assert found["output"] == found["grad"] == 0
    assert found["loss"] / 16384 == pytest.approx(1e-8, rel=3e-4)
    assert page["gradient_of_1e8"]().item() == 0
    layer = nn.Linear(1, 1, bias=False)
    with torch.autocast("cpu", torch.float16):
        copy = layer(torch.ones(1, 1)).float()
    copy.register_hook(lambda g: g * 16384)  # the fp32 copy of the output
    (copy.sum() * 1e-8).backward()
    assert layer.weight.grad.item() / 16384 == pytest.approx(1e-8, rel=3e-4)


def test_a_multiplied_grad_makes_the_step_of_sgd_longer_and_of_no_adaptive_one(page: Page) -> None:
    def length(kind: Any, factor: float) -> float:
        model = page["network"]()
        before = flat(parameter.detach().clone() for parameter in model.parameters())
        functional.mse_loss(model(page["x"][:64]), page["y"][:64]).backward()
        for parameter in model.parameters():
            parameter.grad *= factor
        kind(model.parameters(), lr=1e-3).step()
        return (flat(parameter.detach() for parameter in model.parameters()) - before).norm().item()

    def longer(kind: Any) -> float:
        return length(kind, 1024.0) / length(kind, 1.0)

    assert longer(torch.optim.SGD) == pytest.approx(1024, rel=0.01)
    for kind in (torch.optim.Adam, torch.optim.Adagrad, torch.optim.RMSprop):
        assert longer(kind) == pytest.approx(1, rel=0.05), kind


def test_an_fp32_layer_could_be_multiplied_anywhere() -> None:
    weight = torch.ones(1, requires_grad=True)
    out = weight * 1.0
    out.register_hook(lambda g: g * 16384)
    (out.sum() * 1e-8).backward()
    assert weight.grad.item() / 16384 == pytest.approx(1e-8)


# --------------------------------------------------------------------------- the learning rate


def trained(page: Page, kind: Any, scale: float = 1024.0, divide: float = 1024.0, **options: Any) -> list[Tensor]:
    """Return the parameters after 100 fp32 steps on 64 examples, with gradients times scale, divided by divide."""
    model, x, y = page["network"](), page["x"][:64], page["y"][:64]
    optimizer = kind(model.parameters(), **options)
    for _ in range(100):
        optimizer.zero_grad()
        (functional.mse_loss(model(x), y) * scale).backward()
        for parameter in model.parameters():
            parameter.grad /= divide
        optimizer.step()
    return [parameter.detach() for parameter in model.parameters()]


def test_after_unscaling_training_is_what_it_is_without_a_scale(page: Page) -> None:
    for kind, options in ((torch.optim.SGD, {"lr": 0.01}), (torch.optim.Adam, {"lr": 3e-3, "weight_decay": 0.1})):
        scaled = trained(page, kind, **options)
        plain = trained(page, kind, scale=1.0, divide=1.0, **options)
        assert all(torch.equal(a, b) for a, b in zip(scaled, plain, strict=True))


def test_plain_sgd_takes_a_divided_learning_rate_for_unscaling_exactly(page: Page) -> None:
    for momentum in (0.0, 0.9):
        unscaled = trained(page, torch.optim.SGD, lr=0.01, momentum=momentum)
        instead = trained(page, torch.optim.SGD, divide=1.0, lr=0.01 / 1024, momentum=momentum)
        assert all(torch.equal(a, b) for a, b in zip(unscaled, instead, strict=True))
    gentle = trained(page, torch.optim.SGD, divide=1.0, lr=1e-5)  # "at this learning rate"
    assert all(bool(parameter.isfinite().all()) for parameter in gentle)
    losses = page["losses"]["SGD"]
    assert losses[0] == losses[2]
    assert not math.isfinite(losses[1])


def test_weight_decay_breaks_even_that(page: Page) -> None:
    options = {"weight_decay": 0.1}
    unscaled = flat(trained(page, torch.optim.SGD, lr=0.01, **options))
    instead = flat(trained(page, torch.optim.SGD, divide=1.0, lr=0.01 / 1024, **options))
    assert (unscaled - instead).norm() > 0.01 * unscaled.norm()


def test_adam_hardly_notices_and_a_divided_learning_rate_ruins_it(page: Page) -> None:
    for name in ("Adam", "AdamW, decay"):
        unscaled, forgotten, instead = page["losses"][name]
        assert forgotten == pytest.approx(unscaled, rel=0.01)
        assert instead > 0.9 * page["losses"]["SGD, clip 1"][2] > 500 * unscaled


def test_adam_notices_by_its_eps_and_by_its_weight_decay(page: Page) -> None:
    for name in ("Adam, eps 1e-3", "Adam, decay"):
        unscaled, forgotten, _ = page["losses"][name]
        assert forgotten < 0.5 * unscaled
    lengths = {
        name: flat(trained(page, torch.optim.Adam, divide=divide, lr=3e-3, weight_decay=decay)).norm().item()
        for name, divide, decay in (("none", 1024.0, 0.0), ("decay", 1024.0, 0.1), ("forgotten", 1.0, 0.1))
    }
    for name, length in lengths.items():
        assert page.number(f"norm-{name}") == pytest.approx(length, abs=0.02)
    assert lengths["decay"] < 0.8 * lengths["none"]
    assert lengths["forgotten"] == pytest.approx(lengths["none"], rel=0.02)


def test_an_eps_of_a_thousand_times_less_is_what_forgetting_makes_of_it(page: Page) -> None:
    forgotten = flat(trained(page, torch.optim.Adam, divide=1.0, lr=3e-3, eps=1e-3))
    smaller = flat(trained(page, torch.optim.Adam, lr=3e-3, eps=1e-3 / 1024))
    assert (forgotten - smaller).norm() < 1e-3 * smaller.norm()


def test_clipping_makes_scaled_steps_all_of_one_length(page: Page) -> None:
    model, x, y = page["network"](), page["x"][:64], page["y"][:64]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    lengths, true = [], []
    for _ in range(100):
        before = flat(parameter.detach().clone() for parameter in model.parameters())
        optimizer.zero_grad()
        (functional.mse_loss(model(x), y) * 1024).backward()
        true.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0).item() / 1024)
        optimizer.step()
        lengths.append((flat(parameter.detach() for parameter in model.parameters()) - before).norm().item())
    assert max(lengths) == pytest.approx(0.01, rel=1e-3)
    assert min(lengths) == pytest.approx(0.01, rel=1e-3)
    assert max(true) > 5 * min(true)
    unscaled, forgotten, _ = page["losses"]["SGD, clip 1"]
    assert forgotten < unscaled
    assert min(true) < 1 < 1024 * min(true)  # shorter than the threshold, and longer while scaled

    def after(steps: int, divide: float) -> float:
        model, last = page["network"](), 0.0
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = functional.mse_loss(model(x), y)
            (loss * 1024).backward()
            for parameter in model.parameters():
                parameter.grad /= divide
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            last = loss.item()
        return last

    assert after(100, 1.0) == pytest.approx(forgotten, rel=1e-4)
    assert after(500, 1.0) > 2 * after(500, 1024.0)


# ------------------------------------------------------------------------------------ too large


def test_81920_overflows_and_40960_is_exact(page: Page) -> None:
    assert [half(10.0 * scale) for scale in (4096, 6550, 6551, 6552, 8192)] == [40960, LARGEST, LARGEST, INF, INF]
    assert (half(65519.99), half(65520.0)) == (LARGEST, INF)
    assert "10 * 6552 =  65520 -> inf" in page.printed
    assert half(81920.0) / 8192 == INF


def test_a_power_of_two_keeps_every_normal_fp16_number_exact_until_it_overflows() -> None:
    numbers = torch.arange(0x0400, 0x7C00, dtype=torch.int16).view(torch.float16)
    for exponent in (1, 4, 13):
        product = numbers.double() * 2.0**exponent
        stored = (numbers * torch.tensor(2.0**exponent).half()).double()
        fits = product < 65520
        assert torch.equal(stored[fits], product[fits])
        assert stored[~fits].isinf().all()


# ------------------------------------------------------------------------------ a static scale


def test_the_largest_grad_fits_and_the_pass_overflows_all_the_same(page: Page) -> None:
    between, parameters, _ = passed(page, 16)
    assert largest(parameters) * 2.0**14 == pytest.approx(54858, rel=1e-3)
    assert largest(between) == between["layer 1"].abs().max().item() > 4 * largest(parameters)
    for exponent in (13, 14):
        found, stored, loss = passed(page, 16, 2.0**exponent, half=True)
        assert page.number("static-loss") == pytest.approx(loss.item(), abs=0.005)  # finite, and no sign of S in it
        assert [name for name, g in found.items() if not g.isfinite().all()] == ["layer 1"]
        assert [name for name, g in stored.items() if not g.isfinite().all()] == ["layer 1.weight"]
    found, stored, _ = passed(page, 16, 2.0**12, half=True)
    assert finite(found)
    assert finite(stored)
    assert page.number("static-grad-scaled") < LARGEST / 5


def test_a_norm_divides_the_gradient_by_the_spread_too(page: Page) -> None:
    between, _, _ = passed(page, 16)
    outputs = page["network"]()[0](page["first_x"]).detach()
    inverse = 1 / (outputs.var(dim=1, unbiased=False) + 1e-5).sqrt()
    ratio = between["layer 1"].norm(dim=1) / between["norm 1"].norm(dim=1)
    assert (ratio <= inverse * 1.001).all()
    assert (ratio > 0.7 * inverse).all()
    assert page.number("static-inverse") == pytest.approx(inverse.max().item(), rel=0.01)
    assert page.number("static-spread") == pytest.approx(outputs.std(dim=1, unbiased=False).min().item(), abs=1e-4)
    assert page.number("static-divisor") == pytest.approx(1 / inverse.max().item(), abs=1e-4)
    assert page.number("static-norm") == pytest.approx(between["norm 1"].abs().max().item(), abs=0.005)
    row = between["layer 1"].abs().max(dim=1).values.argmax()
    assert row == inverse.argmax()


def test_the_weights_gradient_is_input_times_gradient_and_a_bias_would_have_shown_it(page: Page) -> None:
    between, parameters, _ = passed(page, 16)
    at_output, x = between["layer 1"], page["first_x"]
    torch.testing.assert_close(parameters["layer 1.weight"], at_output.T @ x)
    model = page["network"]()
    model[0].bias = nn.Parameter(torch.zeros(32))
    functional.mse_loss(model(x), page["first_y"]).backward()
    torch.testing.assert_close(model[0].bias.grad, at_output.sum(0), rtol=1e-3, atol=1e-4)
    assert model[0].bias.grad.abs().max() > 0.5 * at_output.abs().max()
    assert model[0].bias.grad.abs().max() > 10 * parameters["layer 1.weight"].abs().max()
    torch.manual_seed(0)
    model[0] = nn.Linear(8, 32)  # PyTorch's default start
    out = model[0](x)
    out.retain_grad()  # what no parameter's .grad keeps
    functional.mse_loss(model[1:](out), page["first_y"]).backward()
    assert out.grad.abs().max() < at_output.abs().max() / 10


def test_the_windows_say_where_a_real_pass_overflows(page: Page) -> None:
    for count in (16, 4096):
        overflowed = []
        for exponent in range(10, 17):
            between, parameters, _ = passed(page, count, 2.0**exponent, half=True)
            overflowed.append(not (finite(between) and finite(parameters)))
        last = 10 + overflowed.index(True) - 1
        assert last == page["real"][count] == page["whole"][count].highest
        assert all(overflowed[overflowed.index(True) :])


def test_the_batch_decides_which_gradients_are_the_largest(page: Page) -> None:
    few, many = (passed(page, count)[:2] for count in (16, 4096))
    assert largest(few[0]) > 4 * largest(few[1])
    assert largest(many[0]) < largest(many[1]) / 4
    for name in few[0]:
        assert largest({name: many[0][name]}) < largest({name: few[0][name]}) / 30
    assert largest(many[1]) == pytest.approx(largest(few[1]), rel=0.5)
    whole, alone = page["whole"], page["alone"]
    assert whole[16].highest < alone[16].highest
    assert whole[4096].highest == alone[4096].highest
    assert whole[16].lowest <= 0 <= whole[16].highest  # "the stripe holds 1"


def test_the_lower_end_is_no_cliff(page: Page) -> None:
    def of_layers(gradients: Gradients) -> Tensor:
        return flat(gradient for name, gradient in gradients.items() if name.startswith("layer"))

    wanted = of_layers(passed(page, 4096)[1])

    def off(exponent: int) -> float:
        found = of_layers(passed(page, 4096, 2.0**exponent, half=True)[1]) / 2.0**exponent
        return ((found - wanted).norm() / wanted.norm()).item()

    assert page["whole"][4096].lowest > 4
    assert off(0) == pytest.approx(off(13), rel=0.05)
    assert off(0) < 0.002
    assert off(-16) > 0.5
    assert page.number("window-off-one") == pytest.approx(off(0), abs=2e-4)

    model = page["network"]()  # the forward pass rounded as autocast rounds it, and an exact backward pass
    value = _Rounded.apply(page["x"])
    for module in model:
        if isinstance(module, nn.Linear):
            bias = None if module.bias is None else _Rounded.apply(module.bias)
            value = functional.linear(value, _Rounded.apply(module.weight), bias)
        else:
            value = module(value)
        value = _Rounded.apply(value)
    functional.mse_loss(value, page["y"]).backward()
    forward = of_layers({name: parameter.grad for name, parameter in model.named_parameters()})
    assert ((forward - wanted).norm() / wanted.norm()).item() == pytest.approx(off(0), rel=0.15)


class _Rounded(torch.autograd.Function):
    """Rounds to fp16 on the way forward and lets gradients through as they are."""

    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        return value.half().float()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient


def test_the_fp16_layer_norm_adds_up_its_own_gradients_with_an_error(page: Page) -> None:
    def pair(threads: int) -> tuple[Tensor, Tensor]:
        """Return norm 3's weight gradient and the exact sum of the fp16 values that this very pass had."""
        before, model, seen = torch.get_num_threads(), page["network"](), {}

        def keep(module: nn.Module, inputs: tuple[Tensor], output: Tensor) -> None:
            seen["in"] = inputs[0].detach().double()
            output.register_hook(lambda g: seen.update(g=g.detach().double()))

        norm = model.get_submodule("norm 3")
        norm.register_forward_hook(keep)
        torch.set_num_threads(threads)
        try:
            with torch.autocast("cpu", torch.float16):
                loss = functional.mse_loss(model(page["x"]), page["y"])
            (loss * 1024).backward()
        finally:
            torch.set_num_threads(before)
        value = seen["in"]
        normed = (value - value.mean(1, keepdim=True)) / (value.var(1, unbiased=False, keepdim=True) + norm.eps).sqrt()
        return norm.weight.grad.double(), (normed * seen["g"]).sum(0)

    found, exact = pair(1)
    assert (found - exact).norm() > 0.02 * exact.norm()
    assert not torch.equal(pair(2)[0], found)


# ------------------------------------------------------------------------------------ headroom


def test_between_the_layers_gradients_grow_in_spikes_and_in_the_parameters_they_do_not(page: Page) -> None:
    between, parameters = page["peaks"]["between the layers"], page["peaks"]["of the parameters"]
    assert len(between) == len(parameters) == 250
    assert max(parameters) < 1.5 * parameters[0]
    assert sum(parameters[200:]) < 0.5 * sum(parameters[:50])
    assert max(between) > 3 * between[0]
    assert max(between) > 4 * sorted(between)[125]
    assert sorted(between[200:])[25] > sorted(between)[125]  # "the others do not" sink


def test_the_spikes_go_with_the_gradient_that_arrives_at_norm_1(page: Page) -> None:
    model = page["network"]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    peaks, arrived, factors = [], [], []
    for x, y in page["batches"]():
        spread = model[0](x).detach().std(dim=1, unbiased=False)
        between, _ = page["watch"](model, x, y)
        peaks.append(between["layer 1"].abs().max().item())
        arrived.append(between["norm 1"].norm(dim=1).max().item())
        factors.append((spread**2 + 1e-5).rsqrt().max().item())
        optimizer.step()
    of_arrived, of_factors = torch.corrcoef(torch.tensor([peaks, arrived, factors]).log())[0, 1:].tolist()
    assert of_arrived > 0.75
    assert of_factors < 0.4
    assert max(factors) < 2 * min(factors)
    assert max(arrived) > 10 * min(arrived)


def test_headroom_above_grad_is_no_headroom(page: Page) -> None:
    def overflows(scale: float) -> int:
        model, count = page["network"](), 0
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        scaler = torch.amp.GradScaler("cpu", init_scale=scale)
        for x, y in page["batches"]():
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.float16):
                loss = functional.mse_loss(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            count += scaler.get_scale() < scale
            scaler.update(scale)
        return count

    counted = page["counted"]
    assert page["tops"] == {"from .grad": 14, "from both": 12}
    assert counted[13] > 125  # "most of them"
    assert counted[14] >= counted[13] > counted[12] > counted[11] >= counted[10] >= counted[9]
    assert counted[9] <= 2
    for exponent in (13, 11, 9):  # PyTorch's scaler, held at that scale, skips the same steps
        assert overflows(2.0**exponent) == counted[exponent]


def test_fp16_spans_about_41_powers_of_two() -> None:
    above = torch.nextafter(torch.tensor(CUTOFF), torch.tensor(1.0)).item()
    assert half(above) > 0
    assert half(LARGEST) == LARGEST
    assert math.log2(LARGEST / above) == pytest.approx(41, abs=0.01)


# ----------------------------------------------------------------------------- if a check fails


def test_the_mistakes_are_what_the_chapter_says(page: Page) -> None:
    def fits(scale: float, top: float, headroom: float = 1.0) -> bool:
        return Fraction(top) * Fraction(scale) * Fraction(headroom) <= 65504

    right, rounded = page.number("if-floor"), page.number("if-round")
    assert fits(right, 10.0)
    assert not fits(2 * right, 10.0)
    assert rounded == 2 * right
    assert half(page.number("if-round-product")) == INF
    edge = math.nextafter(65504 / 8, INF)
    assert math.log2(65504 / edge) == 3 == page.number("if-edge")
    assert not fits(8.0, edge)
    assert half(65510.0) == LARGEST
    assert torch.tensor([-10.0, 1.0]).max().item() == page.number("if-abs") == 1
    right = page.number("if-headroom-right")
    assert fits(right, 10.0, 4)
    assert not fits(2 * right, 10.0, 4)
    assert page.number("if-headroom-left") == 16 * right
    assert str(max(1.0, math.nan)) == page.shown["walk-max"] == "1.0"
    assert not math.nan >= 1
    with pytest.raises(ZeroDivisionError):
        65504 / 0  # noqa: B018
    assert page.shown["if-beyond"] == "2⁴⁵"
    assert fits(2.0**45, 1e-9)
    assert not fits(2.0**46, 1e-9)


# ---------------------------------------------------------------------------------- in your own run


def test_two_fp32_steps_find_whoever_sees_the_scale(page: Page) -> None:
    def gradients(scale: float, between: Callable[[Any], Any] = lambda model: None) -> Tensor:
        model = page["network"]()
        (functional.mse_loss(model(page["first_x"]), page["first_y"]) * scale).backward()
        between(model)
        return flat(parameter.grad / scale for parameter in model.parameters())

    assert torch.equal(gradients(1.0), gradients(1024.0))
    assert "equal: True" in page.printed
    for guilty in (
        lambda model: nn.utils.clip_grad_norm_(model.parameters(), 1.0),
        lambda model: [parameter.grad.add_(parameter, alpha=0.1) for parameter in model.parameters()],
        lambda model: [parameter.grad.clamp_(-0.01, 0.01) for parameter in model.parameters()],
    ):
        assert not torch.equal(gradients(1.0, guilty), gradients(1024.0, guilty))


def test_what_the_forward_pass_lost_no_scale_brings_back() -> None:
    def gradient(half: bool, scale: float) -> float:
        layer = nn.Linear(1, 1, bias=False)
        with torch.autocast("cpu", torch.float16, enabled=half):
            out = layer(torch.full((1, 1), 1e-9))
        (out.float().sum() * scale).backward()
        return layer.weight.grad.item() / scale

    assert [gradient(True, 1.0), gradient(True, 2.0**15)] == [0, 0]
    assert gradient(False, 1.0) == pytest.approx(1e-9)


# ------------------------------------------------------------------------------------- go further


def test_a_scaled_loss_may_exceed_fp16_if_it_is_fp32(page: Page) -> None:
    outputs = torch.ones(4096, dtype=torch.float16, requires_grad=True)
    loss = torch.amp.GradScaler("cpu").scale(outputs.float().mean() + 49)
    loss.backward()
    assert loss.item() == 50 * 65536 == page.number("more-loss") > LARGEST
    assert set(outputs.grad.tolist()) == {16.0}
    assert page.number("more-loss-grad") == 16
    assert page.shown["more-loss-half"] == page.shown["more-loss-half-grad"] == "inf"
    assert half(65536.0) == INF
    halves = torch.ones(4096, dtype=torch.float16, requires_grad=True)
    loss = (halves.mean() + 49) * 2048  # S fits into fp16, and S * L does not
    loss.backward()
    assert loss.item() == INF
    assert set(halves.grad.tolist()) == {0.5}


def test_a_scale_that_is_no_power_of_two_is_as_good_in_fp16(page: Page) -> None:
    wanted = flat(passed(page, 16)[1].values())
    off = {}
    for scale in (1000.0, 1024.0):
        found = flat(passed(page, 16, scale, half=True)[1].values()) / scale
        off[scale] = ((found - wanted).norm() / wanted.norm()).item()
        assert page.number(f"more-{scale:.0f}") == pytest.approx(off[scale], abs=2e-5)
    assert off[1000.0] == pytest.approx(off[1024.0], rel=0.2)


def test_two_scales_in_one_gradient_cannot_be_taken_apart(page: Page) -> None:
    assert page.number("more-mixed") == 8 * 3 + 2 * 5
    assert 3 + 5 not in (page.number("more-mixed-8"), page.number("more-mixed-2"))


def test_a_layer_may_have_a_scale_of_its_own() -> None:
    torch.manual_seed(0)
    first, second, x = nn.Linear(4, 4), nn.Linear(4, 1), torch.ones(2, 4)

    def gradients(scale: float) -> list[Tensor]:
        for layer in (first, second):
            layer.zero_grad()
        value = x.clone().requires_grad_()
        middle = first(value)
        middle.register_hook(lambda g: g * scale)
        value.register_hook(lambda g: g / scale)
        second(middle).sum().backward()
        return [first.weight.grad / scale, second.weight.grad, value.grad]

    assert all(torch.equal(a, b) for a, b in zip(gradients(1.0), gradients(256.0), strict=True))


def test_update_with_a_number_keeps_the_scale_static(page: Page) -> None:
    assert page["scales_kept"](2048.0) == ["2,048"] * 6
    assert page["scales_kept"]() == ["1,024", "512", "256", "256", "256", "256"]
    assert page.shown["more-dynamic"] == "256"


def test_a_sum_may_need_a_scale_below_one() -> None:
    def gradient(scale: float) -> float:
        layer = nn.Linear(1, 1, bias=False)
        nn.init.zeros_(layer.weight)
        with torch.autocast("cpu", torch.float16):
            out = layer(torch.ones(2**17, 1))
            loss = functional.mse_loss(out, torch.ones(2**17, 1), reduction="sum")
        (loss * scale).backward()
        return layer.weight.grad.item() / scale

    assert gradient(1.0) == -INF
    assert gradient(2.0**-3) == -(2.0**18)
