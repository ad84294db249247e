"""Operations that take their operands element by element: arithmetic, comparisons, masks and bits."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from . import dtypes
from .dtypes import Number
from .dtypes import dtype as Dtype
from .making import must, result_type
from .operations import absent
from .tensor import Tensor, operand, spread, together

_HALVES: Final = (dtypes.float16, dtypes.bfloat16)

# ----------------------------------------------------------------- two operands, elementwise


def _pair(first: Any, second: Any, kind: Dtype, wide: str = "") -> tuple[list[Number], list[Number], list[int]]:
    """Return the elements of two operands in a dtype, spread over their common shape, and that shape.

    Args:
        first: a tensor or a number.
        second: a tensor or a number.
        kind: the dtype that both are brought to.
        wide: which operands ("1", "2") stay in float32, where the dtype is a half and they have no dimension.
    """
    shape = together(*(value.shape if isinstance(value, Tensor) else () for value in (first, second)))
    sides = []
    for place, value in (("1", first), ("2", second)):
        values, own, _ = operand(value)
        single = kind in _HALVES and place in wide and not own
        values = dtypes.convert(values, dtypes.float32 if single else kind)
        sides.append(
            [values[at] for at in spread(own, shape)]
            if len(values) != math.prod(shape) or own != tuple(shape)
            else values
        )
    return sides[0], sides[1], shape


def _arithmetic(
    first: Any, second: Any, compute: Callable[[Number, Number], Number], *, wide: str = "", floating: bool = False
) -> Tensor:
    kind = result_type(first, second)
    if floating and kind.kind < 2:
        kind = dtypes.float32
    a, b, shape = _pair(first, second, kind, wide)
    return Tensor(dtypes.convert(list(map(compute, a, b)), kind), kind, shape)


def divided(a: float, b: float) -> float:
    if b:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _power(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        return a**b if b >= 0 else int(abs(a) == 1 and a**b)
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        return math.inf if a == 0 else math.nan


def _scaled(other: Any, alpha: Number) -> Any:
    """Return ``alpha * other`` before it is rounded: what add and sub do with ``alpha`` is one operation."""
    if alpha == 1:
        return other
    kind = other.dtype if isinstance(other, Tensor) else dtypes.float64
    if kind.kind < 2:
        return mul(other, alpha) if isinstance(other, Tensor) else other * alpha
    factor = dtypes.convert([alpha], dtypes.float64 if kind is dtypes.float64 else dtypes.float32)[0]
    values, shape, _ = operand(other)
    return Tensor([value * factor for value in values], dtypes.float64, shape)


def _sum_of(input: Any, other: Any, alpha: Number, sign: int) -> Tensor:
    kind = result_type(input, other)
    if sign < 0 and kind is not dtypes.bool_ and any(map(_is_bool, (input, other))):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead."
        )
    if sign < 0 and kind is dtypes.bool_:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    if alpha == 1:
        return _arithmetic(input, other, operator.add if sign > 0 else operator.sub)
    a, b, shape = _pair(input, _scaled(other, alpha), dtypes.float64 if kind.kind == 2 else kind)
    combined = [x + sign * y for x, y in zip(a, b, strict=True)]
    return Tensor(dtypes.convert(combined, kind), kind, shape)


def _is_bool(value: Any) -> bool:
    return value.dtype is dtypes.bool_ if isinstance(value, Tensor) else isinstance(value, bool)


def add(input: Any, other: Any, *, alpha: Number = 1) -> Tensor:
    """Return ``input + alpha * other``."""
    return _sum_of(input, other, alpha, 1)


def sub(input: Any, other: Any, *, alpha: Number = 1) -> Tensor:
    """Return ``input - alpha * other``."""
    return _sum_of(input, other, alpha, -1)


def mul(input: Any, other: Any) -> Tensor:
    """Return the product. The second, if a number or of no dimension, is not rounded to a half before it multiplies."""
    return _arithmetic(input, other, operator.mul, wide="2")


def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """Return the quotient, which is one of floating point."""
    if rounding_mode == "floor" and out is None:
        return floor_divide(input, other)
    if rounding_mode is not None:
        absent(f"torch.div(rounding_mode={rounding_mode!r})")
    result = _arithmetic(input, other, divided, wide="2", floating=True)
    return result if out is None else out.copy_(result)


def _floor_divided(a: int, b: int) -> int:
    if b == 0:
        raise RuntimeError("ZeroDivisionError")
    return a // b


def _floor_in(kind: Dtype) -> Callable[[float, float], float]:
    """Return torch's way to round a quotient down: from the remainder, each step rounded to the dtype."""

    def rounded(value: float) -> float:
        return float(dtypes.convert([value], kind)[0])

    def divide(a: float, b: float) -> float:
        if b == 0 or not math.isfinite(a) or b != b:
            return divided(a, b) if b == 0 else math.nan
        rest = math.fmod(a, b)
        whole = rounded(divided(rounded(a - rest), b))
        if rest and (b < 0) != (rest < 0):
            whole = rounded(whole - 1)
        if whole == 0:
            return math.copysign(0.0, divided(a, b))
        if not math.isfinite(whole):
            return whole
        below = float(math.floor(whole))
        return below + 1 if whole - below > 0.5 else below

    return divide


