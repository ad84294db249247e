"""The page's torch computes what PyTorch computes: values, rounding, inf and nan, signs of zero, dtypes, errors."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, Final

import pytest
import torch

from autograder.browser.torch_standin import operations

FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
ALL: Final = (*FLOATS, "int32", "int64", "int16", "int8", "uint8", "bool")
EXACT: Final = (
    "isfinite", "isinf", "isnan", "isposinf", "isneginf", "abs", "neg", "square", "floor", "ceil", "round", "trunc",
    "sign", "nan_to_num", "logical_not",
)  # fmt: skip
NEAR: Final = ("sqrt", "log2", "exp2")
"""Which PyTorch takes from a vectorized library: right to a few units in the last place."""
BINARY: Final = ("add", "sub", "mul", "div", "maximum", "minimum", "eq", "ne", "lt", "ge", "floor_divide", "remainder")
OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "==": operator.eq,
    "<": operator.lt, ">=": operator.ge,
}  # fmt: skip
WIDE: Final = (torch.float32, torch.float64)
SCALARS: Final = (
    0.5, 2.0, 3.0, 1e-4, 1.0001, 65536.0, 1 / 65536, 65519.0, 65520.0, 1e9, 1e39, -0.0, 2.0**-25, float("inf"),
    float("nan"), 7, -3, 1024, True,
)  # fmt: skip


def numbers(dtype: str, count: int, seed: int = 1) -> torch.Tensor:
    """Return random bit patterns of a dtype: every exponent, subnormals, inf and nan are among them."""
    generator = torch.Generator().manual_seed(seed)
    kind = getattr(torch, dtype)
    if dtype == "bool":
        return torch.randint(0, 2, (count,), generator=generator).bool()
    if not kind.is_floating_point:
        return torch.randint(-100, 100, (count,), generator=generator).to(kind)
    bits = kind.itemsize * 8
    whole = {16: torch.int16, 32: torch.int32, 64: torch.int64}[bits]
    raw = torch.randint(-(2**62), 2**62, (count,), generator=generator)
    return (raw * 2 + raw.bitwise_and(1) if bits == 64 else raw.bitwise_right_shift(20).to(whole)).view(kind)


def every(dtype: str) -> torch.Tensor:
    """Return all 65,536 numbers of a dtype of 16 bits."""
    return torch.arange(-(2**15), 2**15).to(torch.int16).view(getattr(torch, dtype))


def mine(page: ModuleType, tensor: torch.Tensor) -> Any:
    return page.tensor(tensor.tolist(), dtype=getattr(page, str(tensor.dtype).removeprefix("torch.")))


def same(got: Any, want: Any, what: str, near: float = 0.0) -> None:
    """Fail unless dtype, shape and every element are equal, the sign of zero too; nan equals nan."""
    if not isinstance(want, torch.Tensor):
        assert got == want, what
        return
    assert (str(got.dtype), tuple(got.shape)) == (str(want.dtype), tuple(want.shape)), what
    back = torch.tensor(got.tolist(), dtype=want.dtype).reshape(want.shape)
    alike = (back == want) | ((back != back) & (want != want))
    if want.dtype.is_floating_point:
        alike &= (torch.signbit(back) == torch.signbit(want)) | (want != want)
        if near:
            alike |= (back.double() - want.double()).abs() <= near * want.double().abs() + 2 * smallest(want.dtype)
    assert bool(alike.all()), (what, int((~alike).sum()), back[~alike][:3], want[~alike][:3])


def smallest(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).tiny * torch.finfo(dtype).eps


def pairs(page: ModuleType, count: int, seed: int = 1) -> None:
    for first, second in itertools.product(ALL, ALL):
        x, y = numbers(first, count, seed), numbers(second, count, seed + 1)
        a, b = mine(page, x), mine(page, y)
        for name in BINARY:
            theirs = outcome(getattr(torch, name), x, y)
            if left_out(name, torch.promote_types(x.dtype, y.dtype), theirs):
                continue
            same(outcome(getattr(page, name), a, b), theirs, f"{name}({first}, {second})")


def left_out(name: str, kind: torch.dtype, theirs: Any) -> bool:
    """Return whether the page says that it does not have this: a division of floats by a way of torch's own."""
    if name == "floor_divide":
        return not (isinstance(theirs, torch.Tensor) and theirs.dtype in WIDE)
    return name == "remainder" and kind.is_floating_point


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns, or the name of the exception that it raises."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error).__name__


