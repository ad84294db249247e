"""What is graded about ``master_weight_step``, and the beliefs behind its known wrong answers.

Each check looks at one property. Where a check is not about small updates, all numbers are few-digit multiples of
powers of two, so that an answer that computes in float16 gets them right. What is asked of the new ``w16`` is asked in
one check, and against the master that came with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from autograder.checks import (
    Case,
    Check,
    Misconception,
    Mismatch,
    Outcome,
    Tensor,
    calls,
    case,
    differ,
    each_call,
    kind_of,
    rounded,
    tensor,
    ulp,
)

PAGE = "book/06_what_scaling_cannot_save.html#"
STEP, UPDATE, FAILS = PAGE + "master-weights", PAGE + "the-update", PAGE + "if-master"
SMALL = DTYPES = UNSCALE = FAILS
INPUTS = "book/04_one_scaler_step.html#inputs"

INF, NAN = math.inf, math.nan
ULPS = 2
ROUGHLY = 2.0**-6
"""How far, as a share of the larger number, a master may be off for its copy to be worth a look."""

# ------------------------------------------------------------------------- comparing
# These see claims of the student's process: any plain value may come, and none may make them raise.

Arguments = Mapping[str, Any]


def pair_of(got: Outcome) -> tuple[Tensor, Tensor] | str:
    """Return (w16, master), two tensors of any dtype and shape, or a sentence on what came instead."""
    value = got.returned
    if value is None:
        return "it returned None; the last line is `return <w16>, <master>`"
    if type(value) not in (tuple, list):
        return f"it returned {kind_of(value)}, not a tuple of two tensors"
    if len(value) != 2:
        return f"it returned {len(value)} things, not two: w16, then master"
    for name, item in zip(("w16", "master"), value, strict=True):
        if type(item) is not Tensor or item.library != "torch":
            return f"the new {name} is {kind_of(item)}, not a tensor"
    first, second = value
    return first, second


def same_form(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """A tuple of two tensors, float16 and float32, in the shape that came in; their values are not looked at."""
    pair = pair_of(got)
    if isinstance(pair, str):
        return pair
    if type(got.returned) is not tuple:
        return "it returned a list, not a tuple: write `return w16, master` without brackets"
    if (pair[0].dtype, pair[1].dtype) == ("float32", "float16"):
        return "the two parts are swapped: w16 comes first, the master second"
    for name, mine, due in zip(("w16", "master"), pair, want.returned, strict=True):
        for field in ("dtype", "shape"):
            if getattr(mine, field) != getattr(due, field):
                return f"the new {name} has {field} {getattr(mine, field)}, not {getattr(due, field)}"
    return None


def sizes(arguments: Arguments) -> list[float]:
    """Return for each element the larger of |master| and |lr * grad|: what an error of the step is measured by."""
    pairs = zip(arguments["master"].values, arguments["grad"].values, strict=True)
    return [max(abs(weight), abs(arguments["lr"] * slope)) for weight, slope in pairs]


def same_master(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Every element of the master is right within two ulp; w16 is not looked at."""
    pair = pair_of(got)
    if isinstance(pair, str):
        return pair
    mine, due = pair[1].values, want.returned[1].values
    if len(mine) != len(due):
        return f"the new master has {len(mine)} elements, not {len(due)}"
    for index, (value, right, size) in enumerate(zip(mine, due, sizes(arguments), strict=True)):
        if not abs(value - right) <= ULPS * ulp(rounded(size, "float32"), "float32"):
            weight, slope = arguments["master"].values[index], arguments["grad"].values[index]
            sum_ = f"{weight:.9g} - {arguments['lr']:g} * {slope:.9g}"
            return f"element master[{index}] is {value:.9g}, not {right:.9g} ({sum_})"
    return None


