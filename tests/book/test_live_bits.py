"""Does the bit explorer of chapter 1 compute what Python and PyTorch compute, and can everybody play with it?"""

from __future__ import annotations

import base64
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from axe_core_python.sync_playwright import Axe
from course_book import esbuild
from course_book.live import SOURCES
from figures import bits, explorer
from figures.bits import FORMATS, Format
from reading import PAGE, PHONE, until

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.needs("chromium")
ALL = [explorer._described(fmt, ()) for fmt in FORMATS.values()]
"""Each format as the page's script gets it."""
EACH = pytest.mark.parametrize("shape", ALL, ids=[shape["name"] for shape in ALL])
SHORT = pytest.mark.parametrize(
    "shape", [shape for shape in ALL if shape["width"] <= 16], ids=[s["name"] for s in ALL if s["width"] <= 16]
)
STORED = [shape for shape in ALL if shape["torch"]]
RAW = {8: torch.uint8, 16: torch.uint16, 32: torch.uint32}


# ------------------------------------------------------------------------------------ the arithmetic, without a page


def whole(text: str) -> int | float:
    """Return a whole number of JSON; JavaScript writes a large one in as many digits as tell the float."""
    return int(text) if len(text) < 16 else float(text)


@pytest.fixture(scope="module")
def script(browser: Any, site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """Return a function that evaluates an expression over the explorer's modules: N computes, W says."""
    page = browser.new_page()
    for name, module in (("N", "bits_numbers"), ("W", "bits_words")):
        path, _ = esbuild.bundled(SOURCES / f"{module}.js", ROOT / esbuild.MODULES, tmp_path_factory.mktemp(module))
        source = base64.b64encode(path.read_bytes()).decode()
        page.evaluate(f"async () => {{ globalThis.{name} = await import('data:text/javascript;base64,{source}') }}")

    def run(expression: str, shape: Any = None, given: Any = None) -> Any:
        """Evaluate it with f, the format, and g, what is given, as JSON carries it: it has no inf, no nan and no -0."""
        written = page.evaluate(f"([f, g]) => JSON.stringify({expression})", [shape, given])
        return json.loads(written, parse_int=whole)

    yield run
    page.close()


def floats(values: Any) -> str:
    """Return float64 numbers as a text that keeps each bit of them."""
    return base64.b64encode(np.asarray(values, dtype="<f8").tobytes()).decode()


# The other way round, and back, in the page.
GIVEN = "new Float64Array(Uint8Array.from(atob(g), c => c.charCodeAt(0)).buffer)"
BACK = """(all => { const b = new Uint8Array(Float64Array.from(all).buffer); let s = '';
    for (let i = 0; i < b.length; i += 8192) s += String.fromCharCode(...b.subarray(i, i + 8192)); return btoa(s) })"""


def numbers(text: str) -> Any:
    return np.frombuffer(base64.b64decode(text), dtype="<f8")


def same(ours: Any, true: Any) -> bool:
    """Return whether two arrays of float64 hold the same numbers, signs of zeros included; a nan is a nan."""
    ours, true = np.asarray(ours, dtype=np.float64), np.asarray(true, dtype=np.float64)
    known = ~np.isnan(true)
    if ours.shape != true.shape or (np.isnan(ours) == known).any():
        return False
    return bool((ours[known].view(np.int64) == true[known].view(np.int64)).all())


def patterns(shape: dict[str, Any], count: int = 20_000) -> list[int]:
    """Return all patterns of a short format, and of a long one the edges and many at random."""
    width = shape["width"]
    if width <= 16:
        return list(range(1 << width))
    draw = random.Random(width)
    marks = [0, 1, 1 << shape["fraction"], shape["infinity"], shape["largest"], (1 << width - 1) - 1]
    edges = {mark + off for mark in marks for off in (-1, 0, 1)}
    edges |= {(1 << width - 1) + edge for edge in edges}
    inside = [edge for edge in edges if 0 <= edge < 1 << width]
    return [*inside, *(draw.getrandbits(width) for _ in range(count))]


def asked(fmt: Format, count: int, seed: int = 0) -> list[float]:
    """Return float64 numbers to round: any, those of the format's size, its ties, and the floats next to ties."""
    draw = random.Random(f"{fmt.name} {seed}")
    found = [
        0.0,
        -0.0,
        math.inf,
        -math.inf,
        math.nan,
        5e-324,
        -5e-324,
        1.7976931348623157e308,
        1e-8,
        65519.99,
        2049.00001,
    ]
    largest = bits.decode(fmt.largest, fmt)
    found += [largest * factor for factor in (1, 1.0001, 1.5, 2, -1, -2)]
    while len(found) < count:
        kind = len(found) % 4
        if kind == 0:
            raw = np.array([draw.getrandbits(64)], dtype=np.uint64)
            found.append(float(raw.view(np.float64)[0]))
            continue
        low, high = 1 - fmt.bias - fmt.fraction - 3, fmt.bias + 3
        if kind == 1:
            found.append(math.ldexp(draw.uniform(-2, 2), draw.randint(low, high)))
            continue
        pattern = draw.randrange(fmt.largest)
        tie = (bits.decode(pattern, fmt) + bits.decode(pattern + 1, fmt)) / 2
        sign = draw.choice((-1, 1))
        found.append(sign * (tie if kind == 2 else math.nextafter(tie, draw.choice((0.0, math.inf)))))
    return found


@SHORT
def test_every_pattern_of_8_and_16_bits_is_read_as_python_and_torch_read_it(script: Any, shape: Any) -> None:
    fmt, width = FORMATS[shape["name"]], shape["width"]
    ours = numbers(script(f"{BACK}(g.map(p => N.decode(p, f)))", shape, patterns(shape)))
    assert same(ours, [bits.decode(pattern, fmt) for pattern in range(1 << width)])
    raw = torch.arange(1 << width, dtype=torch.int32).to(RAW[width])
    assert same(ours, raw.view(getattr(torch, shape["name"])).double().numpy())


@pytest.mark.parametrize("name", ["float32", "tfloat32"])
def test_patterns_of_more_than_16_bits_are_read_as_python_reads_them(script: Any, name: str) -> None:
    shape = next(shape for shape in ALL if shape["name"] == name)
    chosen = patterns(shape)
    ours = numbers(script(f"{BACK}(g.map(p => N.decode(p, f)))", shape, chosen))
    assert same(ours, [bits.decode(pattern, FORMATS[name]) for pattern in chosen])


@EACH
def test_kind_and_sum_of_every_pattern_are_those_of_the_still_figure(script: Any, shape: Any) -> None:
    fmt = FORMATS[shape["name"]]
    chosen = patterns(shape, 5000)
    ours = script("g.map(p => [N.kind(p, f), N.terms(p, f)])", shape, chosen)
    wrong = [
        p
        for p, (kind, terms) in zip(chosen, ours, strict=True)
        if kind != bits.kind(p, fmt) or terms != bits.terms(p, fmt)
    ]
    assert wrong == []


@EACH
def test_precision_is_counted_from_the_first_one_on(script: Any, shape: Any) -> None:
    chosen = [p for p in patterns(shape, 5000) if bits.kind(p, FORMATS[shape["name"]]) not in ("inf", "nan")]
    unit = 1 << shape["fraction"]
    fields = [(p & (1 << shape["width"] - 1) - 1) for p in chosen]
    assert script("g.map(p => N.precision(p, f))", shape, chosen) == [
        (p % unit + (unit if p >= unit else 0)).bit_length() for p in fields
    ]


@EACH
def test_flipping_a_bit_is_exclusive_or(script: Any, shape: Any) -> None:
    chosen = patterns(shape, 300)[:: 1 if shape["width"] > 16 else 7]
    ours = script("g.map(p => Array.from({length: f.width}, (_, n) => [N.bit(p, n), N.flip(p, n)]))", shape, chosen)
    for pattern, pairs in zip(chosen, ours, strict=True):
        assert pairs == [[pattern >> n & 1, pattern ^ 1 << n] for n in range(shape["width"])]


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("up", [True, False])
def test_the_next_number_is_that_of_torch_nextafter(script: Any, name: str, up: bool) -> None:
    shape = next(shape for shape in ALL if shape["name"] == name)
    chosen = patterns(shape)
    dtype, raw = getattr(torch, name), RAW[shape["width"]]
    here = torch.tensor(chosen, dtype=torch.int64).to(raw).view(dtype)
    true = torch.nextafter(here, torch.full_like(here, math.inf if up else -math.inf))
    ours = script(f"g.map(p => N.step(p, f, {json.dumps(up)}))", shape, chosen)
    for pattern, value, now, after in zip(chosen, ours, here.double().tolist(), true.double().tolist(), strict=True):
        if math.isnan(now) or now == after:
            assert value is None, pattern
        else:
            mine = bits.decode(value, FORMATS[name])
            assert (mine, math.copysign(1, mine)) == (after, math.copysign(1, after)), pattern


@SHORT
def test_one_step_up_is_the_next_of_all_numbers_in_order(script: Any, shape: Any) -> None:
    fmt = FORMATS[shape["name"]]
    values = {p: bits.decode(p, fmt) for p in patterns(shape)}
    order = sorted({value for value in values.values() if not math.isnan(value)})
    after = dict(zip(order, [*order[1:], None], strict=True))
    ups = script("g.map(p => N.step(p, f, true))", shape, list(values))
    for (pattern, value), up in zip(values.items(), ups, strict=True):
        if math.isnan(value) or after[value] is None:
            assert up is None, pattern
        else:
            assert values[up] == after[value], pattern


@EACH
def test_gaps_are_the_distances_to_the_numbers_beside(script: Any, shape: Any) -> None:
    fmt = FORMATS[shape["name"]]
    half = 1 << shape["width"] - 1
    chosen = [p for p in patterns(shape, 5000) if math.isfinite(bits.decode(p, fmt))]
    for pattern, gaps in zip(chosen, script("g.map(p => N.gaps(p, f))", shape, chosen), strict=True):
        size = pattern % half
        outward = (
            Fraction(bits.decode(size + 1, fmt)) - Fraction(bits.decode(size, fmt)) if size < fmt.largest else None
        )
        inward = Fraction(bits.decode(size, fmt)) - Fraction(bits.decode(size - 1, fmt)) if size else outward
        below, above = (outward, inward) if pattern >= half else (inward, outward)
        assert [gaps["below"], gaps["above"]] == [below, above], pattern


@EACH
def test_100_000_numbers_are_rounded_as_python_and_torch_round_them(script: Any, shape: Any) -> None:
    fmt, values = FORMATS[shape["name"]], asked(FORMATS[shape["name"]], 100_000)
    once = script(f"Array.from({GIVEN}, v => N.encode(v, f))", shape, floats(values))
    wrong = [v for v, p in zip(values, once, strict=True) if p != bits.encode(v, fmt) and not math.isnan(v)]
    assert wrong == []
    assert all(math.isnan(bits.decode(p, fmt)) for v, p in zip(values, once, strict=True) if math.isnan(v))
    if not shape["torch"]:
        return
    twice = script(f"Array.from({GIVEN}, v => N.encodeAsTorch(v, f))", shape, floats(values))
    true = torch.tensor(values, dtype=torch.float64).to(getattr(torch, shape["name"])).double().numpy()
    assert same([bits.decode(pattern, fmt) for pattern in twice], true)
    if shape["name"] != "float32":
        assert once != twice, "no number among them that is rounded twice"


@EACH
def test_what_became_of_a_number_is_exact(script: Any, shape: Any) -> None:
    fmt = FORMATS[shape["name"]]
    values = [value for value in asked(fmt, 4000, seed=1) if math.isfinite(value) and value]
    ours = script(f"Array.from({GIVEN}, v => N.became(v, N.encode(v, f), f))", shape, floats(values))
    seen = set()
    for value, became in zip(values, ours, strict=True):
        pattern = bits.encode(value, fmt)
        stored, most = bits.decode(pattern, fmt), bits.decode(fmt.largest, fmt)
        if math.isinf(stored):
            expected = "inf"
        elif stored == value:
            expected = "exact"
        elif stored == 0:
            expected = "zero"
        else:
            expected = "saturated" if abs(value) > most and not fmt.infinite else "rounded"
        assert became["outcome"] == expected, value
        seen.add(expected)
        if expected == "inf":
            continue
        error = Fraction(stored) - Fraction(value)
        # Only what is far too large has an error that is no float.
        assert Fraction(became["error"]) == (error if expected != "saturated" else Fraction(float(error))), value
        assert became["relative"] == pytest.approx(float(abs(error / Fraction(value))), rel=1e-12)
        size = bits.encode(abs(value), fmt)
        beside = [bits.decode(p, fmt) for p in (size - 1, size + 1) if 0 <= p <= fmt.largest]
        ties = [n for n in beside if error and abs(Fraction(n) - Fraction(abs(value))) == abs(error)]
        tie = became["tie"]
        assert (abs(tie) if tie is not None else None) == (ties[0] if ties else None), value
    assert seen == {"exact", "zero", "rounded", "inf" if fmt.infinite else "saturated"}


# ------------------------------------------------------------------------------------------ what is typed and written


def test_a_number_is_written_as_python_writes_it(script: Any) -> None:
    values = [*asked(FORMATS["float16"], 40_000, seed=2), *asked(FORMATS["float32"], 40_000, seed=3)]
    values += [float(f"{sign}1e{n}") * factor for n in range(-310, 309) for sign in "-+" for factor in (1, 1.5, 9.999)]
    ours = script(f"Array.from({GIVEN}, v => N.repr(v))", None, floats(values))
    assert ours == [repr(value).replace("e-0", "e-") for value in values]


def test_a_number_is_read_as_python_reads_it(script: Any) -> None:
    draw = random.Random(7)
    texts = [repr(value) for value in asked(FORMATS["bfloat16"], 50_000, seed=4) if not math.isnan(value)]
    for _ in range(50_000):
        digits = "".join(draw.choices("0123456789", k=draw.randint(1, 25)))
        point = draw.randint(0, len(digits))
        text = draw.choice(("", "-", "+")) + (f"{digits[:point]}.{digits[point:]}" if draw.random() < 0.7 else digits)
        texts.append(text + (f"{draw.choice('eE')}{draw.randint(-340, 330)}" if draw.random() < 0.7 else ""))
    assert same(numbers(script(f"{BACK}(g.map(N.read))", None, texts)), [float(text) for text in texts])


def test_powers_products_and_sums_are_read_as_python_computes_them(script: Any) -> None:
    texts = [f"{sign}2**{n}" for n in range(-1080, 1024) for sign in ("", "-")]
    texts += [f"10**{n}" for n in range(-300, 23)]
    texts += [
        "1e-8 * 1024",
        "1e-8*16384",
        "2**-25 + 2**-48",
        "1/3",
        "-1/3",
        "3 - 2 - 1",
        "2*3 + 4*5",
        "1 - 2**-11",
        "8/2/2",
    ]
    texts += [
        "-2**-24*-3",
        "0.1 + 0.2",
        "-0.0",
        "0.0 * -1",
        "1e308*10",
        "65504 + 16",
        "3*2**-25",
        "1e400",
        "-1e400",
        "5 - -3",
    ]
    assert same(numbers(script(f"{BACK}(g.map(N.read))", None, texts)), [float(eval(text)) for text in texts])


def test_what_python_s_float_makes_of_a_decimal_is_known_exactly(script: Any) -> None:
    draw = random.Random(9)
    exact: dict[str, Fraction] = {text: Fraction(text) for text in ("0", "0e-400", "2.5", "1e308", "5e-324")}
    for _ in range(20_000):
        digits = "".join(draw.choices("0123456789", k=draw.randint(1, 20)))
        power = draw.choice((0, -1, 5, -20, -324, -340, 300, 400))
        text = f"{draw.choice(('', '-'))}{digits}.{draw.choice(('', '5', '25'))}e{power}"
        exact[text] = Fraction(text)
    exact |= {f"2**{n}": Fraction(2) ** n for n in (*range(-1080, -1070), -1, 1023, 1024, 1500)}
    exact |= {f"3*2**{n}": 3 * Fraction(2) ** n for n in (-1077, -1076, -1075, -1074, 1022, 1023)}
    exact |= {f"{a}/{b} - {c}": Fraction(a, b) - c for a, b, c in ((1, 3, 0), (6, 3, 2), (1, 4, 5), (5, 10, 1))}
    found = dict(zip(exact, script("g.map(t => N.readClosely(t)[1])", None, list(exact)), strict=True))
    for text, true in exact.items():
        value = float(eval(text)) if true < 2**1024 else math.inf  # Python's own power is a whole number without an end
        if math.isinf(value):
            assert found[text] == ("large" if abs(true) >= 2**1024 - 2**970 else "way"), text
        elif value == 0 and true:
            assert found[text] == ("small" if abs(true) <= Fraction(1, 2**1075) else "way"), text
        else:
            assert found[text] == ("" if Fraction(value) == true else "near"), text
    assert set(found.values()) == {"", "near", "small", "large", "way"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("65,504", 65504.0),
        (" 2^-24 ", 2.0**-24),
        ("2⁻²⁴", 2.0**-24),
        ("1e−8 × 1024", 1e-8 * 1024),
        ("−0", -0.0),
        ("inf", math.inf),
        ("-Infinity", -math.inf),
        ("∞", math.inf),
        ("NaN", math.nan),
        ("2**99999", math.inf),
        ("2**-99999", 0.0),
        (".5", 0.5),
        ("5.", 5.0),
    ],
)
def test_other_ways_of_writing_a_number_are_understood(script: Any, text: str, value: float) -> None:
    assert same(numbers(script(f"{BACK}([N.read(g)])", None, text)), [value])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Type a number."),
        ("abc", "“abc” is no number that can be read here."),
        ("1e", "“1e” is no number"),
        ("e5", "“e5” is no number"),
        (".", "“.” is no number"),
        ("1 2", None),
        ("6,55,04", "“6,55,04” is no number"),
        ("1.2.3", "“1.2.3” is no number"),
        ("0x10", "“0x10” is no number"),
        ("3**2", "A power is one of 2 or of 10"),
        ("2**0.5", "is no number"),
        ("2**", "A power is one of 2 or of 10"),
        ("1/0", "That divides by zero."),
        ("alert(1)", "is no number"),
        ("1 +", "“1 +” is no number"),
        ("(1)", "is no number"),
    ],
)
def test_what_is_no_number_is_said_in_words(script: Any, text: str, said: str | None) -> None:
    attempt = "(() => { try { return [N.read(g)] } catch (e) { return e.message } })()"
    answer = script(attempt, None, text)
    if said is None:
        assert answer == [12]  # a space between digits is a way to write thousands
    else:
        assert isinstance(answer, str)
        assert said in answer