def scalars(page: ModuleType, count: int, seed: int = 1) -> None:
    kinds = (None, torch.float16, torch.float32, torch.float64)
    for dtype, scalar, kind in itertools.product(ALL, SCALARS, kinds):
        x = numbers(dtype, count, seed)
        theirs = scalar if kind is None else torch.tensor(scalar, dtype=kind)
        ours = scalar if kind is None else mine(page, theirs)
        a = mine(page, x)
        for sign, compute in OPERATORS.items():
            what = f"{dtype} {sign} {scalar} ({kind})"
            same(outcome(compute, a, ours), outcome(compute, x, theirs), what)
            same(outcome(compute, ours, a), outcome(compute, theirs, x), f"{what}, reversed")


def conversions(page: ModuleType, count: int, seed: int = 1) -> None:
    for dtype in FLOATS:
        x = every(dtype) if dtype.endswith("16") and count >= 2**16 else numbers(dtype, count, seed)
        a = mine(page, x)
        for other in FLOATS:
            same(a.to(getattr(page, other)), x.to(getattr(torch, other)), f"{dtype} to {other}")
        for name in EXACT:
            same(getattr(page, name)(a), getattr(torch, name)(x), f"{name}({dtype})")
        for name in NEAR:
            near = 4 * torch.finfo(x.dtype).eps
            same(getattr(page, name)(a), getattr(torch, name)(x), f"{name}({dtype})", near)
        whole = {2: "int16", 4: "int32", 8: "int64"}[x.dtype.itemsize]
        real = x[x == x]  # a nan's payload does not survive the way through Python
        same(mine(page, real).view(getattr(page, whole)), real.view(getattr(torch, whole)), f"bits of {dtype}")
        bits = real.view(getattr(torch, whole))
        same(mine(page, bits).view(getattr(page, dtype)), real, f"{dtype} from bits")


def test_every_half_and_many_others_convert_and_compute_alone(page_torch: ModuleType) -> None:
    conversions(page_torch, 2**16)


def test_two_operands_promote_and_round(page_torch: ModuleType) -> None:
    pairs(page_torch, 300)


def test_numbers_and_tensors_without_dimensions(page_torch: ModuleType) -> None:
    scalars(page_torch, 60)


@pytest.mark.long
def test_millions_more(page_torch: ModuleType) -> None:
    for seed in range(10, 16):
        conversions(page_torch, 100_000, seed)
        pairs(page_torch, 3_000, seed)
        scalars(page_torch, 500, seed)


def test_doubles_are_rounded_through_float32(page_torch: ModuleType) -> None:
    twice = 1 + 2.0**-11 + 2.0**-40  # once rounded it is the neighbor above, through float32 a tie to even
    assert page_torch.tensor([twice], dtype=page_torch.float16).item() == 1.0
    assert torch.tensor([twice], dtype=torch.float64).half().item() == 1.0


def test_reductions(page_torch: ModuleType) -> None:
    tries = [
        [],
        [0.0],
        [1.5, -2.0],
        [float("inf"), 1.0],
        [float("nan"), 1.0],
        [float("inf"), -float("inf")],
        [3e38] * 2,
    ]
    for values, dtype in itertools.product(tries, FLOATS):
        x = torch.tensor(values, dtype=getattr(torch, dtype))
        a = mine(page_torch, x)
        for name in ("all", "any", "sum", "mean", "prod", "max", "min", "amax", "amin", "count_nonzero", "numel"):
            theirs = outcome(getattr(torch, name), x)
            same(outcome(getattr(page_torch, name), a), theirs, f"{name}({values}, {dtype})")
    masks = torch.tensor([True, False, True])
    for name in ("sum", "all", "any", "count_nonzero"):
        same(getattr(page_torch, name)(mine(page_torch, masks)), getattr(torch, name)(masks), name)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0), (0, 3), (2, 3, 4), (1, 2, 1)])