def follows(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """Every element of w16 is that of the master that came with it, in float16; the master may be a little off."""
    pair = pair_of(got)
    if isinstance(pair, str):
        return pair
    mine, master, due = pair[0].values, pair[1].values, want.returned[1].values
    if len(mine) != len(due) or len(master) != len(due):
        return f"{len(mine)} elements of w16 and {len(master)} of the master came back, not {len(due)} of each"
    for index, (value, weight, right) in enumerate(zip(mine, master, due, strict=True)):
        if not abs(weight - right) <= ROUGHLY * max(sizes(arguments)[index], 2.0**-26):
            return f"element master[{index}] is {weight:.9g}, far from {right:.9g}, and w16 cannot be judged by it"
        if value != rounded(weight, "float16"):
            copy = rounded(weight, "float16")
            own = f"your own master[{index}] = {weight:.9g}, which is {copy:.9g} in fp16"
            if weight != right:
                own += f" (the master expected above is the reference's, {right:.9g})"
            return f"element w16[{index}] is {value:.9g}, and is judged by {own}"
    return None


def both(arguments: Arguments, got: Outcome, want: Outcome) -> str | None:
    """The master is right, and w16 is not far from it: neither has anything of the old w16."""
    if found := same_master(arguments, got, want):
        return found
    weights, due = got.returned[0].values, want.returned[0].values
    if len(weights) != len(due):
        return f"the new w16 has {len(weights)} elements, not {len(due)}"
    for index, (value, right) in enumerate(zip(weights, due, strict=True)):
        if not abs(value - right) <= ROUGHLY * sizes(arguments)[index]:
            old = arguments["w16"].values[index]
            return f"element w16[{index}] is {value:.9g}, not {right:.9g}: it comes from the old w16, {old:g}"
    return None


def untouched(arguments: Arguments, got: Outcome, want: Outcome) -> str | Mismatch | None:
    """The arguments are as they were; what came back does not change when they are overwritten later."""
    pair = pair_of(got)
    if isinstance(pair, str):
        return pair
    for name in ("w16", "master", "grad"):
        if found := differ(got.after.get(name), want.after[name], where=f"after the call, {name}"):
            return Mismatch(found, show="after")
    if differ(got.later, got.returned):
        found = (
            "something returned shares memory with an argument: it changed when the caller wrote into those afterwards"
        )
        return Mismatch(found, show="later")
    return None


def inputs_alone(case: Case, observed: Any, expected: Any) -> Mismatch | None:
    """Judge each call by ``untouched``, and that the same call made again returns the same."""
    if mismatch := each_call(untouched)(case, observed, expected):
        return mismatch
    for index in range(1, len(case.calls)):
        if differ(observed.outcomes[index].returned, observed.outcomes[0].returned):
            found = "the same call, made again, returned something else: something is remembered between calls"
            return Mismatch(found, call=index)
    return None


# ----------------------------------------------------------------------------- inputs


def step(
    name: str,
    master: Any,
    grad: Any,
    lr: float,
    *,
    w16: Any = None,
    dtype: str = "float32",
    strided: bool = False,
) -> Case:
    """Return a case; the old w16 is the master in float16 unless it is given, and ``dtype`` is the gradient's."""
    return case(
        name,
        w16=tensor(master if w16 is None else w16, "float16", strided=strided),
        master=tensor(master, strided=strided),
        grad=tensor(grad, dtype, strided=strided),
        lr=lr,
    )


def plain_numbers(random: Random, count: int) -> tuple[list[float], list[float], float]:
    """Return master, gradient and rate whose step is exact in float16 as well."""
    master = [random.randint(-256, 256) / 64 for _ in range(count)]
    grad = [random.choice((-1, 1)) * random.randint(8, 32) / 16 for _ in range(count)]
    return master, grad, random.choice((0.5, 0.25, 0.125))


def random_steps(random: Random) -> list[Case]:
    return [step(f"random {i}", *plain_numbers(random, random.randint(1, 5))) for i in (1, 2, 3)]


def small_steps(random: Random) -> Sequence[Case]:
    cases = []
    for i in (1, 2, 3):
        count = random.randint(1, 4)
        master = [random.choice((-1, 1)) * random.uniform(0.5, 2.0) for _ in range(count)]
        grad = [random.choice((-1, 1)) * random.uniform(0.05, 0.2) for _ in range(count)]
        cases.append(step(f"random {i}", master, grad, 1e-3))
    return cases


def half_steps(random: Random) -> Sequence[Case]:
    cases = []
    for i in (1, 2, 3):
        grad = [random.choice((-1, 1)) * 2.0 ** random.uniform(-13, -8) for _ in range(random.randint(1, 4))]
        cases.append(step(f"random {i}", [0.0] * len(grad), grad, 1e-4, dtype="float16"))
    return cases


def copies(random: Random) -> Sequence[Case]:
    cases = []
    for i in (1, 2, 3):
        master = [random.choice((-1, 1)) * 10.0 ** random.uniform(-3, 4) for _ in range(random.randint(2, 5))]
        cases.append(step(f"random {i}", master, [value * 1e-2 for value in master], 0.1))
    return cases


def odd_weights(random: Random) -> Sequence[Case]:
    cases = []
    for i in (1, 2, 3):
        master, grad, rate = plain_numbers(random, random.randint(1, 4))
        master = [value or 1.0 for value in master]
        cases.append(step(f"random {i}", master, grad, rate, w16=[random.choice((NAN, INF, 100.0)) for _ in master]))
    return cases


def random_inputs(random: Random) -> Sequence[Case]:
    return [step(f"random {i}", *plain_numbers(random, 3)) for i in (1, 2)]


# ---------------------------------------------------------------------------- checks

CHECKS = (
    Check(
        id="form",
        title="Returns w16 in float16, then the master in float32, in their shape",
        points=1.0,
        rule="Two tensors come back: what the model computes with, in float16, and what the optimizer keeps, in "
        "float32. Both have the shape of the weight.",
        see=DTYPES,
        judge=each_call(same_form),
        cases=(
            step("one weight", [1.0], [2.0], 0.25),
            step("a float16 gradient", [1.0], [2.0], 0.25, dtype="float16"),
            step("a 0-d weight", 1.0, 2.0, 0.25),
            step("an empty weight", [], [], 0.25),
            step("a matrix", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], 0.5),
            step("a non-contiguous matrix", [[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]], 0.5, strided=True),
        ),
    ),
    Check(
        id="steps_the_master",
        title="Subtracts lr * grad from the master",
        points=2.0,
        rule="Gradient descent goes against the gradient: the new master is the old master - lr * grad, element by "
        "element. Nothing is taken from w16, which need not be equal to it.",
        see=UNSCALE,
        judge=each_call(same_master),
        random=random_steps,
        cases=(
            step("one weight", [2.0], [4.0], 0.25),
            step("a negative gradient", [2.0], [-4.0], 0.25),
            step("a zero gradient", [2.0], [0.0], 0.25),
            step("a rate of zero", [2.0], [4.0], 0.0),
            step("a rate of one", [2.0], [0.5], 1.0),
            step("a weight of zero", [0.0], [4.0], 0.25),
            step("several weights", [1.0, -2.0, 0.5], [2.0, 2.0, -1.0], 0.5),
            step("a float16 gradient", [1.0, -2.0], [2.0, -4.0], 0.25, dtype="float16"),
            # The copy has fewer digits than the master, and the result is a float16 number: this costs whoever steps on
            # the copy, and nobody who computes in float16.
            step("a master between two numbers of float16", [1.0 + 2.0**-12], [1.75], 0.5),
            step("several of them", [3.0 + 2.0**-10, -1.5 - 2.0**-12], [5.75, -2.75], 0.5),
        ),
    ),
    Check(
        id="keeps_small_updates",
        title="Keeps in the master what float16 could not show",
        points=2.0,
        rule="The master is there for updates that are too small for float16: it starts from its own digits, computes "
        "in float32 with the gradient and the rate as they are, and is not rounded to float16 on the way.",
        see=STEP,
        judge=each_call(same_master),
        random=small_steps,
        cases=(
            step("1 + 3e-4, which is 1 in float16", [1.0], [-0.3], 1e-3),
            step("1 - 1e-4", [1.0], [0.1], 1e-3),
            step("a master with digits that w16 does not have", [1.0003], [0.25], 0.5),
            step("an update of 2**-20", [1.0], [2.0**-10], 2.0**-10),
            step("an update that float16 has not at all", [0.0], [1e-5], 1e-3),
            step("a gradient with more digits than float16 has", [0.0], [0.1], 0.5),
            step("a gradient beyond float16", [0.0], [1e5], 2.0**-10),
            step("a rate that float16 would round", [0.0], [1.0], 0.1),
            step("a rate that float16 has not at all", [1.0], [2048.0], 1e-8),
            step("several", [1.0003, -2.0007, 0.5001], [0.3, -0.1, 0.7], 1e-3),
        ),
    ),
    Check(
        id="multiplies_in_float32",
        title="Multiplies a float16 gradient by the rate in float32",
        points=1.0,
        rule="A product with a Python number has the tensor's dtype, so lr * grad is float16 where grad "
        "is: a small product is rounded to zero, a large one to inf. Widen the gradient first.",
        see=SMALL,
        judge=each_call(same_master),
        random=half_steps,
        cases=(
            step("a product that float16 rounds", [0.0], [2.0**-14], 1e-3, dtype="float16"),
            step("a product that float16 loses", [0.0], [2.0**-14], 1e-4, dtype="float16"),
            step("the smallest gradient", [0.0], [2.0**-24], 0.25, dtype="float16"),
            step("a product beyond float16", [0.0], [60000.0], 2.0, dtype="float16"),
            step("several", [0.0, 2.0**-20], [2.0**-12, -(2.0**-10)], 1e-4, dtype="float16"),
        ),
    ),
    Check(
        id="weights_follow_the_master",
        title="Makes w16 from the new master, rounded to float16",
        points=2.0,
        rule="After the step w16 is the new master in float16, to nearest and ties to even, and nothing else: what "
        "they share is then never more than one rounding apart.",
        see=STEP,
        judge=each_call(follows),
        random=copies,
        cases=(
            step("a step that shows", [2.0], [0.25], 0.25),
            step("an update that does not show", [1.0002], [0.3], 1e-3, w16=[1.0]),
            step("an update that begins to show", [1.0004], [-0.3], 1e-3, w16=[1.0]),
            step("a tie that goes down", [1.0 + 2.0**-11], [0.0], 0.5),
            step("a tie that goes up", [1.0 + 3 * 2.0**-11], [0.0], 0.5),
            step("just below a tie", [1.0 + 2.0**-11 - 2.0**-23], [0.0], 0.5),
            step("nearer to the number above", [-1.0 - 1.75 * 2.0**-11], [0.0], 0.5),
            step("a subnormal copy", [1e-6], [0.0], 0.5),
            step("a copy that is zero", [1e-8], [0.0], 0.5),
            step("a copy that rounds down to 65504", [65519.0], [0.0], 0.5),
            step("a copy that is inf", [70000.0], [0.0], 0.5),
            step("a copy that is -inf", [-70000.0], [0.0], 0.5),
        ),
    ),
    Check(
        id="old_weights_do_not_matter",
        title="Does not look at the old w16",
        points=1.0,
        rule="The master holds all that is known about the weight. The old w16 is a rounded copy, and whatever stands "
        "in it makes no difference.",
        see=STEP,
        judge=each_call(both),
        random=odd_weights,
        cases=(
            step("another number", [1.0], [2.0], 0.25, w16=[100.0]),
            step("zero", [1.0], [2.0], 0.25, w16=[0.0]),
            step("nan", [1.0], [2.0], 0.25, w16=[NAN]),
            step("inf", [1.0], [2.0], 0.25, w16=[INF]),
            step("the copy of the master before this one", [1.0, 2.0], [2.0, -2.0], 0.25, w16=[1.5, 1.5]),
        ),
    ),
    Check(
        id="leaves_inputs_alone",
        title="Leaves its arguments as they were, and shares and remembers nothing",
        points=1.0,
        rule="The step makes new tensors: w16, master and grad are the same after the call, nothing returned shares "
        "memory with them, and the same call made again returns the same.",
        see=INPUTS,
        scenario="overwritten",
        judge=inputs_alone,
        random=random_inputs,
        cases=(
            step("one weight", [2.0], [4.0], 0.25),
            step("a rate of zero", [2.0], [4.0], 0.0),
            step("a zero gradient", [2.0], [0.0], 0.25),
            step("a float16 gradient", [2.0, 1.0], [4.0, -2.0], 0.25, dtype="float16"),
            calls("the same call three times", *[step("", [2.0], [4.0], 0.25).calls[0] for _ in range(3)]),
        ),
    ),
)