def floor_divide(input: Any, other: Any) -> Tensor:
    """Return the quotient, rounded down; not of halves, whose quotient torch rounds in steps of its own."""
    kind = result_type(input, other)
    if kind in _HALVES:
        absent("torch.floor_divide of float16 and bfloat16")
    return _arithmetic(input, other, _floor_in(kind) if kind.kind == 2 else _floor_divided)


def _rest(a: int, b: int) -> int:
    if b == 0:
        raise RuntimeError("ZeroDivisionError")
    return a % b


def remainder(input: Any, other: Any) -> Tensor:
    """Return what is left of a division that rounds down; of whole numbers alone: torch's fmod has limits."""
    kind = result_type(input, other)
    if kind.kind == 2:
        absent("torch.remainder of floating-point numbers")
    if kind is dtypes.bool_:
        raise NotImplementedError("\"remainder_cpu\" not implemented for 'Bool'")
    return _arithmetic(input, other, _rest)


def reversed_div(input: Tensor, other: Any) -> Tensor:
    """Return ``other / input``, which torch computes by the reciprocal where ``other`` is a Python number."""
    return div(other, input) if isinstance(other, Tensor) else mul(div(1.0, input), other)


def power(input: Any, exponent: Any) -> Tensor:
    """Return the power."""
    if result_type(input, exponent) is dtypes.bool_:
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    return _arithmetic(input, exponent, _power, wide="2")


def larger(a: Number, b: Number) -> Number:
    return a if a != a or a >= b else b


def smaller(a: Number, b: Number) -> Number:
    return a if a != a or a <= b else b


def maximum(input: Tensor, other: Tensor) -> Tensor:
    """Return the larger of each two elements; nan where either is."""
    return _arithmetic(must("maximum", input), other, larger)


def minimum(input: Tensor, other: Tensor) -> Tensor:
    """Return the smaller of each two elements; nan where either is."""
    return _arithmetic(must("minimum", input), other, smaller)


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """Return ``input + value * tensor1 * tensor2``."""
    return add(input, mul(mul(tensor1, value), tensor2))


def _compared(compute: Callable[[Number, Number], bool]) -> Callable[[Any, Any], Tensor]:
    def compare(input: Any, other: Any) -> Tensor:
        a, b, shape = _pair(input, other, result_type(input, other))
        return Tensor(list(map(compute, a, b)), dtypes.bool_, shape)

    return compare


