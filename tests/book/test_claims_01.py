"""The claims of chapter 1, "Sixteen bits", each put to PyTorch or exact arithmetic. book/claims/01.yml lists them."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import page_code
import pytest
import torch
from figures import bits, where_bits_go
from page_code import Page
from torch import Tensor

SMALLEST, CUTOFF, NORMAL, LARGEST = 2.0**-24, 2.0**-25, 2.0**-14, 65504.0
ALL = torch.arange(65536, dtype=torch.int32).to(torch.uint16).view(torch.float16)
"""Every fp16 number, at the place of its pattern, as PyTorch reads it."""
UP = ALL[:0x7C01].double()
"""The numbers without a sign in the order of their patterns, from zero to inf."""


@pytest.fixture(scope="module")
def page() -> Page:
    """Return what the chapter's own cells computed."""
    return page_code.run("01_sixteen_bits")


def half(value: float) -> float:
    """Return a number as fp32, rounded to fp16."""
    return torch.tensor(value).half().item()


def pattern(value: float) -> int:
    """Return the pattern of an fp16 number, by the standard library: it rounds a double once."""
    return int(struct.unpack("<H", struct.pack("<e", value))[0])


def test_the_prose_shows_what_the_cells_computed(page: Page) -> None:
    assert page_code.wanted(page) == set(page.shown)
    assert all(isinstance(value, str) and value for value in page.shown.values())


def test_the_recalled_numbers_are_right(page: Page) -> None:
    power, scale, error = page["outputs"], page.number("r1-scale"), page["silent"]
    assert error == 2.0**power * 2.0**-26 / scale
    assert page.number("r1-floor") == pytest.approx(error, rel=5e-3)
    assert half(2 * error / 2**power * scale) == page.number("r1-at") == 0
    assert half(2 * error * 1.01 / 2**power * scale) == SMALLEST
    weight = page.number("r1-weight")
    assert 0.25 < weight < 0.5
    assert abs(half(weight) - weight) < page.number("r1-most") == pytest.approx(2.0**-13, rel=0.05)
    assert page.number("r1-off") == pytest.approx(abs(half(weight) - weight), rel=0.05)
    tiny, factor = page["tiny"], page.number("r1-factor")
    assert tiny < CUTOFF
    assert page.number("r1-alone") == half(tiny) == 0
    assert page.number("r1-lifted") == pytest.approx(half(tiny * factor), rel=1e-3)
    assert half(tiny * factor) > 0


# ----------------------------------------------------------------- a pattern and its number


def test_the_formula_gives_every_normal_number() -> None:
    for p in range(65536):
        sign, exponent, fraction = p // 32768, p // 1024 % 32, p % 1024
        if 0 < exponent < 31:
            exact = (-1) ** sign * Fraction(2) ** (exponent - 15) * (1 + Fraction(fraction, 1024))
            assert Fraction(ALL[p].item()) == exact


def test_doubling_adds_one_to_the_exponent_and_keeps_the_fraction(page: Page) -> None:
    for p in range(0x400, 0x7800):
        assert UP[p + 0x400] == 2 * UP[p]
    assert "  2.0  0 10000 0000000000\n" in page.printed
    assert "  1.5  0 01111 1000000000\n 1.25  0 01111 0100000000\n-1.25  1 01111 0100000000\n" in page.printed


def test_no_number_of_finitely_many_bits_is_a_tenth_and_the_page_shows_the_nearest(page: Page) -> None:
    assert all(Fraction(value) != Fraction(1, 10) for value in UP[:-1].tolist())
    nearest = min(UP[:-1].tolist(), key=lambda value: abs(Fraction(value) - Fraction(1, 10)))
    assert page.number("tenth") == nearest
    denominator = Fraction(1, 10).denominator
    assert denominator & (denominator - 1)  # no power of two, so no sum of powers of two either


# ------------------------------------------------------------------------------- counting


def test_the_next_pattern_is_the_next_number_up_to_infinity() -> None:
    numbers = ALL[:0x7C00]
    following = torch.nextafter(numbers, torch.tensor(math.inf).half())
    assert torch.equal(following, ALL[1:0x7C01])
    assert ALL[0x7BFF].item() == LARGEST
    assert ALL[0x7C00].item() == math.inf
    assert (UP.diff() > 0).all()