# ---------------------------------------------------------------------------- beliefs

MISCONCEPTIONS = (
    # why there is a master
    Misconception(
        "half_is_enough",
        "fp16 has enough digits for a weight.",
        "For a weight it has. For a sum of many small updates it has not: next to 1 the gap is 2**-10, and 1 + 3e-4 "
        "is 1, at every step.",
        UPDATE,
    ),
    Misconception(
        "master_is_only_a_copy",
        "w16.float() is the master.",
        "It has the dtype and not the digits. What rounding took from w16 is in the master alone, and every earlier "
        "update that did not show is part of it.",
        STEP,
    ),
    Misconception(
        "both_hold_the_same",
        "After the step I make the two equal.",
        "Rounding the master to fp16 throws away just what it is there for. w16 follows the master, never the other "
        "way round.",
        STEP,
    ),
    Misconception(
        "what_does_not_show_is_lost",
        "An update that does not change w16 can be left out.",
        "It does not show alone. After a few of them w16 moves, provided that the master has kept them.",
        STEP,
    ),
    Misconception(
        "weights_are_updated_too",
        "Both copies get the same update.",
        "In fp16 the update is rounded, and the sum again. After some steps w16 and the master are two different "
        "models. Make w16 anew from the master.",
        STEP,
    ),
    Misconception(
        "weights_follow_by_themselves",
        "The master is what counts, w16 can stay.",
        "The model computes with w16. If it is not made anew the model never learns, while the master walks on.",
        STEP,
    ),
    Misconception(
        "order_does_not_matter",
        "I make w16 first and step then.",
        "Then the model computes with the weights of the step before, always one behind.",
        STEP,
    ),
    Misconception(
        "weights_know_better",
        "If w16 and the master disagree, w16 is right.",
        "They disagree at nearly every step, because w16 is rounded. The master is what the optimizer has built up.",
        STEP,
    ),
    Misconception(
        "weights_must_agree",
        "The old w16 must be in order before I step.",
        "Nothing is read from it. It is about to be replaced, whatever it holds.",
        STEP,
    ),
    # dtypes
    Misconception(
        "promotion_comes_in_time",
        "float32 minus float16 is float32, so the precision is kept.",
        "The subtraction is. The product lr * grad was made before it, in fp16: 1e-4 * 6e-5 is zero there. Write "
        "lr * grad.float().",
        SMALL,
    ),
    Misconception(
        "gradients_belong_in_half",
        "The gradients come from fp16, so fp16 is their dtype.",
        "Unscaled they are small again, and often below what fp16 can hold. Unscaling in fp32 was done to keep them.",
        SMALL,
    ),
    Misconception(
        "rate_fits_half",
        "The learning rate may be fp16, too.",
        "0.1 becomes 0.09998 and 1e-8 becomes 0. A Python float stays out of this as long as it multiplies a float32 "
        "tensor.",
        SMALL,
    ),
    Misconception(
        "everything_is_half",
        "Mixed precision means fp16.",
        "It means both: fp16 where the model computes, float32 where small things add up. A master in fp16 is none.",
        DTYPES,
    ),
    Misconception(
        "weights_need_no_cast",
        "The model can use the master.",
        "Then it computes in float32, at the speed and the memory of float32. What it gets is the fp16 copy.",
        DTYPES,
    ),
    Misconception(
        "any_sixteen_bits_will_do",
        "bfloat16 has 16 bits as well.",
        "Eight digits in place of eleven: another rounding, and another dtype than the model's other tensors.",
        DTYPES,
    ),
    Misconception(
        "wider_is_safer",
        "A master in float64 is safer.",
        "It doubles the largest part of the optimizer's memory, and float32 already resolves updates of 1e-7 of a "
        "weight. Compute in float64 if you like, and return float32.",
        DTYPES,
    ),
    Misconception(
        "weights_are_a_vector",
        "Weights are a long list of numbers.",
        "The layer that they belong to has a shape, and expects them in it.",
        DTYPES,
    ),
    # the copy
    Misconception(
        "weights_saturate",
        "A weight beyond fp16 becomes 65504.",
        "Clamped, it would be another weight, and nobody would notice. inf can be found by isfinite, and says that "
        "this weight does not fit.",
        STEP,
    ),
    Misconception(
        "cast_truncates",
        "A cast drops the digits that do not fit.",
        ".half() rounds to the nearest number, and a tie to the even one. Cutting off makes every weight smaller.",
        STEP,
    ),
    Misconception(
        "small_weights_are_noise",
        "Subnormal weights are noise.",
        "fp16 stores them, if coarsely. Nobody asked to set them to zero.",
        STEP,
    ),
    # the step
    Misconception(
        "gradient_points_down",
        "The gradient shows where to go.",
        "It shows where the loss grows. Going down means subtracting it.",
        UNSCALE,
    ),
    Misconception(
        "gradient_is_still_scaled",
        "The gradient has to be unscaled here.",
        "It is unscaled already. Dividing again makes a step that is 65536 times too small.",
        UNSCALE,
    ),
    Misconception(
        "direction_is_enough",
        "Only the gradient's sign matters.",
        "That is another optimizer. Gradient descent takes long steps where the slope is steep.",
        UNSCALE,
    ),
    Misconception(
        "rate_is_in_the_gradient",
        "The learning rate is in the gradient already.",
        "Nothing has multiplied it so far. Without the rate a step is as long as the gradient.",
        UNSCALE,
    ),
    Misconception(
        "weights_decay_by_themselves",
        "An optimizer decays its weights.",
        "AdamW's do unless told otherwise. Asked for here is plain gradient descent.",
        UNSCALE,
    ),
    # form
    Misconception(
        "master_comes_first",
        "The master is the more important one, so it comes first.",
        "The caller unpacks `w16, master = ...`. Swapped, the model gets float32 and the next master has lost digits.",
        DTYPES,
    ),
    Misconception(
        "weights_can_be_derived",
        "The caller can make w16 from the master.",
        "It can, and relies on this function to do it: two tensors are asked for.",
        DTYPES,
    ),
    # the arguments
    Misconception(
        "optimizers_work_in_place",
        "PyTorch's optimizers work in place, so may I.",
        "Here the tensors belong to the caller, who may still need them. master - ... makes a new one; -=, sub_ and "
        "copy_ write into the old one.",
        INPUTS,
    ),
    Misconception(
        "float_makes_a_copy",
        "grad.float() is a copy.",
        "Of a float16 tensor it is. A float32 tensor's .float() is the tensor itself, and mul_ changes the caller's "
        "gradient.",
        INPUTS,
    ),
    Misconception(
        "same_values_same_tensor",
        "With a rate of zero I can return the master itself.",
        "The values are right, but it is the caller's own tensor: what is written into one shows in the other.",
        INPUTS,
    ),
    Misconception(
        "every_step_has_momentum",
        "A step continues the one before.",
        "Plain gradient descent does not. And a default argument lives as long as the function: two models would share "
        "one velocity.",
        INPUTS,
    ),
)