@EACH
def test_the_landmarks_are_where_their_words_say(script: Any, shape: Any) -> None:
    fmt = FORMATS[shape["name"]]
    marks = dict(explorer.landmarks(fmt))
    read = dict(zip(marks, script("g.map(N.read)", None, list(marks.values())), strict=True))
    kept = {words: bits.encode(value, fmt) for words, value in read.items()}
    assert all(read[words] == eval(text) for words, text in marks.items())
    assert kept["smallest subnormal"] == 1
    assert kept["smallest normal"] == 1 << fmt.fraction
    assert bits.decode(kept["one"], fmt) == read["one"] == 1
    assert bits.decode(kept["largest"], fmt) == read["largest"] == bits.decode(fmt.largest, fmt)
    assert read["the traveling gradient"] == 1e-8
    (cutoff,) = (value for words, value in read.items() if words.startswith("the cut-off"))
    assert bits.encode(cutoff, fmt) == 0
    assert kept["just above it"] == 1 == bits.encode(math.nextafter(cutoff, 1), fmt)
    if fmt.infinite:
        begins = read["where overflow begins"]
        assert bits.encode(begins, fmt) == fmt.infinity
        assert bits.encode(math.nextafter(begins, 0), fmt) == fmt.largest
    if shape["torch"]:
        dtype = getattr(torch, fmt.name)
        as_torch = torch.tensor(list(read.values()), dtype=torch.float64).float().to(dtype).double().tolist()
        assert as_torch == [bits.decode(pattern, fmt) for pattern in kept.values()]
        assert torch.finfo(dtype).tiny == read["smallest normal"]
        assert torch.finfo(dtype).max == read["largest"]