def test_each_binade_has_as_many_patterns_and_half_of_all_numbers_lie_below_1(page: Page) -> None:
    assert pattern(2.0) - pattern(1.0) == pattern(2048.0) - pattern(1024.0) == 1024
    finite = ALL[ALL.isfinite()].double()
    share = (finite.abs() < 1).double().mean().item()
    assert page.number("share-below-1") == round(share, 2)
    assert page.number("more-below") == (UP < 1).sum().item()
    assert page.number("more-between") == ((UP >= 1) & (UP < 2)).sum().item()


def test_equal_steps_of_the_pattern_are_nearly_equal_factors() -> None:
    logs = UP[0x400:0x7C00].log2()
    straight = (torch.arange(0x400, 0x7C00).double() - 15 * 1024) / 1024
    assert (logs - straight).abs().max() < 0.09


# ----------------------------------------------------------------------------------- gaps


def test_the_gap_doubles_with_each_power_of_two_down_to_2_to_the_minus_13() -> None:
    gaps = UP[:0x7C00].diff()
    for exponent in range(-13, 15):
        start = pattern(2.0**exponent)
        assert set(gaps[start : start + 1024].tolist()) == {2.0 ** (exponent - 10)}
    assert set(gaps[: pattern(2.0**-13)].tolist()) == {SMALLEST}


def test_2049_is_no_fp16_number_and_odd_numbers_end_at_2048() -> None:
    assert [half(float(x)) for x in range(2046, 2053)] == [2046, 2047, 2048, 2048, 2050, 2052, 2052]
    whole = torch.arange(2049.0)
    assert torch.equal(whole.half().float(), whole)
    odd = torch.arange(2049.0, 65504.0, 2.0)
    assert (odd.half().float() != odd).all()
    by_four = UP[(UP >= 4096) & (UP < 8192)]
    assert set(by_four.diff().tolist()) == {4}


# ------------------------------------------------------------------------------- rounding


def test_every_number_goes_to_its_nearest_neighbor_and_every_tie_to_the_even_one() -> None:
    numbers = UP[:0x7C00]
    ties = ((numbers[1:] + numbers[:-1]) / 2).float()  # exact: one bit more than fp16 has
    even = torch.where(torch.arange(len(ties)) % 2 == 0, numbers[:-1], numbers[1:])
    assert torch.equal(ties.half().double(), even)
    below, above = torch.nextafter(ties, torch.tensor(0.0)), torch.nextafter(ties, torch.tensor(math.inf))
    assert torch.equal(below.half().double(), numbers[:-1])
    assert torch.equal(above.half().double(), numbers[1:])


def test_ties_to_even_have_no_bias_and_ties_upward_have() -> None:
    errors = [Fraction(half(float(odd))) - odd for odd in range(2049, 4096, 2)]
    assert sum(errors) == 0
    assert errors.count(Fraction(1)) == errors.count(Fraction(-1)) == 512
    upward = [math.ceil(Fraction(odd, 2)) * 2 - odd for odd in range(2049, 4096, 2)]
    assert set(upward) == {1}


def test_overflow_begins_at_65520() -> None:
    below = torch.nextafter(torch.tensor(65520.0), torch.tensor(0.0)).item()
    assert [half(x) for x in (65504.0, 65505.0, 65519.99, below)] == [LARGEST] * 4
    assert [half(x) for x in (65520.0, 65536.0, 81920.0)] == [math.inf] * 3
    assert half(40960.0) == 40960
    assert pattern(LARGEST) & 1 == 1
    assert (LARGEST + 65536) / 2 == 65520


def test_pytorch_rounds_a_python_float_twice_and_numpy_once(page: Page) -> None:
    x = 2049.00001
    assert torch.tensor(x, dtype=torch.float16).item() == 2048  # as of torch 2.13
    assert torch.tensor(x).item() == 2049
    assert float(np.float16(x)) == struct.unpack("<e", struct.pack("<e", x))[0] == 2050
    assert "NumPy:   2050.0\nPyTorch: 2048.0\nin fp32: 2049.0\n" in page.printed
    # so what is said of overflow holds for fp32 numbers, and for no others
    assert torch.tensor(65519.999, dtype=torch.float16).item() == math.inf
    assert float(np.float16(65519.999)) == LARGEST