eq, ne = _compared(operator.eq), _compared(operator.ne)
lt, le, gt, ge = _compared(operator.lt), _compared(operator.le), _compared(operator.gt), _compared(operator.ge)


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether shapes and elements are equal."""
    return tuple(input.shape) == tuple(other.shape) and _true(eq(input, other))


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Return where ``|input - other| <= atol + rtol * |other|``."""

    def close(a: float, b: float) -> bool:
        if a == b or (equal_nan and a != a and b != b):
            return True
        return math.isfinite(a) and math.isfinite(b) and abs(a - b) <= atol + rtol * abs(b)

    return _compared(close)(input, other)


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Return whether ``isclose`` holds everywhere."""
    return _true(isclose(input, other, rtol, atol, equal_nan))


def _true(mask: Tensor) -> bool:
    return False not in mask._values()


# ------------------------------------------------------------------ one operand, elementwise


def _each(name: str, compute: Callable[[Number], Number], *, floating: bool = False) -> Callable[[Tensor], Tensor]:
    def apply(input: Tensor) -> Tensor:
        kind = must(name, input).dtype
        if floating and kind.kind < 2:
            kind = dtypes.float32
        return Tensor(dtypes.convert(list(map(compute, input._values())), kind), kind, input.shape)

    return apply


def _asked(name: str, compute: Callable[[Number], bool]) -> Callable[[Tensor], Tensor]:
    def ask(input: Tensor) -> Tensor:
        return Tensor(list(map(compute, must(name, input)._values())), dtypes.bool_, input.shape)

    return ask


def _kept(compute: Callable[[float], Number]) -> Callable[[Number], Number]:
    """Return a rounding to whole numbers that keeps inf, nan and the sign of zero."""

    def rounding(value: Number) -> Number:
        return math.copysign(compute(value), value) if isinstance(value, float) and math.isfinite(value) else value

    return rounding


def _log2(value: float) -> float:
    return math.log2(value) if value > 0 else -math.inf if value == 0 else math.nan


def _sign(value: Number) -> Number:
    return (value > 0) - (value < 0)  # 0 for nan, as in torch


isfinite, isinf, isnan = _asked("isfinite", math.isfinite), _asked("isinf", math.isinf), _asked("isnan", math.isnan)
isposinf = _asked("isposinf", lambda value: value == math.inf)
isneginf = _asked("isneginf", lambda value: value == -math.inf)
square = _each("square", lambda value: value * value)
sqrt = _each("sqrt", lambda value: math.sqrt(value) if value >= 0 else math.nan, floating=True)
log2 = _each("log2", _log2, floating=True)
exp2 = _each("exp2", lambda value: _power(2.0, float(value)), floating=True)
floor, ceil = _each("floor", _kept(math.floor)), _each("ceil", _kept(math.ceil))
trunc = _each("trunc", _kept(math.trunc))
sign = _each("sign", _sign)
_rounded = _each("round", _kept(round))


def nearest(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Return the nearest whole numbers, or the nearest with so many decimals, ties to even."""
    if decimals < 0:
        absent("torch.round(decimals=...) below 0")
    return div(_rounded(mul(input, 10.0**decimals)), 10.0**decimals) if decimals else _rounded(input)


def magnitude(input: Tensor) -> Tensor:
    """Return the magnitudes."""
    if must("abs", input).dtype is dtypes.bool_:
        raise NotImplementedError("\"abs_cpu\" not implemented for 'Bool'")
    return (
        _each("abs", lambda value: value if value > 0 else -value if value < 0 else value * 0 + 0)(input)
        if (input.dtype.kind < 2)
        else _each("abs", math.fabs)(input)
    )


def neg(input: Tensor) -> Tensor:
    """Return the negatives."""
    if must("neg", input).dtype is dtypes.bool_:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )
    return _each("neg", operator.neg)(input)


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Return the elements, those below ``min`` and above ``max`` replaced by these."""
    result = must("clamp", input)
    if min is not None:
        result = _arithmetic(result, min, larger)
    if max is not None:
        result = _arithmetic(result, max, smaller)
    return result.clone() if result is input else result


def nan_to_num(input: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """Return the elements with finite numbers in place of nan, inf and -inf: 0 and the dtype's largest by default."""
    if must("nan_to_num", input).dtype.kind < 2:
        return input.clone()
    limits = dtypes.finfo(input.dtype)
    top = limits.max if posinf is None else posinf
    bottom = limits.min if neginf is None else neginf
    swap = {math.inf: top, -math.inf: bottom}
    return _each("nan_to_num", lambda value: nan if value != value else swap.get(value, value))(input)