STORIES = {
    ("float16", "0.1"): "0.1 is no fp16 number. Stored is the nearest, 0.0999755859375: 2.44e-5 too small, which is "
    "0.0244 % of it. A normal number, with all 11 bits of precision.",
    ("float16", "1e-8"): "1e-8 becomes 0: it is nearer to 0 than to 2⁻²⁴, the first number. All of it is lost.",
    ("float16", "-1e-8"): "-1e-8 becomes −0: it is nearer to 0 than to −2⁻²⁴, the first number. All of it is lost. "
    "Its sign bit is on.",
    ("float16", "2**-25"): "2**-25 becomes 0: halfway between 0 and 2⁻²⁴, and 0 is the even one. All of it is lost.",
    (
        "float16",
        "2**-24",
    ): "fp16 has 2**-24, exactly: 5.960464477539063e-8. A subnormal number: 1 bit of precision is left of 11.",
    (
        "float16",
        "65519",
    ): "65519 is no fp16 number. Stored is the nearest, 65504: 15 too small, which is 0.0229 % of it. "
    "A normal number, with all 11 bits of precision.",
    (
        "float16",
        "65520",
    ): "65520 becomes inf: it lies halfway from 65504, the last number of fp16, to 65536, which would be "
    "next, and even.",
    ("float16", "-1e6"): "-1e6 becomes −inf: it is too far beyond −65504, the last number of fp16.",
    ("float16", "2051"): "2051 lies halfway between two numbers, 2052 and 2050. The even one, whose last bit is 0, is "
    "stored: 1 too large, which is 0.0488 % of it. A normal number, with all 11 bits of precision.",
    (
        "float16",
        "2049.00001",
    ): "2049.00001 is no fp16 number. Stored is the nearest, 2050: 1 too large, which is 0.0488 % "
    "of it. A normal number, with all 11 bits of precision. PyTorch goes by way of fp32 and stores 2048 in fp16: it "
    "rounds twice.",
    ("float16", "nan"): "nan, “not a number”: exponent bits all on, and any fraction but zero.",
    ("float16", "inf"): "inf: exponent bits all on, fraction zero.",
    ("float16", "-0"): "fp16 has -0, exactly. Its sign bit is on.",
    ("float16", "1"): "fp16 has 1, exactly. A normal number, with all 11 bits of precision.",
    (
        "float8_e4m3fn",
        "465",
    ): "465 is beyond 448, the last number, and E4M3 has no inf: 448 is stored. A normal number, with "
    "all 4 bits of precision.",
    ("float8_e4m3fn", "nan"): "nan, “not a number”: all bits on, beside the sign.",
    ("float16", "1e-400"): "1e-400 is too small even for Python’s float, which makes 0 of it, and so fp16 gets 0.",
    ("float16", "-1e-330"): "-1e-330 is too small even for Python’s float, which makes −0 of it, and so fp16 gets −0. "
    "Its sign bit is on.",
    ("float32", "2**-2000"): "2**-2000 is too small even for Python’s float, which makes 0 of it, and so fp32 gets 0.",
    ("float16", "1e-323"): "1e-323 becomes 0: it is nearer to 0 than to 2⁻²⁴, the first number. All of it is lost.",
    ("float16", "1e400"): "1e400 is too large even for Python’s float, which ends at 1.798e308. fp16 gets inf.",
    ("bfloat16", "-1e400"): "-1e400 is too large even for Python’s float, which ends at 1.798e308. bf16 gets −inf.",
    ("float16", "2**5000"): "2**5000 is too large even for Python’s float, which ends at 1.798e308. fp16 gets inf.",
    (
        "float8_e4m3fn",
        "1e400",
    ): "1e400 is too large even for Python’s float, which ends at 1.798e308. E4M3 gets 448, its "
    "last number. A normal number, with all 4 bits of precision.",
    (
        "float16",
        "1e200*1e200/1e399",
    ): "On its way, 1e200*1e200/1e399 goes beyond Python’s float. What is left is nan, and fp16 gets nan.",
    (
        "float16",
        "1e-200*1e-200*1e300",
    ): "On its way, 1e-200*1e-200*1e300 goes beyond Python’s float. What is left is 0, and fp16 gets 0.",
    (
        "float16",
        "1.00000000000000000001",
    ): "Python’s float makes 1 of 1.00000000000000000001. fp16 has 1, exactly. A normal "
    "number, with all 11 bits of precision.",
    ("float16", "65519.9999999999999"): "Python’s float makes 65520 of 65519.9999999999999. 65520 becomes inf: it lies "
    "halfway from 65504, the last number of fp16, to 65536, which would be next, and even.",
    (
        "float16",
        "2049.00000000000001",
    ): "Python’s float makes 2049 of 2049.00000000000001. 2049 lies halfway between two "
    "numbers, 2048 and 2050. The even one, whose last bit is 0, is stored: 1 too small, which is 0.0488 % of it. A "
    "normal number, with all 11 bits of precision.",
}