# ----------------------------------------------------------------------------- subnormals


def test_field_0_holds_the_multiples_of_2_to_the_minus_24() -> None:
    assert torch.equal(UP[:1025], torch.arange(1025).double() * SMALLEST)
    assert UP[1024] == NORMAL


def test_a_subnormal_number_has_the_bits_from_its_first_one_on() -> None:
    counts = [pattern(2.0 ** (e + 1)) - pattern(2.0**e) for e in range(-24, -13)]
    assert counts == [2**k for k in range(10)] + [1024]
    assert counts[9] == 512  # of 1,023, about a half, with ten bits; a quarter with nine
    assert counts[8] == 256


def test_3e_8_survives_and_1e_8_does_not() -> None:
    assert [half(x) for x in (1e-8, CUTOFF, 3e-8, 6e-8, 9e-8)] == [0, 0, SMALLEST, SMALLEST, 2 * SMALLEST]
    assert half(math.nextafter(CUTOFF, 1) * (1 + 2**-20)) == SMALLEST


def test_the_traveler_times_16384_is_normal_and_comes_back_0_0283_percent_off(page: Page) -> None:
    stored = half(1e-8 * 16384)
    assert stored == 0.00016379356384277344 == page.number("traveler")
    back = Fraction(stored) / 16384
    assert page.number("traveler-back") == pytest.approx(float(back), rel=1e-8)
    assert float(1 - back / Fraction("1e-8")) == pytest.approx(2.83e-4, abs=1e-6)
    assert page.number("traveler-off") == pytest.approx(2.83e-4, abs=1e-6)
    assert half(1e-8 * 1024) < NORMAL < stored
    assert page.number("third") == pytest.approx(1e-8 / SMALLEST, abs=5e-3)
    assert page.number("half") == pytest.approx(3e-8 / SMALLEST, abs=5e-4)


def test_without_subnormal_numbers_the_cut_off_would_be_1024_times_higher(page: Page) -> None:
    assert NORMAL / 2 / CUTOFF == page.number("more-times") == 1024
    assert NORMAL / CUTOFF == 2 * 1024  # flushing takes all that is below the smallest normal number


def test_the_difference_of_two_fp16_numbers_is_zero_only_if_they_are_equal() -> None:
    numbers = ALL[:0x7C00]
    assert (numbers[1:] - numbers[:-1] > 0).all()  # the closest pairs; all others are farther apart
    assert UP[:0x7C00].diff().min() == SMALLEST


# ---------------------------------------------------------------------- the special patterns


def test_the_patterns_are_counted_by_their_kind(page: Page) -> None:
    finite = ALL.isfinite()
    size = ALL.double().abs()
    true = {
        "zero": size == 0,
        "subnormal": (size > 0) & (size < NORMAL),
        "normal": finite & (size >= NORMAL),
        "inf": ALL.isinf(),
        "nan": ALL.isnan(),
    }
    for kind, where in true.items():
        assert torch.equal(page["kinds"][kind], where)
    assert [int(where.sum()) for where in true.values()] == [2, 2046, 61440, 2, 2046]


def test_the_two_zeros_are_equal_and_differ_and_a_nan_equals_nothing(page: Page) -> None:
    zero, minus = torch.tensor([0.0, -0.0]).half()
    assert zero == minus
    assert (1 / zero).item() == math.inf
    assert (1 / minus).item() == -math.inf
    assert math.copysign(1, half(-1e-8)) == -1
    assert half(-1e-8) == 0
    nans = ALL[ALL.isnan()]
    assert (nans != nans).all()
    assert "their bits:  0 32768\n" in page.printed