def test_whether_all_or_any_along_a_dimension(page_torch: ModuleType, shape: tuple[int, ...]) -> None:
    made = torch.Generator().manual_seed(sum(shape))
    for _ in range(5):
        x = torch.randint(0, 2, shape, generator=made).float()
        a = mine(page_torch, x).reshape(shape)  # a list without rows does not say how long they are
        for name, dim, keepdim in itertools.product(("all", "any"), range(-3, 3), (False, True)):
            what = f"{name}({x.tolist()}, dim={dim}, keepdim={keepdim})"
            found = [outcome(partial(getattr(t, name), dim=dim, keepdim=keepdim)) for t in (a, x)]
            same(*found, what)


SAID: Final = (
    "T.tensor([]).max()", "bool(T.tensor([1., 2.]))", "bool(T.tensor([]))", "T.tensor([1., 2.]).item()",
    "T.tensor([1., 2.]) + T.tensor([1., 2., 3.])", "float(T.tensor([1., 2.]))", "T.zeros(2, 3)[5]",
    "T.tensor([1]).mul_(1.5)", "T.cat([])", "T.stack([T.zeros(1), T.zeros(2)])", "T.isfinite([1.0])", "T.isinf(None)",
    "T.tensor([1.0]) / None", "None / T.tensor([1.])", "T.tensor([1.0]) + 'a'", "T.tensor([1., 2.]).reshape(3)",
    "T.tensor([1.0, 2.0]) > [1.0]", "abs(T.tensor([True]))", "T.tensor([True]) - T.tensor([True])",
    "-T.tensor([True])", "T.tensor([1.5]) & T.tensor([1.5])", "~T.tensor([1.5])", "T.tensor([1, 2]).mean()",
    "T.tensor([1.0, 2.0])[T.tensor([True])]", "len(T.tensor(1.))", "list(T.tensor(1.))", "True - T.tensor([1.0])",
)  # fmt: skip


@pytest.mark.parametrize("code", SAID)
def test_what_torch_refuses_is_refused_in_its_words(page_torch: ModuleType, code: str) -> None:
    said = []
    for module in (torch, page_torch):
        with pytest.raises(Exception, match=r".") as caught:
            eval(code, {"T": module})
        said.append((type(caught.value).__name__, str(caught.value)))
    assert said[0] == said[1]


ALIASES: Final = (
    "y = x.reshape(-1); y.mul_(2)", "y = x.view(4); y[0] = 9", "y = x.detach(); y.fill_(3)", "y = x[0]; y += 1",
    "y = x[:, 1]; y.zero_()", "y = x[..., 0]; y.copy_(T.tensor([7., 8.]))", "y = x.float(); y.neg_()",
    "y = x.clone(); y.neg_()", "y = x.half(); y.neg_()", "y = x[x > 2]; y.zero_()", "x[x > 2] = 0.5", "x[1, 0] = 5",
    "y = x.flatten().split([1, 3])[1]; y.div_(4)", "y = x.contiguous(); y.abs_()", "y = x[:, 0].reshape(-1); y.zero_()",
    "x /= 2", "x = x / 2", "x -= T.tensor([1., 2.])", "y = x.unsqueeze(0); y.clamp_(min=2.0)", "x.add_(x, alpha=-0.5)",
    "T._foreach_mul_([x], 0.25)", "y = x.to(T.float32); y.zero_()", "y = x.to(T.float32, copy=True); y.zero_()",
    "y = x.view(T.int32); y.add_(1)", "y = x.view(T.int32)[0]; y[1] = 0", "y = x[:, 1].view(T.int32); y += 1",
    "y = x.view(T.int32).view(T.float32); y.neg_()", "y = x.view(T.int32) + 1", "x.view(T.int32)[1] = 0",
    "y = x.view(T.int32).view(-1); y.fill_(7)", "y = x.double().view(T.int64); y.zero_()",
    "y = x.masked_fill(x > 1, -1.0)", "x.masked_fill_(x > 1, -1.0)", "y = x.ravel(); y.nan_to_num_()",
)  # fmt: skip