@pytest.mark.parametrize(("name", "text"), STORIES)
def test_what_became_of_a_number_is_said_in_words(script: Any, name: str, text: str) -> None:
    shape = next(shape for shape in ALL if shape["name"] == name)
    told = (
        "(([value, fate]) => W.story({value, text: g, fate, pattern: N.encode(value, f), format: f}))(N.readClosely(g))"
    )
    assert script(told, shape, text) == STORIES[name, text]


@EACH
def test_the_neighbors_that_are_named_are_the_neighbors(script: Any, shape: Any) -> None:
    fmt = FORMATS[shape["name"]]
    chosen = [
        p for p in patterns(shape, 800)[:: 1 if shape["width"] != 16 else 31] if p % (1 << fmt.width - 1) < fmt.largest
    ]
    for pattern, said in zip(chosen, script("g.map(p => W.neighbors(p, f))", shape, chosen), strict=True):
        size, minus = pattern % (1 << fmt.width - 1), pattern >> fmt.width - 1
        values = [bits.decode(size + 1, fmt), bits.decode(size - 1, fmt) if size else -bits.decode(1, fmt)]
        named = {
            float(text.replace("−", "-"))
            for text in re.findall(r"(?<![⁻\w])−?\d+(?:\.\d+)?(?:e[-+]\d+)?(?= and|,| is)", said)
        }
        assert {-value if minus else value for value in values} <= named, said