def test_sums_products_and_quotients_are_exact_and_rounded_as_if_once() -> None:
    draw = torch.Generator().manual_seed(0)
    picks = torch.randint(0, 0x7C00, (2, 400_000), generator=draw)
    signs = torch.randint(0, 2, (2, 400_000), generator=draw) * 0x8000
    a, b = (ALL[(p + s).tolist()] for p, s in zip(picks, signs, strict=True))
    wide = [value.double().numpy() for value in (a, b)]
    with np.errstate(all="ignore"):
        exact = (wide[0] + wide[1], wide[0] - wide[1], wide[0] * wide[1], wide[0] / wide[1])
        for got, true in zip((a + b, a - b, a * b, a / b), exact, strict=True):
            assert np.array_equal(got.numpy(), true.astype(np.float16), equal_nan=True)


def test_a_tenth_and_a_fifth_are_a_tie_in_fp16() -> None:
    a, b, c = torch.tensor([0.1, 0.2, 0.3]).half()
    exact = Fraction(a.item()) + Fraction(b.item())
    below = ALL[pattern(c.item()) - 1].item()
    assert exact == (Fraction(below) + Fraction(c.item())) / 2
    assert (a + b).item() == below < c.item()
    assert pattern(below) % 2 == 0
    assert abs(Fraction(c.item()) - Fraction(3, 10)) < abs(Fraction(below) - Fraction(3, 10))


@pytest.mark.parametrize(
    ("dtype", "equal"),
    [(torch.float64, False), (torch.float32, True), (torch.float16, False), (torch.bfloat16, True)],
)
def test_equality_is_no_measure_of_precision(dtype: torch.dtype, equal: bool) -> None:
    a, b, c = torch.tensor([0.1, 0.2, 0.3], dtype=dtype)
    assert bool(a + b == c) is equal


# -------------------------------------------------------------------------------- formats


def numbers_of(dtype: torch.dtype) -> Tensor:
    """Return every number of an 8- or 16-bit dtype by its pattern, in fp64."""
    if torch.finfo(dtype).bits == 8:
        return torch.arange(256, dtype=torch.int32).to(torch.uint8).view(dtype).double()
    return torch.arange(65536, dtype=torch.int32).to(torch.uint16).view(dtype).double()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_the_table_is_what_all_patterns_of_a_dtype_say(page: Page, name: str) -> None:
    dtype, shape = getattr(torch, name), bits.FORMATS[name]
    numbers = numbers_of(dtype)
    finite = numbers[numbers.isfinite()]
    positive = finite[finite > 0].sort().values
    assert positive[-1].item() == bits.decode(shape.largest, shape)
    assert positive[0].item() == bits.decode(1, shape)
    assert torch.finfo(dtype).tiny == bits.decode(1 << shape.fraction, shape)
    one = positive.tolist().index(1.0)
    gap = (positive[one + 1] - 1).item()
    assert gap == torch.finfo(dtype).eps == 2.0**-shape.fraction
    short = next(key for key, given in where_bits_go.SHOWN.items() if given == name).removeprefix("fp8 ")
    largest, *powers, digits = table(page)[short]
    assert powers == [torch.finfo(dtype).tiny, positive[0].item(), gap]
    assert largest == pytest.approx(positive[-1].item(), rel=1e-2 if name == "bfloat16" else 0)
    assert digits == pytest.approx(math.log10(2 / gap), abs=0.05)


def test_the_table_is_right_about_fp32_and_tf32(page: Page) -> None:
    info = torch.finfo(torch.float32)
    rows = table(page)
    smallest = torch.tensor(1, dtype=torch.int32).view(torch.float32).item()
    assert rows["fp32"][1:4] == [info.tiny, smallest, info.eps]
    assert [rows["fp32"][0], rows["fp32"][4]] == pytest.approx([info.max, math.log10(2**24)], rel=1e-2)
    # fp32 with the last 13 of 23 fraction bits always zero: one sign bit, 8 exponent bits, 10 fraction bits
    last = torch.tensor(1 << 13, dtype=torch.int32).view(torch.float32).item()
    top = torch.tensor(0x7F7FE000, dtype=torch.int32).view(torch.float32).item()
    assert rows["tf32"][1:4] == [info.tiny, last, 2.0**-10]
    assert [rows["tf32"][0], rows["tf32"][4]] == pytest.approx([top, math.log10(2**11)], rel=1e-2)
    assert not any(
        "tf32" in name or "tfloat" in name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype)
    )


