"""Does the live sawtooth compute what PyTorch computes, and can it be used, read and printed?"""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import struct
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from axe_core_python.sync_playwright import Axe
from course_book import esbuild, live
from figures import scale_play, skip_rate
from figures.scale_play import Setting
from figures.style import power
from reading import PHONE, ROOT, Reader, until

pytestmark = pytest.mark.needs("chromium")
CHAPTER = "05_dynamic_scaling.html"
DATA = scale_play.data(Setting(), tuple(scale_play.GRADIENTS))
FACTORS = [
    (2.0, 0.5),
    (2.0, 0.25),
    (4.0, 0.75),
    (1.5, 0.5),
    (1.1, 0.7),
    (1.0000001, 0.9999999),
    (1e39, 1e-39),
    (1e300, 0.0),
]


# ------------------------------------------------------------------------------ its numbers


@pytest.fixture(scope="module")
def numbers(browser: Any, site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a function that evaluates an expression in a browser, with `m`, the module, and `given`, what is given."""
    folder = tmp_path_factory.mktemp("numbers")
    script, _ = esbuild.bundled(live.SOURCES / "sawtooth_numbers.js", ROOT / esbuild.MODULES, folder)
    page = browser.new_page()
    page.route("http://numbers.test/", lambda route: route.fulfill(body="<title>-</title>", content_type="text/html"))
    page.route("http://numbers.test/m.js", lambda route: route.fulfill(path=script, content_type="text/javascript"))
    page.goto("http://numbers.test/")
    code = "async (given) => {{ const m = await import('/m.js'); return {} }}"
    yield lambda asked, given: floats(page.evaluate(code.format(asked), given))
    page.close()


def floats(answer: Any) -> Any:
    """Return an answer with its large numbers as floats: JavaScript writes 2**60 as 1152921504606847000."""
    if isinstance(answer, list):
        return [floats(each) for each in answer]
    if isinstance(answer, dict):
        return {name: floats(each) for name, each in answer.items()}
    return float(answer) if type(answer) is int and answer > 2**53 else answer


def single(bits: int) -> float:
    """Return the float32 with those bits."""
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def by_operator(init: float, flags: list[bool], rule: dict[str, Any]) -> list[tuple[float, int]]:
    """Return the scale and the run after each step, by PyTorch's own operator."""
    scale, run = torch.full((1,), init), torch.zeros(1, dtype=torch.int32)
    after = []
    for flag in flags:
        found = torch.tensor([float(flag)])
        torch._amp_update_scale_(scale, run, found, rule["growth"], rule["backoff"], rule["interval"])
        after.append((scale.item(), run.item()))
    return after


def traces(count: int) -> list[dict[str, Any]]:
    """Return random runs: first scales are any float32 that is finite and not negative, ends and subnormals often."""
    dice = random.Random(2)
    made = []
    for number in range(count):
        bits = (dice.randrange(0x7F800000), dice.randrange(0x800000), dice.randrange(0x7E000000, 0x7F800000))[
            number % 3
        ]
        growth, backoff = dice.choice(FACTORS)
        rule = {"growth": growth, "backoff": backoff, "interval": dice.choice((1, 1, 2, 3, 7, 2000))}
        chance = dice.choice((0.0, 0.05, 0.3, 1.0))
        flags = [dice.random() < chance for _ in range(dice.randrange(1, 40))]
        made.append({"init": single(bits), "rule": rule, "flags": flags})
    return made


RUN = """given.map(({ init, rule, flags }) => m.simulate((step) => flags[step], flags.length, init, rule)
    .steps.map(({ scale, run }) => [scale, run]))"""


def test_a_run_is_pytorch_s_to_the_last_bit(numbers: Any) -> None:
    given = traces(4000)
    want = [by_operator(each["init"], each["flags"], each["rule"]) for each in given]
    got = [[tuple(step) for step in steps] for steps in numbers(RUN, given)]
    assert [each for each, a, b in zip(given, got, want, strict=True) if a != b] == []
    ends = [scale for steps in want for scale, _ in steps]
    assert 0.0 in ends
    assert any(0 < scale < 2.0**-126 for scale in ends)
    assert any(scale > 2.0**127 for scale in ends)


@pytest.mark.parametrize(
    ("flag", "factor"), [(False, 2.0), (False, 1.5), (False, 4.0), (True, 0.5), (True, 0.25), (True, 0.75)]
)
def test_a_run_goes_to_the_ends_of_float32_as_pytorch_s_does(numbers: Any, flag: bool, factor: float) -> None:
    rule = {"interval": 1, "growth": 2.0 if flag else factor, "backoff": factor if flag else 0.5}
    flags = [flag] * 600
    (got,) = numbers(RUN, [{"init": 65536.0, "rule": rule, "flags": flags}])
    assert [tuple(step) for step in got] == by_operator(65536.0, flags, rule)
    assert got[-1][0] == got[-2][0], "it has come to its end"


def test_a_number_that_float32_cannot_hold_is_rounded_at_the_start(numbers: Any) -> None:
    inits = [0.1, 1e-46, 1e-45, 3.4028235677973366e38 * (1 - 2**-25)]
    got = numbers("given.map((init) => m.simulate(() => true, 1, init, {backoff: 0.5}).steps[0].used)", inits)
    assert got == [torch.tensor(init).item() for init in inits]


def settings() -> list[Setting]:
    """Return settings of each kind of gradients: every interval, length and pair of factors, and ends of the rest."""
    kinds = [Setting(kind, interval=n) for kind in scale_play.GRADIENTS for n in scale_play.INTERVALS]
    pairs = itertools.product(scale_play.GRADIENTS, scale_play.GROWTHS, scale_play.BACKOFFS)
    kinds += [Setting(kind, growth=growth, backoff=backoff, interval=3) for kind, growth, backoff in pairs]
    kinds += [Setting(kind, limit=limit, interval=2) for kind in scale_play.GRADIENTS for limit in (0, 7, 30)]
    kinds += [Setting(kind, init=init) for kind in scale_play.GRADIENTS for init in scale_play.INITS]
    return kinds + [Setting(kind, interval=1, length=n) for kind in scale_play.GRADIENTS for n in scale_play.LENGTHS]


def test_every_setting_gives_the_run_that_python_computes(numbers: Any) -> None:
    given = settings()
    code = """given.settings.map((setting) => {
        const { steps, skipped, final, limits } = m.play(setting, given.data);
        return { scales: steps.map((each) => each.used), skipped, final, limits } })"""
    got = numbers(code, {"settings": [asdict(each) for each in given], "data": json.loads(json.dumps(DATA))})
    for setting, run in zip(given, got, strict=True):
        want = scale_play.run(setting)
        assert run["limits"] == scale_play.limits(setting), setting
        assert (run["scales"], run["skipped"], run["final"]) == (want.scales, want.skipped, want.final), setting


def test_what_update_did_is_told_by_what_it_left(numbers: Any) -> None:
    code = """given.map(({ init, rule, flags }) => m.simulate((step) => flags[step], flags.length, init, rule).steps)"""
    seen = set()
    for each, steps in zip(traces(600), numbers(code, traces(600)), strict=True):
        for before, step in itertools.pairwise([None, *steps]):
            assert before is None or (step["used"], step["before"]) == (before["scale"], before["run"])
            full = step["before"] + 1 == each["rule"]["interval"]
            larger = step["used"] * each["rule"]["growth"]
            fits = math.isfinite(torch.tensor(larger, dtype=torch.float64).float().item())
            good = "wait" if not full else "grow" if fits else "full"
            assert step["did"] == ("back" if step["overflow"] else good)
            seen.add(step["did"])
    assert seen == {"back", "wait", "grow", "full"}


def test_the_limit_of_the_first_setting_is_the_chapter_s() -> None:
    most = scale_play.limits(Setting())
    assert most is not None
    assert set(most) == {skip_rate.LIMIT}


# --------------------------------------------------------------------------- in the page


def figure(one: Reader, number: int = 0) -> Any:
    one.open(CHAPTER)
    element = one.page.locator("hp-live-sawtooth").nth(number)
    element.scroll_into_view_if_needed()
    until(one.page, f"document.querySelectorAll('hp-live-sawtooth .hp-live-drawing')[{number}].childElementCount > 5")
    return element


def sum_of(element: Any) -> str:
    return str(element.locator(".hp-live-sum:not(.hp-live-step)").inner_text())


def step_of(element: Any) -> str:
    return str(element.locator(".hp-live-step").inner_text())


def label(element: Any) -> str:
    return str(element.locator("svg.hp-live-drawing").get_attribute("aria-label"))


def marks(element: Any) -> int:
    """Return the number of crosses: two strokes each."""
    return str(element.locator(".hp-live-skips").last.get_attribute("d")).count("M") // 2


def said(setting: Setting) -> str:
    """Return the sentence that Python's run of a setting asks for."""
    run = scale_play.run(setting)
    skips, share = len(run.skipped), 100 * run.share
    steps = "1 step was skipped" if skips == 1 else f"{skips:,} steps were skipped"
    price = 100 / (setting.interval + 1)
    return (
        f"After {setting.length:,} steps the scale is {run.final:,.0f}. {steps}, {share:.{2 if share < 10 else 3}g} %; "
        f"1/(N + 1) is {price:.{2 if price < 10 else 3}g} %."
    )


def test_the_figure_begins_with_what_the_still_picture_shows(reader: Any) -> None:
    element = figure(reader())
    assert not element.locator(".hp-live-still").is_visible()
    assert sum_of(element) == said(Setting())
    run = scale_play.run(Setting())
    alt = element.locator(".hp-live-still svg").first.get_attribute("aria-label")
    assert alt == scale_play.said(Setting(), run)
    assert f"{len(run.skipped)} steps are skipped" in alt
    assert f"ends at {run.final:,.0f}; {len(run.skipped)} skipped: 0, 1, 12" in label(element)
    assert marks(element) == len(run.skipped)


WINDOW = """e => { const rect = e.querySelector('svg.hp-live-drawing clipPath rect');
    const box = e.querySelector('svg.hp-live-drawing').viewBox.baseVal;
    return [rect.x.baseVal.value + rect.width.baseVal.value, box.width] }"""


@pytest.mark.parametrize("number", [0, 1])
def test_it_opens_at_its_first_step_with_the_whole_run_drawn_and_a_step_to_go(reader: Any, number: int) -> None:
    element = figure(reader(), number)
    cursor = element.get_by_role("slider", name="Look at step")
    assert cursor.input_value() == "0"
    assert step_of(element).startswith("Step 0 used the scale 65,536.")
    drawn, width = element.evaluate(WINDOW)
    assert drawn == pytest.approx(width - 10, abs=0.1), "nothing of the run is faint"
    element.get_by_role("slider", name="Steps").press("ArrowRight")
    drawn, width = element.evaluate(WINDOW)
    assert drawn == pytest.approx(width - 10, abs=0.1)
    assert cursor.input_value() == "0"
    step = element.get_by_role("button", name="Step")
    assert step.get_attribute("aria-disabled") == "false"
    step.click()
    assert cursor.input_value() == "1"
    assert step_of(element).startswith("Step 1 used")
    assert element.evaluate(WINDOW)[0] < 0.2 * width, "what comes after the cursor is faint"


def test_each_interval_up_to_ten_can_be_tried() -> None:
    assert scale_play.INTERVALS[:10] == tuple(range(1, 11))
    assert [*scale_play.INTERVALS] == sorted(set(scale_play.INTERVALS))


def test_numbers_are_rounded_as_the_chapter_rounds_them(reader: Any) -> None:
    one = reader()
    element = figure(one)
    for kind in ("shrink", "grow"):
        element.get_by_role("radio", name=scale_play.GRADIENTS[kind], exact=True).check()
        most = scale_play.limits(Setting(kind))
        assert most is not None
        for step in (20, 55, 59):
            element.get_by_role("slider", name="Look at step").fill(str(step))
            (told,) = re.findall(r"(?:Up to|More than) ([\d,.]+) ", step_of(element))
            exact = most[step]
            assert told == f"{exact:,.{max(0, 5 - math.floor(math.log10(exact)))}f}".rstrip("0").rstrip(".") or (
                told == f"{exact:,.0f}"
            )
            if kind == "shrink" and step == 59:
                assert told == f"{exact:,.0f}"
                assert told in one.page.locator("details", has_text="that would fit").first.inner_html()


def test_an_init_scale_that_is_no_whole_number_is_a_power_of_two(reader: Any) -> None:
    element = figure(reader())
    init = element.get_by_role("slider", name="init_scale")
    for exponent in range(scale_play.INITS[0], scale_play.INITS[1] + 1):
        init.fill(str(exponent))
        whole = 0 <= exponent <= 30
        assert init.get_attribute("aria-valuetext") == (f"{2**exponent:,}" if whole else power(2, exponent))


CUT = """() => [...document.querySelectorAll('.hp-live-body :is(input, button)')].map(input => {
    if (!input.checkVisibility()) return ['solid', 0];
    input.focus();
    const ringed = input.type === 'radio' ? input.nextElementSibling : input;
    const style = getComputedStyle(ringed), out = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
    const { left, right } = ringed.getBoundingClientRect();
    let cut = Math.max(0, out - left, right + out - innerWidth);
    for (let box = input.parentElement; box; box = box.parentElement) {
        if (getComputedStyle(box).overflowX === 'visible') continue;
        const own = box.getBoundingClientRect();
        cut = Math.max(cut, own.left - (left - out), right + out - own.right);
    }
    return [style.outlineStyle, cut];
})"""


@pytest.mark.parametrize("size", [{"width": 1280, "height": 900}, PHONE])
@pytest.mark.parametrize("url", [CHAPTER, "01_sixteen_bits.html", "02_where_gradients_vanish.html"])
def test_the_ring_of_focus_is_whole(reader: Any, url: str, size: dict[str, int]) -> None:
    page = reader(viewport=size).open(url).page
    page.evaluate("document.querySelectorAll('.hp-skip input').forEach(e => e.click())")
    until(page, "document.querySelector('.hp-live-on :is(input, button)')")
    page.keyboard.press("Tab")
    found = page.evaluate(CUT)
    assert len(found) > 4
    for style, cut in found:
        assert style == "solid"
        assert cut <= 0


def test_the_keyboard_reaches_everything_in_its_order_and_changes_the_run(reader: Any) -> None:
    one = reader()
    element = figure(one)
    element.get_by_role("radio", name="stay as they are").focus()
    keys = one.page.keyboard
    keys.press("ArrowRight")
    assert sum_of(element) == said(Setting("grow"))
    keys.press("ArrowRight")
    assert sum_of(element) == said(Setting("shrink"))
    keys.press("Tab")
    keys.press("ArrowLeft")
    assert sum_of(element) == said(Setting("shrink", limit=13))
    keys.press("Tab")
    keys.press("ArrowRight")
    assert sum_of(element) == said(Setting("shrink", limit=13, length=120))
    keys.press("Tab")
    keys.press("Home")
    assert sum_of(element) == said(Setting("shrink", limit=13, length=120, interval=1))
    keys.press("Tab")
    keys.press("ArrowLeft")
    now = Setting("shrink", limit=13, length=120, interval=1, init=15)
    assert sum_of(element) == said(now)
    keys.press("Tab")
    keys.press("ArrowRight")
    assert sum_of(element) == said(replace(now, growth=4.0))
    keys.press("Tab")
    keys.press("ArrowLeft")
    now = replace(now, growth=4.0, backoff=0.25)
    assert sum_of(element) == said(now)
    assert marks(element) == len(scale_play.run(now).skipped)
    names = []
    for _ in range(5):
        keys.press("Tab")
        names.append(
            one.page.evaluate("document.activeElement.labels?.[0]?.textContent || document.activeElement.textContent")
        )
    assert names == ["To the start", "Back", "Step", "Play", "Look at step"]


def test_each_step_is_told_in_words(reader: Any) -> None:
    one = reader()
    element = figure(one)
    element.get_by_role("slider", name="Look at step").press("End")
    assert step_of(element).startswith("Step 59 used the scale 16,384. Up to 24,576 fits here: no overflow.")
    element.get_by_role("button", name="To the start").click()
    told = "Step 0 used the scale 65,536. More than 24,576 overflows here: the step is skipped. "
    assert step_of(element) == told + "update() multiplies by 0.5: the scale becomes 32,768, and the run stays 0."
    cursor = element.get_by_role("slider", name="Look at step")
    cursor.focus()
    for _ in range(11):
        one.page.keyboard.press("ArrowRight")
    told = (
        "Step 11 used the scale 16,384. Up to 24,576 fits here: no overflow. update() counts: the run has reached 10. "
    )
    assert step_of(element) == told + "It multiplies by 2: the scale becomes 32,768, and the run is 0 again."
    element.get_by_role("button", name="Back").click()
    assert step_of(element).endswith("update() counts: the run is 9 of 10, and the scale stays 16,384.")
    assert cursor.input_value() == "10"
    box = element.locator("svg.hp-live-drawing").bounding_box()
    element.locator("svg.hp-live-drawing").click(position={"x": box["width"] - 12, "y": 60})
    assert cursor.input_value() == "59"
    element.get_by_role("button", name="Step").press("Enter")
    assert cursor.input_value() == "59", "there is no step after the last one"


@pytest.mark.parametrize("setting", [Setting("fixed"), Setting("noisy", interval=2), Setting("shrink", interval=1)])
def test_the_words_of_every_step_are_true(reader: Any, setting: Setting) -> None:
    element = figure(reader())
    element.get_by_role("radio", name=scale_play.GRADIENTS[setting.gradients]).check()
    element.get_by_role("slider", name="growth_interval N").fill(str(scale_play.INTERVALS.index(setting.interval)))
    run = scale_play.run(setting)
    cursor = element.get_by_role("slider", name="Look at step")
    for step, (used, after) in enumerate(zip(run.scales, [*run.scales[1:], run.final], strict=True)):
        cursor.fill(str(step))
        words = step_of(element)
        assert words.startswith(f"Step {step} used the scale {used:,.0f}. ")
        assert ("the step is skipped" in words) == (step in run.skipped)
        assert f"the scale {'stays' if after == used else 'becomes'} {after:,.0f}" in words


BY_HAND = """(() => {
    const ticking = new Map();
    let last = 0;
    window.setInterval = (call) => {
        ticking.set(++last, call);
        return last;
    };
    window.clearInterval = (id) => ticking.delete(id);
    window.tick = () => [...ticking.values()].map(call => call()).length;
})()"""
"""A page's clock that ticks when a test says so: `tick()`, which returns how many have heard it."""


def test_play_walks_to_the_end_only_when_it_is_asked(reader: Any) -> None:
    one = reader(before=BY_HAND)
    element = figure(one)
    cursor = element.get_by_role("slider", name="Look at step")

    def ticks(count: int) -> int:
        return sum(one.page.evaluate("tick()") for _ in range(count))

    cursor.fill("10")
    assert (ticks(3), cursor.input_value()) == (0, "10")
    element.get_by_role("button", name="Play").click()
    assert (ticks(3), cursor.input_value()) == (3, "13")
    element.get_by_role("button", name="Pause").click()
    assert (ticks(3), cursor.input_value()) == (0, "13")
    cursor.fill("54")
    element.get_by_role("button", name="Play").click()
    assert (ticks(9), cursor.input_value()) == (5, "59")
    element.get_by_role("button", name="Play").click()
    assert (ticks(1), cursor.input_value()) == (1, "1"), "from the end it begins again"


def test_who_wants_no_motion_walks_step_by_step(reader: Any) -> None:
    element = figure(reader(reduced_motion="reduce"))
    assert not element.get_by_role("button", name="Play").is_visible()
    element.get_by_role("button", name="Step").click()
    assert step_of(element).startswith("Step 1 used the scale 32,768.")


def test_a_change_is_said_once_it_has_come_to_rest(reader: Any) -> None:
    one = reader()
    element = figure(one)
    status = "document.querySelector('hp-live-sawtooth [role=status]').textContent"
    assert one.page.evaluate(status) == ""
    element.get_by_role("slider", name="growth_interval N").press("ArrowLeft")
    until(one.page, f"{status} === {json.dumps(said(Setting(interval=9)))}")
    element.get_by_role("button", name="Step").click()
    until(one.page, f"{status}.startsWith('Step 1 used')")


def test_both_ends_of_float32(reader: Any) -> None:
    element = figure(reader(), 1)
    top = scale_play.run(Setting("never", interval=1, length=500)).final
    assert top == 2.0**127
    assert sum_of(element).startswith("After 500 steps the scale is 2¹²⁷. 0 steps were skipped, 0 %;")
    element.get_by_role("slider", name="Look at step").press("End")
    assert step_of(element).endswith("But 2¹²⁷ times 2 is no float32: the scale stays 2¹²⁷, and the run is 0 again.")
    element.get_by_role("radio", name="are bad at every step").check()
    assert sum_of(element).startswith("After 500 steps the scale is 0. 500 steps were skipped, 100 %;")
    assert step_of(element).endswith("update() multiplies by 0.5: the scale stays 0, and the run stays 0.")
    assert "0" in element.locator("svg.hp-live-drawing text").all_text_contents()
    element.get_by_role("radio", name="0.75").check()
    assert "the scale stays 2⁻¹⁴⁸" in step_of(element)
    element.get_by_role("radio", name="are bad once").check()
    element.get_by_role("slider", name="Look at step").fill("250")
    assert "A nan in the batch is a nan at any scale: the step is skipped." in step_of(element)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", [{"width": 1280, "height": 900}, PHONE])
def test_axe_finds_nothing_and_the_words_are_legible(reader: Any, size: dict[str, int], mode: str) -> None:
    one = reader(viewport=size, color_scheme=mode, has_touch=size == PHONE, is_mobile=size == PHONE)
    for number in (0, 1):
        element = figure(one, number)
        found = Axe().run(one.page, context="hp-live-sawtooth")["violations"]
        assert [each["id"] for each in found] == []
        sizes = element.evaluate("""e => [...e.querySelectorAll('.hp-live-body *')].filter(each => each.textContent)
            .map(each => parseFloat(getComputedStyle(each).fontSize))""")
        assert min(sizes) >= 11
        svg = element.locator("svg.hp-live-drawing")
        unscaled = "e => e.viewBox.baseVal.width === Math.round(e.getBoundingClientRect().width)"
        assert svg.evaluate(unscaled)
        if size == PHONE:
            reached = "input[type=range], button, .hp-live-choice span"
            low = element.evaluate(f"""e => [...e.querySelectorAll('.hp-live-body :is({reached})')]
                .filter(each => each.offsetWidth && each.getBoundingClientRect().height < 44).length""")
            assert low == 0
        assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_no_words_of_the_drawing_lie_on_others_or_outside(reader: Any) -> None:
    one = reader(viewport=PHONE)
    element = figure(one, 1)
    wrong = """e => { const own = e.querySelector('svg.hp-live-drawing').getBoundingClientRect();
        const boxes = [...e.querySelectorAll('svg.hp-live-drawing text')].map(t => t.getBoundingClientRect());
        return boxes.filter((a, i) => a.left < own.left || a.right > own.right + 1
            || a.bottom > own.bottom || a.top < own.top
            || boxes.some((b, j) => j < i && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
                && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6)).length }"""
    for kind, length in itertools.product(("never", "always", "once"), (0, 1, 4, 7)):
        element.get_by_role("radio", name=scale_play.GRADIENTS[kind]).check()
        element.get_by_role("slider", name="Steps").fill(str(length))
        assert element.evaluate(wrong) == 0, (kind, length)


def test_print_shows_the_still_picture(reader: Any) -> None:
    one = reader()
    element = figure(one)
    one.page.emulate_media(media="print")
    assert element.locator(".hp-live-still svg").first.is_visible()
    assert not element.locator(".hp-live-body").is_visible()


def test_without_a_script_the_still_picture_stands(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + CHAPTER)
    assert page.locator("hp-live-sawtooth .hp-live-still").first.is_visible()
    context.close()


def test_the_script_holds_no_other_kind_and_is_small(site: Path) -> None:
    (script,) = (site / "_static/live").glob("sawtooth-*.js")
    assert script.stat().st_size < 20_000
    assert re.findall(
        r"hp-live-([a-z]+)\"", script.read_text(encoding="utf-8").split("customElements.define(")[-1]
    ) == ["sawtooth"]