# ------------------------------------------------------------------------------------------------- the built page


class Explorer:
    """One of the chapter's explorers in a browser's page."""

    def __init__(self, page: Any, place: int) -> None:
        self.page, self.element = page, page.locator("hp-live-bits").nth(place)
        self.field = self.element.get_by_role("textbox", name="Number")

    def bit(self, place: int) -> Any:
        return self.element.locator(f"button[data-bit='{place}']")

    def button(self, name: str) -> Any:
        return self.element.get_by_role("button", name=name, exact=True)

    @property
    def pattern(self) -> int:
        pressed = self.element.locator("button[data-bit]").evaluate_all(
            "all => all.map(e => e.getAttribute('aria-pressed'))"
        )
        return int("".join(str(int(each == "true")) for each in pressed), 2)

    @property
    def told(self) -> str:
        return str(self.element.locator(".hp-live-sum").inner_text()).replace("\N{NON-BREAKING HYPHEN}", "-")

    @property
    def value(self) -> str:
        return str(self.element.locator(".hp-live-body [data-part=value]").inner_text())


@pytest.fixture
def play(reader: Any) -> Callable[..., Explorer]:
    """Return a function that opens the chapter and gives one of its explorers."""

    def opened(place: int, **kind: Any) -> Explorer:
        page = reader(**kind).open(PAGE).page
        page.evaluate("document.querySelectorAll('.hp-skip input').forEach(e => e.click())")
        until(page, "document.querySelectorAll('hp-live-bits.hp-live-on').length === 3")
        return Explorer(page, place)

    return opened