def table(page: Page) -> dict[str, list[float]]:
    """Return the printed table of formats: largest, smallest normal and subnormal number, gap after 1, digits."""
    lines = page.printed.splitlines()
    first = next(i for i, line in enumerate(lines) if line.split()[:1] == ["largest"])
    rows = [line.split() for line in lines[first + 1 : first + 7]]
    return {
        name: [2.0 ** int(cell[2:]) if cell.startswith("2^") else float(cell) for cell in cells]
        for name, *cells in rows
    }


def test_pytorch_s_limits_agree_with_the_helper(page: Page) -> None:
    assert page.printed.count("as PyTorch says: True") == 5
    assert "as PyTorch says: False" not in page.printed


def test_bf16_is_the_upper_half_of_fp32_and_e5m2_that_of_fp16() -> None:
    brain = numbers_of(torch.bfloat16)
    upper = (torch.arange(65536, dtype=torch.int64) << 16).to(torch.uint32).view(torch.float32).double()
    assert torch.equal(brain.nan_to_num(1.5e300), upper.nan_to_num(1.5e300))
    eight = numbers_of(torch.float8_e5m2)
    assert torch.equal(eight.nan_to_num(1.5e300), ALL[::256].double().nan_to_num(1.5e300))


def test_e4m3_has_no_infinity_and_one_nan_a_sign(page: Page) -> None:
    numbers = numbers_of(torch.float8_e4m3fn)
    assert not numbers.isinf().any()
    assert numbers.isnan().nonzero().flatten().tolist() == [0x7F, 0xFF]
    assert numbers[0x7E] == 448
    # by the standard's rules the exponent field of ones holds no numbers
    assert page.number("more-240") == numbers[0x77].item() == 240


def test_formats_with_8_exponent_bits_keep_1e_8_and_the_others_lose_it() -> None:
    number = torch.tensor(1e-8)
    assert number.bfloat16().item() == pytest.approx(1e-8, rel=2.0**-8)
    assert number.item() != number.bfloat16().item()
    tf32 = bits.decode(bits.encode(1e-8, bits.FORMATS["tfloat32"]), bits.FORMATS["tfloat32"])
    assert 0 < abs(tf32 - 1e-8) < 1e-8 * 2.0**-11
    for dtype in (torch.float16, torch.float8_e5m2, torch.float8_e4m3fn):
        assert number.to(dtype).float().item() == 0


def test_bf16_is_8_times_as_coarse_above_2_to_the_minus_14_and_finer_below_2_to_the_minus_17() -> None:
    brain = numbers_of(torch.bfloat16)[:0x7F80]

    def gap(numbers: Tensor, exponent: int) -> float:
        first = numbers.tolist().index(2.0**exponent)
        return (numbers[first + 1] - numbers[first]).item()

    assert all(gap(brain, e) == 8 * gap(UP, e) for e in range(-14, 15))
    assert gap(brain, -17) == gap(UP, -17)
    assert all(gap(brain, e) < gap(UP, e) for e in range(-24, -17))
    assert all(gap(brain, e) > gap(UP, e) for e in range(-16, -13))
    assert f"{2.0**-17:.0e}" == "8e-06"
    x = torch.tensor(1e-6)
    assert abs(x.bfloat16().float() - x) < abs(x.half().float() - x)
    x = torch.tensor(1e-2)
    assert abs(x.bfloat16().float() - x) > abs(x.half().float() - x)


def test_a_bit_of_exponent_squares_the_largest_number_and_a_bit_of_fraction_halves_the_gaps() -> None:
    for exponent in range(4, 8):
        narrow, wide = (bits.Format("", e, 7) for e in (exponent, exponent + 1))
        largest = [bits.decode(fmt.largest, fmt) for fmt in (narrow, wide)]
        assert math.log2(largest[1]) / math.log2(largest[0]) == pytest.approx(2, rel=1e-3)
    for fraction in range(2, 10):
        coarse, fine = (bits.Format("", 5, f) for f in (fraction, fraction + 1))
        assert bits.decode(bits.encode(1.0, coarse) + 1, coarse) - 1 == 2 * (
            bits.decode(bits.encode(1.0, fine) + 1, fine) - 1
        )


