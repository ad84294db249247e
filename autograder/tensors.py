"""Plain values to and from torch and NumPy: the only module of the checks that knows a tensor.

In a browser the module ``torch`` is the page's small stand-in and NumPy is absent; both are looked up when needed.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Final

from autograder.models import Opaque, Scalar, Tensor, Value

MAX_ELEMENTS: Final = 2_000_000
MAX_TEXT: Final = 200
MAX_DEPTH: Final = 12
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]{6,16}\b")


def build(value: Value, device: str = "cpu", shared: dict[str, Any] | None = None) -> Any:
    """Return the value with each Tensor and Scalar made into a real one on ``device``.

    Tensors with the same ``share`` name become one object within a call of ``build``.
    """
    shared = {} if shared is None else shared
    if type(value) is Tensor:
        if value.share and value.share in shared:
            return shared[value.share]
        made = _tensor(value, device)
        if value.share:
            shared[value.share] = made
        return made
    if type(value) is Scalar:
        import numpy

        return numpy.dtype(value.dtype).type(value.value)
    if type(value) is list:
        return [build(item, device, shared) for item in value]
    if type(value) is tuple:
        return tuple(build(item, device, shared) for item in value)
    if type(value) is dict:
        return {key: build(item, device, shared) for key, item in value.items()}
    return value


def _tensor(value: Tensor, device: str) -> Any:
    if value.library == "numpy":
        import numpy

        return numpy.array(value.values, dtype=value.dtype).reshape(value.shape)
    import torch

    dtype = getattr(torch, value.dtype)
    made = torch.tensor(list(value.values), dtype=dtype, device=device).reshape(value.shape)
    if not value.strided:
        return made
    # Every second element of a buffer twice as large: same values, non-contiguous.
    wide = torch.zeros((*value.shape, 2), dtype=dtype, device=device)
    wide[..., 0] = made
    return wide[..., 0]


def plain(value: Any, depth: int = MAX_DEPTH) -> Value:
    """Return a value as plain data; what is none of the known kinds becomes Opaque."""
    kind = type(value)
    if value is None or kind in (bool, int, float):
        return value
    if kind is str:
        return value[:MAX_TEXT]
    if depth == 0:
        return Opaque(kind.__name__, "nested too deeply")
    if kind in (list, tuple):
        if len(value) > MAX_ELEMENTS:
            return Opaque(kind.__name__, f"{len(value)} elements")
        if kind is list and set(map(type, value)) <= {bool, int, float}:
            return list(value)
        return kind(plain(item, depth - 1) for item in value)
    if kind is dict and all(type(key) is str for key in value):
        return {key: plain(item, depth - 1) for key, item in value.items()}
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        return _plain_tensor(value)
    if numpy is not None and isinstance(value, numpy.ndarray):
        return _plain_array(value)
    if numpy is not None and isinstance(value, numpy.generic):
        item = value.item()
        return Scalar(str(value.dtype), item) if type(item) in (bool, int, float) else _opaque(value)
    return _opaque(value)


def _plain_tensor(value: Any) -> Value:
    dtype = str(value.dtype).removeprefix("torch.")
    if value.numel() > MAX_ELEMENTS or value.is_sparse or value.is_complex():
        return Opaque("Tensor", f"{dtype}, {value.numel()} elements, {value.layout}")
    if value.device.type == "meta":
        return Opaque("Tensor", "on the meta device, without values")
    flat = value.detach().reshape(-1).to("cpu")
    return Tensor(dtype, tuple(value.shape), tuple(flat.tolist()))


def _plain_array(value: Any) -> Value:
    dtype = str(value.dtype)
    if value.size > MAX_ELEMENTS or value.dtype.kind not in "biuf":
        return Opaque("ndarray", f"{dtype}, {value.size} elements")
    return Tensor(dtype, tuple(value.shape), tuple(value.reshape(-1).tolist()), library="numpy")


def _opaque(value: Any) -> Opaque:
    try:
        text = without_address(repr(value))[:MAX_TEXT]
    except Exception as error:  # a student's __repr__ may do anything
        text = f"its repr raises {type(error).__name__}"
    return Opaque(type(value).__name__, text)


def without_address(text: str) -> str:
    """Return the text without the memory addresses of Python's own reprs, which differ from run to run."""
    return _ADDRESS.sub("", text)


def overwrite(value: Any) -> None:
    """Fill every torch tensor and NumPy array inside a built value with another number, in place."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        with torch.no_grad():
            value.detach().fill_(123)
    elif numpy is not None and isinstance(value, numpy.ndarray):
        value.fill(123)
    elif isinstance(value, (list, tuple)):
        for item in value:
            overwrite(item)
    elif isinstance(value, dict):
        for item in value.values():
            overwrite(item)