TWINS = """() => [...document.querySelectorAll('hp-live-bits')].map(e => ['still', 'body'].map(name => {
    const part = `.hp-live-${name}`;
    const all = query => [...e.querySelectorAll(`${part} ${query}`)];
    return [all('[data-bit]').map(b => [b.dataset.bit, (b.querySelector('b') ?? b).textContent]),
        all('dd').map(d => [d.dataset.part, d.textContent]), all('.hp-bits-caption').map(c => c.textContent)];
}))"""


def test_the_still_picture_is_the_first_state(play: Any) -> None:
    twins = play(0).page.evaluate(TWINS)
    assert len(twins) == 3
    for still, live in twins:
        assert len(still[0]) >= 16
        assert still == live


def test_a_keyboard_flips_bits_and_the_words_follow(play: Any) -> None:
    one = play(0)
    keys = one.page.keyboard
    one.button("1.75").focus()
    keys.press("Enter")
    assert one.value == "1.75"
    one.button("−1,024").focus()
    keys.press("Tab")
    assert one.bit(15).evaluate("e => e === document.activeElement")
    keys.press("Space")
    for _ in range(2):
        keys.press("ArrowRight")
    for step in range(3):
        if step:
            keys.press("ArrowRight")
        keys.press("Space")
    assert one.bit(11).evaluate("e => e === document.activeElement")
    assert one.pattern == torch.tensor(-1.75).half().view(torch.uint16).item() ^ 0b0_01110_0000000000
    keys.press("Home")
    keys.press("ArrowRight")
    keys.press("Space")
    assert one.value == "−7.0"
    assert one.field.input_value() == "-7"
    assert one.told == "This is −7. A normal number, with all 11 bits of precision."
    keys.press("End")
    assert one.bit(0).evaluate("e => e === document.activeElement")
    keys.press("Shift+Tab")
    keys.press("Tab")
    assert one.bit(0).evaluate("e => e === document.activeElement"), "Tab comes back to where the reader was"
    assert one.element.locator("button[data-bit][tabindex='0']").count() == 1