# --------------------------------------------------------------- mistakes, and your own run


def test_the_mistakes_give_what_the_page_says(page: Page) -> None:
    p = pattern(0.1)
    assert page.number("if-precedence") == p & (0x7C00 >> 10)
    assert page.number("if-field") == p >> 10 & 31 == 11
    assert page.number("if-bias-16") == 2.0 ** (15 - 16)
    assert page.number("if-no-one") == pytest.approx(ALL[p].item() - 2.0**-4, rel=1e-5)
    assert page.number("if-two-to-14") == pytest.approx(1023 * 2.0**-25, rel=1e-4)
    assert page.number("if-true-14") == pytest.approx(ALL[1023].item(), rel=1e-4)
    assert page.number("if-led") == pytest.approx(NORMAL * 1025 / 1024, rel=1e-4)
    assert page.number("if-one") == pytest.approx(SMALLEST, rel=1e-4)
    assert page.number("if-31") == 2**16
    assert (page.shown["if-int-zero"], page.shown["if-float-zero"]) == ("0", "-0.0")
    assert page.shown["if-bool"] == "True"
    assert (page.number("if-half-up"), page.number("if-round")) == (3, 2)
    assert page.shown["if-minus"] == "False"
    assert (page.number("if-log"), page.number("if-frexp")) == (-10, -11)
    assert page.shown["if-int-inf"].startswith("OverflowError: ")
    with pytest.raises(ValueError, match="NaN"):
        round(math.nan)
    # a carry that is put into the pattern with |: lost where the exponent's last bit is on, and half as large
    assert [(e << 10 | 1024) - (e << 10) for e in (14, 15)] == [1024, 0]


@pytest.mark.parametrize(("dtype", "end"), [(torch.float16, 2048), (torch.bfloat16, 256)])
def test_a_count_stops(dtype: torch.dtype, end: int) -> None:
    count = torch.zeros((), dtype=dtype)
    for _ in range(end + 10):
        count = count + 1
    assert count.item() == end


def test_fp32_stops_counting_too() -> None:
    last = torch.tensor(2.0**24)
    assert (last - 1) + 1 == last == last + 1


def test_positions_coincide_and_a_decay_becomes_1(page: Page) -> None:
    places = range(int(page.number("see-places-of")))
    assert page.number("see-places-half") == len({float(np.float16(place)) for place in places})
    assert page.number("see-places") == len({torch.tensor(float(place)).bfloat16().item() for place in places})
    assert page.number("see-999") == torch.tensor(0.999).bfloat16().item() == 1
    decay = torch.tensor(0.999).bfloat16()
    assert 1 - decay == 0
    average, ones = torch.zeros((), dtype=torch.bfloat16), torch.ones((), dtype=torch.bfloat16)
    assert decay * average + (1 - decay) * ones == average
    for _ in range(3000):
        average = 0.999 * average + (1 - 0.999) * ones
    assert page.number("see-stuck") == average.item() == 0.5 == (0.999 * average + (1 - 0.999) * ones).item()


def test_the_grid_tells_what_a_tensor_has_been_through(page: Page) -> None:
    grid: Any = page["grid"]
    x = torch.randn(1000, generator=torch.Generator().manual_seed(3))
    assert grid(x) == []
    assert grid(x.half().float()) == ["torch.float16"]
    assert grid(x.bfloat16().float()) == ["torch.float16", "torch.bfloat16"]
    assert grid((x * 1e-6).bfloat16().float()) == ["torch.bfloat16"]
    assert grid(x.to(torch.float8_e5m2).float())[0] == "torch.float8_e5m2"