@pytest.mark.parametrize("code", ALIASES)
def test_what_shares_memory_shares_it_and_what_does_not_does_not(page_torch: ModuleType, code: str) -> None:
    seen = []
    for module in (torch, page_torch):
        names: dict[str, Any] = {"T": module, "x": module.tensor([[1.0, 2.0], [3.0, -4.0]])}
        original = names["x"]
        exec(code, names)
        last = names.get("y", names["x"])
        seen.append((original.tolist(), last.tolist(), str(last.dtype), tuple(last.shape)))
    assert seen[0] == seen[1]


NANS: Final = (0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FC00001, 0x7FFFFFFF, 0x7F812345)
READ: Final = (
    "x", "x.clone()", "x[2:]", "x.reshape(2, -1)", "T.where(T.isfinite(x), T.zeros_like(x), x)",
    "T.zeros_like(x).copy_(x)", "x.view(T.int32).view(T.float32)", "x.contiguous().detach()",
)  # fmt: skip


@pytest.mark.parametrize("code", READ)
def test_a_nan_keeps_its_bits_where_it_is_only_moved(page_torch: ModuleType, code: str) -> None:
    words = [*NANS, *(bits | 0x80000000 for bits in NANS), 0x7F800000, 0x80000000]
    signed = [bits - (bits >> 31 << 32) for bits in words]
    seen = []
    for module in (torch, page_torch):
        x = module.tensor(signed, dtype=module.int32).view(module.float32)
        seen.append(eval(code, {"T": module, "x": x}).view(module.int32).tolist())
    assert seen[0] == seen[1]


def test_finfo_is_torchs(page_torch: ModuleType) -> None:
    for dtype in FLOATS:
        theirs, ours = torch.finfo(getattr(torch, dtype)), page_torch.finfo(getattr(page_torch, dtype))
        for name in ("bits", "max", "min", "eps", "tiny", "smallest_normal"):
            assert getattr(ours, name) == getattr(theirs, name), (dtype, name)


# -------------------------------------------------------------------------- the list of operations


def test_the_list_of_operations_is_what_there_is(page_torch: ModuleType) -> None:
    own = {name for name in dir(page_torch.Tensor) if not name.startswith("_")}
    assert own == operations.methods() | set(operations.ATTRIBUTES)
    named = operations.functions() | {*operations.DTYPES, *operations.CONSTANTS, *operations.OTHERS}
    parts = {"dtypes", "tensor", "operations", "making", "elementwise", "reductions", "shaping", "methods", "math"}
    there = {name for name in vars(page_torch) if not name.startswith("_")}
    assert there - {"annotations", "absent", "NoReturn"} - parts <= named
    assert {name for name in named if not hasattr(page_torch, name)} == set()
    assert {name for name in named | own if not hasattr(torch, name) and not hasattr(torch.Tensor, name)} == set()


def test_what_is_not_there_says_so(page_torch: ModuleType) -> None:
    for code in ("T.frexp(x)", "x.numpy()", "x.cuda()", "T.nn", "x.sum(dim=0)", "T.zeros(1, device='cuda')"):
        with pytest.raises(page_torch.operations.NotInThePage, match="in the page; run it in the notebook, in Colab"):
            eval(code, {"T": page_torch, "x": page_torch.tensor([1.0])})
    assert not hasattr(page_torch.tensor([1.0]), "__array__")