def test_a_bit_says_what_it_is_worth_and_whether_it_is_on(play: Any) -> None:
    one = play(0)
    # A name is what is seen, and then what is not: who says it to a machine says what stands there.
    assert one.button("0 ± , sign bit 15, worth minus").get_attribute("aria-pressed") == "false"
    assert one.button("1 8 , exponent bit 13, worth 2^3").get_attribute("aria-pressed") == "true"
    assert one.button("0 4 , exponent bit 12, worth 2^2").get_attribute("aria-pressed") == "false"
    assert one.button("1 2⁻¹ , fraction bit 9, worth 2^-1").get_attribute("aria-pressed") == "true"
    names = one.element.locator("button[data-bit]").evaluate_all("all => all.map(e => e.textContent)")
    assert len(names) == 16
    for name in names[1:]:
        field, bit, worth = re.search(r"(\w+) bit (\d+), worth 2\^(-?\d+)$", name).groups()  # type: ignore[union-attr]
        assert int(worth) == int(bit) - 10
        assert field == ("exponent" if int(bit) >= 10 else "fraction")


def test_flipping_each_bit_gives_torch_s_number(play: Any) -> None:
    one = play(0)
    for place in range(16):
        one.field.fill("10")
        one.bit(place).click()
        pattern = torch.tensor(10.0).half().view(torch.uint16).item() ^ 1 << place
        assert one.pattern == pattern
        true = torch.tensor(pattern, dtype=torch.uint16).view(torch.float16).item()
        assert float(one.value.replace("−", "-")) == true


def test_landmarks_lead_along_the_number_line(play: Any) -> None:
    one = play(1)
    told = {}
    for name in one.element.locator(".hp-bits-marks button").all_inner_texts():
        one.button(name).click()
        told[name] = one.told
    assert list(told) == [words for words, _ in explorer.landmarks(FORMATS["float16"])]
    assert "halfway between 0 and 2⁻²⁴" in told["the cut-off, 2⁻²⁵"]
    assert "5.960464477539063e-8: 2.98e-8 too large, which is 100 % of it" in told["just above it"]
    assert told["where overflow begins"].startswith("65520 becomes inf")
    assert told["the traveling gradient"].startswith("1e-8 becomes 0")
    one.button("smallest normal").click()
    one.button("← next smaller").click()
    assert one.pattern == 0x3FF
    assert one.told.endswith("A subnormal number: 10 bits of precision are left of 11.")
    assert "Short and yellow: subnormal numbers." in one.element.locator(".hp-bits-beside").inner_text()
    one.button("smallest subnormal").click()
    one.button("← next smaller").click()
    assert (one.pattern, one.value) == (0, "0.0")


def test_steps_end_where_the_numbers_end(play: Any) -> None:
    one = play(1)
    one.button("largest").click()
    larger = one.button("next larger →")
    assert larger.get_attribute("aria-disabled") == "false"
    larger.click()
    assert one.value == "inf"
    assert larger.get_attribute("aria-disabled") == "true"
    larger.focus()
    one.page.keyboard.press("Enter")
    assert one.value == "inf"
    assert one.element.locator(".hp-bits-line").get_attribute("aria-label").endswith("beyond the last number, 65504.")
    one.bit(0).click()
    assert one.value == "nan"
    assert one.element.locator(".hp-bits-line").is_hidden()
    for name in ("next larger →", "← next smaller"):
        assert one.button(name).get_attribute("aria-disabled") == "true"


LINE = """e => ({
    ticks: [...e.querySelectorAll('.tick')].map(t => parseFloat(t.getAttribute('x1'))).sort((a, b) => a - b),
    now: [...e.querySelectorAll('.now')].map(t => parseFloat(t.getAttribute('x1'))),
    typed: [...e.querySelectorAll('svg')].map(t => parseFloat(t.getAttribute('x'))),
    beyond: [...e.querySelectorAll('rect')].map(t => parseFloat(t.getAttribute('x'))),
})"""


@pytest.mark.parametrize(
    "text", ["0.1", "1", "2**-14", "2049", "2048", "1e-8", "65519", "-3e-8", "65520", "1e9", "-1e9"]
)
def test_the_number_line_has_a_tick_for_each_number_where_it_lies(play: Any, text: str) -> None:
    one = play(1)
    one.field.fill(text)
    drawn = one.element.locator(".hp-bits-line").evaluate(LINE)
    value, every = (
        float(eval(text)),
        torch.arange(65536, dtype=torch.int32).to(torch.uint16).view(torch.float16).double(),
    )
    every = every[every.isfinite()].unique()
    stored = torch.tensor(value).half().double().item()
    shown = stored if math.isfinite(stored) else math.copysign(65504.0, stored)
    around = every[(every - shown).abs() > 0]
    unit = max(
        (around[around > shown].min() - shown).item() if shown < 65504 else 0.0,
        (shown - around[around < shown].max()).item() if shown > -65504 else 0.0,
    )
    middle = shown if math.isfinite(stored) else math.copysign(65536.0, stored)
    inside = every[(every - middle).abs() < 3.5 * unit].tolist()
    assert drawn["ticks"] == pytest.approx([50 + 50 * (n - middle) / unit / 3.5 for n in inside], abs=1e-3)
    assert drawn["now"] == ([50.0] if math.isfinite(stored) else [])
    wanted = 50 + 50 * (value - middle) / unit / 3.5
    assert drawn["typed"] == pytest.approx([] if value == stored else [min(max(wanted, 1.5), 98.5)], abs=1e-3)
    ends = [end for end in (-65520, 65520) if abs(end - middle) < 3.2 * unit]
    assert len(drawn["beyond"]) == len(ends)


