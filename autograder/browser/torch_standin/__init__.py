"""The module ``torch`` of a page's Python: small tensors that round, promote and compare as PyTorch's do on a CPU.

``operations`` lists what there is; anything else says that it is not there. Pure Python, so it is made for the few
numbers of an exercise. A float is held exactly by a Python float, rounded to float32 first and then to its dtype.

Where it may differ from PyTorch in a last bit: the order in which ``sum``, ``mean`` and ``prod`` of floating-point
numbers add up, and ``pow``, ``log2`` and ``exp2``, which PyTorch takes from vectorized libraries.
"""

from __future__ import annotations

import math
from typing import NoReturn

from . import elementwise, making, methods, reductions, shaping
from .dtypes import bfloat16 as bfloat16
from .dtypes import bool_ as bool  # noqa: F401 - what torch offers
from .dtypes import dtype as dtype
from .dtypes import finfo as finfo
from .dtypes import float16 as float16
from .dtypes import float32 as float32
from .dtypes import float64 as float64
from .dtypes import int8 as int8
from .dtypes import int16 as int16
from .dtypes import int32 as int32
from .dtypes import int64 as int64
from .dtypes import uint8 as uint8
from .operations import absent
from .tensor import Device as device  # noqa: F401
from .tensor import Size as Size
from .tensor import Tensor as Tensor
from .tensor import strided as strided

inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
half, float, double, short, int, long = float16, float32, float64, int16, int32, int64
__version__ = "the page's stand-in for torch"
_functions = {**making.FUNCTIONS, **elementwise.FUNCTIONS, **reductions.FUNCTIONS, **shaping.FUNCTIONS}
methods.attach(_functions)
globals().update(_functions)


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(f"module 'torch' has no attribute {name!r}")
    absent(f"torch.{name}")