# -------------------------------------------------------------------------- masks and bits


def _logical(compute: Callable[[bool, bool], bool]) -> Callable[[Tensor, Tensor], Tensor]:
    def combine(input: Tensor, other: Tensor) -> Tensor:
        a, b, shape = _pair(input, other, dtypes.bool_)
        return Tensor(list(map(compute, a, b)), dtypes.bool_, shape)

    return combine


logical_and, logical_or = _logical(operator.and_), _logical(operator.or_)
logical_xor = _logical(operator.xor)
logical_not = _asked("logical_not", operator.not_)


def _bitwise(name: str, compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Tensor]:
    def combine(input: Any, other: Any) -> Tensor:
        kind = result_type(input, other)
        if kind.kind == 2:
            shown = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16"}[kind.name]
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{shown}'")
        return _arithmetic(input, other, compute)

    return combine


bitwise_and, bitwise_or = _bitwise("bitwise_and", operator.and_), _bitwise("bitwise_or", operator.or_)
bitwise_xor = _bitwise("bitwise_xor", operator.xor)


def bitwise_not(input: Tensor) -> Tensor:
    """Return whole numbers with every bit turned, truth values with the other one."""
    if must("bitwise_not", input).dtype.kind == 2:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return logical_not(input) if input.dtype is dtypes.bool_ else _each("bitwise_not", operator.invert)(input)


def _shifted(compute: Callable[[int, int], int]) -> Callable[[Any, Any], Tensor]:
    def shift(input: Any, other: Any) -> Tensor:
        return _bitwise("shift", compute)(input, other)

    return shift


shift_left, shift_right = _shifted(operator.lshift), _shifted(operator.rshift)


def where(condition: Tensor, input: Any = None, other: Any = None) -> Tensor:
    """Return elements of ``input`` where the condition holds, of ``other`` where not."""
    if input is None or other is None:
        absent("torch.where(condition) alone")
    kind = result_type(input, other)
    shape = together(must("where", condition).shape, together(*(operand(v)[1] for v in (input, other))))
    sides = []
    for value in (condition, input, other):
        values, own, given = operand(value)
        # What has the dtype already is chosen as it is, bit for bit: a nan's are its own.
        values = values if value is condition or given is kind else dtypes.convert(values, kind)
        sides.append([values[at] for at in spread(own, shape)])
    return Tensor([a if yes else b for yes, a, b in zip(*sides, strict=True)], kind, shape)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Return the elements where the mask holds, in one dimension."""
    return must("masked_select", input)[mask].flatten()


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "neg": neg,
    "abs": magnitude,
    "square": square,
    "sqrt": sqrt,
    "pow": power,
    "maximum": maximum,
    "minimum": minimum,
    "addcmul": addcmul,
    "log2": log2,
    "exp2": exp2,
    "floor": floor,
    "ceil": ceil,
    "round": nearest,
    "trunc": trunc,
    "sign": sign,
    "clamp": clamp,
    "nan_to_num": nan_to_num,
    "eq": eq,
    "ne": ne,
    "lt": lt,
    "le": le,
    "gt": gt,
    "ge": ge,
    "equal": equal,
    "isclose": isclose,
    "allclose": allclose,
    "isfinite": isfinite,
    "isinf": isinf,
    "isnan": isnan,
    "isposinf": isposinf,
    "isneginf": isneginf,
    "logical_and": logical_and,
    "logical_or": logical_or,
    "logical_not": logical_not,
    "logical_xor": logical_xor,
    "bitwise_and": bitwise_and,
    "bitwise_or": bitwise_or,
    "bitwise_not": bitwise_not,
    "bitwise_xor": bitwise_xor,
    "bitwise_left_shift": shift_left,
    "bitwise_right_shift": shift_right,
    "where": where,
    "masked_select": masked_select,
}