def test_the_number_stays_when_the_format_changes(play: Any) -> None:
    one = play(2)
    assert one.told.startswith("1e-8 is no bf16 number.")
    for label, name in (
        ("fp32", "float32"),
        ("tf32", "tfloat32"),
        ("fp16", "float16"),
        ("E5M2", "float8_e5m2"),
        ("E4M3", "float8_e4m3fn"),
    ):
        one.element.get_by_role("radio", name=label, exact=True).check()
        assert one.element.locator("button[data-bit]").count() == FORMATS[name].width
        assert one.pattern == bits.encode(1e-8, FORMATS[name])
        assert one.element.locator(".hp-live-body .hp-bits-caption").inner_text() == f"1e-8 in {label}"
    one.element.get_by_role("radio", name="bf16", exact=True).check()
    one.bit(0).click()
    flipped = one.pattern
    one.element.get_by_role("radio", name="fp32", exact=True).check()
    assert one.pattern == flipped << 16, "bf16 is the upper half of fp32"
    assert ", exactly" in one.told


def test_half_a_number_is_no_mistake_and_a_wrong_one_is_said(play: Any) -> None:
    one = play(1)
    one.field.fill("1")
    wrong = one.element.locator(".hp-bits-wrong")
    one.field.press_sequentially("e-")
    assert one.value == "1.0"
    assert wrong.inner_text() == ""
    one.page.keyboard.press("Enter")
    assert wrong.inner_text().startswith("“1e-” is no number that can be read here.")
    assert one.field.get_attribute("aria-invalid") == "true"
    assert one.field.get_attribute("aria-describedby") == wrong.get_attribute("id")
    one.field.press_sequentially("2")
    assert wrong.inner_text() == ""
    assert one.field.get_attribute("aria-invalid") is None
    assert one.told.startswith("1e-2 is no fp16 number.")


def test_a_change_is_spoken_once_it_rests_and_the_beginning_is_not(play: Any) -> None:
    one = play(1)
    said = one.element.locator(".hp-live-body > [role=status]")
    one.page.wait_for_timeout(700)
    assert said.text_content() == ""
    one.button("the traveling gradient").click()
    until(one.page, "[...document.querySelectorAll('hp-live-bits [role=status]')].some(e => e.textContent)")
    assert said.text_content() == f"0. {one.told}"
    assert one.page.evaluate("document.getAnimations().length") == 0


@pytest.mark.parametrize(("mode", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_in_the_explorers(play: Any, mode: str, width: int) -> None:
    one = play(1, color_scheme=mode, viewport={"width": width, "height": 844})
    one.field.fill("what")
    one.field.press("Enter")
    found = Axe().run(one.page, context="hp-live-bits")
    assert {each["id"]: each["nodes"][0]["html"] for each in found["violations"]} == {}
    assert len(found["passes"]) > 10


SIZES = """() => {
    const wrong = [];
    const seen = ':is(button, input, label, p, dt, dd, small, b, text)';
    for (const e of document.querySelectorAll(`hp-live-bits .hp-live-body ${seen}`)) {
        const box = e.getBoundingClientRect(), size = parseFloat(getComputedStyle(e).fontSize);
        if (!box.width || e.type === 'radio') continue;
        const words = e.textContent || e.value;
        if (size < 11) wrong.push(`${size} px: ${words}`);
        if (box.right > innerWidth || box.left < 0) wrong.push(`cut: ${words}`);
        const small = e.matches('button, input') && (box.height < 44 || box.width < 24);
        if (small) wrong.push(`${box.width} x ${box.height}: ${words}`);
    }
    return wrong;
}"""


@pytest.mark.parametrize("text", ["0.1", "2**-24 + 2**-40", "65520", "-1e30", "nan"])
def test_on_a_phone_words_are_legible_and_buttons_large_enough(play: Any, text: str) -> None:
    one = play(2, viewport=PHONE, has_touch=True, is_mobile=True)
    for label in ("fp16", "fp32", "bf16"):
        one.element.get_by_role("radio", name=label, exact=True).check()
        one.field.fill(text)
        assert one.page.evaluate(SIZES) == []
        assert one.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_print_and_a_page_without_a_script_show_the_still_picture(play: Any, reader: Any) -> None:
    one = play(1)
    still, live = (one.element.locator(f".hp-live-{part}") for part in ("still", "body"))
    assert (still.is_visible(), live.is_visible()) == (False, True)
    one.page.emulate_media(media="print")
    assert (still.is_visible(), live.is_visible()) == (True, False)
    silent = reader(java_script_enabled=False).open(PAGE).page
    assert silent.locator("hp-live-bits .hp-live-still").nth(1).is_visible()


def test_a_bit_that_is_on_is_known_without_colors(play: Any) -> None:
    one = play(0, forced_colors="active")
    border = "e => parseFloat(getComputedStyle(e).borderTopWidth)"
    assert one.bit(13).inner_text().startswith("1")
    assert one.bit(12).inner_text().startswith("0")
    assert one.bit(13).evaluate(border) > one.bit(12).evaluate(border)


def test_only_the_page_with_an_explorer_loads_its_script(site: Path) -> None:
    having = {path.name for path in site.glob("*.html") if "live/bits-" in path.read_text(encoding="utf-8")}
    assert having == {PAGE}