def test_each_format_counts_to_two_to_its_precision(page: Page) -> None:
    counts = page.shown["more-counts"]
    for name, dtype in (
        ("fp16", torch.float16),
        ("bf16", torch.bfloat16),
        ("fp8 E5M2", torch.float8_e5m2),
        ("fp8 E4M3", torch.float8_e4m3fn),
    ):
        whole = torch.arange(5000.0)
        missing = int((whole.to(dtype).float() != whole).nonzero()[0])
        assert f"{name} {missing - 1:,}" in counts
    assert f"fp32 {2**24:,}" in counts
    assert torch.tensor(2.0**24) + 1 == 2.0**24


def test_e4m3_saturates_and_e5m2_makes_inf(page: Page) -> None:
    huge = torch.tensor([465.0, 1e9, math.inf])  # as of torch 2.13, on the CPU
    assert huge.to(torch.float8_e4m3fn).float().tolist() == [448, 448, 448]
    assert huge.to(torch.float8_e5m2).float().tolist() == [448, math.inf, math.inf]
    assert page.shown["more-e4m3"] == "448, 448, 448"
    assert page.shown["more-e5m2"] == "448, inf, inf"


def test_in_twos_complement_a_half_would_come_after_one() -> None:
    def signed(exponent: int) -> int:
        return (exponent & 31) << 10

    assert signed(-1) > signed(0)
    assert pattern(0.5) < pattern(1.0)


# ---------------------------------------------------------------------------- tried in the bit explorer


def test_a_flipped_bit_does_what_the_page_says(page: Page) -> None:
    assert number_of(pattern(1.75) ^ 0b1_11110_0000000000) == -7
    assert page.number("try-flips") == (0b11110).bit_count()
    assert page.number("try-exponent") == math.log2(7 / 1.75)
    assert page.number("try-half") == number_of(pattern(1.0) ^ 512) - 1
    assert page.number("try-512") == abs(number_of(pattern(-1024.0) ^ 512)) - 1024
    said = [float(factor.replace(",", "")) for factor in page.shown["try-factors"].split(", ")]
    for place, factor in enumerate(said):
        bit = 1 << 10 + place
        assert number_of(pattern(10.0) ^ bit) == (10 / factor if pattern(10.0) & bit else 10 * factor)
    assert len(said) == 5


def number_of(bits: int) -> float:
    """Return the number of an fp16 pattern, as PyTorch reads it."""
    return ALL[bits].item()


def test_one_step_of_fp32_beyond_the_cut_off_is_doubled_and_the_gap_does_not_change_at_the_normal_numbers() -> None:
    after = torch.nextafter(torch.tensor(CUTOFF), torch.tensor(1.0))
    assert after.item() == CUTOFF + 2.0**-48
    assert half(CUTOFF) == 0
    assert half(after.item()) == SMALLEST
    assert SMALLEST / after.item() == pytest.approx(2)
    assert (pattern(NORMAL) ^ pattern(NORMAL) - 1).bit_count() == 11
    assert NORMAL - number_of(pattern(NORMAL) - 1) == number_of(pattern(NORMAL) + 1) - NORMAL == SMALLEST
    assert number_of(1) - number_of(0) == SMALLEST


def test_seventy_thousand_in_each_format_and_the_first_whole_number_that_is_missing(page: Page) -> None:
    names = {"bf16": torch.bfloat16, "fp16": torch.float16, "E5M2": torch.float8_e5m2, "E4M3": torch.float8_e4m3fn}
    kept = {name: torch.tensor(70000.0).to(dtype).float().item() for name, dtype in names.items()}
    assert page.shown["try-exact"] == "fp32"
    assert torch.tensor(70000.0).item() == 70000
    # tf32 has eleven bits: from 65,536 on the multiples of 64.
    assert page.number("try-tf32") == min(range(65536, 131072, 64), key=lambda n: abs(n - 70000)) != 70000
    assert page.number("try-bf16") == kept["bf16"] != 70000
    assert {name for name, value in kept.items() if value == math.inf} == set(page.shown["try-inf"].split(" and "))
    assert page.number("try-e4m3") == kept["E4M3"]
    for name, dtype in (("bf16", torch.bfloat16), ("e5m2", torch.float8_e5m2)):
        first = int(page.number(f"try-first-{name}"))
        whole = torch.arange(first + 1.0)
        assert (whole.to(dtype).float() == whole).tolist() == [True] * first + [False]
