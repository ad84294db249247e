"""What of torch there is in a page: the one list, from which the page's own list is made and which tests hold to."""

from __future__ import annotations

from typing import Final, NoReturn

GROUPS: Final = {
    "Make a tensor": (
        ("tensor", "zeros", "ones", "full", "empty", "arange", "zeros_like", "ones_like", "full_like", "empty_like"),
        (),
    ),
    "Arithmetic": (
        ("add", "sub", "mul", "div", "floor_divide", "remainder", "neg", "abs", "square", "sqrt", "pow", "maximum",
         "minimum", "addcmul"),
        (
            "add", "sub", "mul", "div", "floor_divide", "remainder", "neg", "abs", "square", "sqrt", "pow", "add_",
            "sub_", "mul_", "div_", "neg_", "abs_", "maximum", "minimum", "addcmul",
        ),
    ),
    "Exponents and rounding": (
        ("log2", "exp2", "floor", "ceil", "round", "trunc", "sign", "clamp", "nan_to_num"),
        ("log2", "exp2", "floor", "ceil", "round", "trunc", "sign", "clamp", "clamp_", "nan_to_num", "nan_to_num_"),
    ),
    "Compare": (
        ("eq", "ne", "lt", "le", "gt", "ge", "equal", "isclose", "allclose"),
        ("eq", "ne", "lt", "le", "gt", "ge", "equal", "isclose", "allclose"),
    ),
    "Finite or not": (
        ("isfinite", "isinf", "isnan", "isposinf", "isneginf"),
        ("isfinite", "isinf", "isnan", "isposinf", "isneginf"),
    ),
    "Masks and bits": (
        ("logical_and", "logical_or", "logical_not", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_not",
         "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "where", "masked_select"),
        ("logical_and", "logical_or", "logical_not", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_not",
         "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "where", "masked_select", "masked_fill",
         "masked_fill_"),
    ),
    "From many to one": (
        ("all", "any", "sum", "mean", "prod", "max", "min", "amax", "amin", "aminmax", "count_nonzero", "numel"),
        ("all", "any", "sum", "mean", "prod", "max", "min", "amax", "amin", "aminmax", "count_nonzero", "numel",
         "nelement"),
    ),
    "Dtype": (
        ("finfo", "is_tensor", "is_floating_point", "promote_types", "result_type"),
        ("to", "type", "type_as", "half", "bfloat16", "float", "double", "bool", "int", "long", "short",
         "is_floating_point", "element_size"),
    ),
    "Shape and memory": (
        ("cat", "stack", "split", "reshape", "flatten", "ravel", "clone"),
        ("view", "reshape", "flatten", "ravel", "split", "unsqueeze", "squeeze", "clone", "detach", "contiguous",
         "is_contiguous", "copy_", "fill_", "zero_", "new_tensor", "new_zeros", "size", "dim", "cpu", "item", "tolist",
         "data_ptr"),
    ),
    "Lists of tensors": (
        ("_foreach_add", "_foreach_sub", "_foreach_mul", "_foreach_div", "_foreach_mul_", "_foreach_div_",
         "_foreach_copy_"),
        (),
    ),
    "Gradients": (("no_grad", "inference_mode"), ("requires_grad_",)),
}  # fmt: skip
"""By the words of a page: (functions of torch, methods of a tensor)."""
OPERATORS: Final = (
    "+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^", "<<", ">>", "~",
)  # fmt: skip
"""In place, too; and indexing by number, slice, ``...`` and mask."""
DTYPES: Final = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "half", "float", "double", "int", "long", "short",
)  # fmt: skip
ATTRIBUTES: Final = (
    "dtype",
    "shape",
    "ndim",
    "device",
    "layout",
    "requires_grad",
    "grad",
    "is_leaf",
    "data",
    "itemsize",
)
CONSTANTS: Final = ("inf", "nan", "pi", "e", "strided")
OTHERS: Final = ("Tensor", "dtype", "device", "Size")
ELSEWHERE: Final = "run it in the notebook, in Colab or on your machine"


class NotInThePage(Exception):
    """An operation that torch has and the page has not."""


def functions() -> frozenset[str]:
    """Return the names of the functions of torch that there are."""
    return frozenset(name for names, _ in GROUPS.values() for name in names)


def methods() -> frozenset[str]:
    """Return the names of the methods of a tensor that there are."""
    return frozenset(name for _, names in GROUPS.values() for name in names)


def absent(name: str) -> NoReturn:
    """Raise for what is not there.

    Args:
        name: as a reader would write it: ``torch.frexp``, ``Tensor.numpy``, ``Tensor.sum(dim=...)``.
    """
    raise NotInThePage(f"{name} is not among the operations of torch that there are in the page; {ELSEWHERE}")
