# right: Python whole numbers, by struct
from __future__ import annotations

import math
import struct

import torch


def one(value, random):
    if not math.isfinite(value):
        return value
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    bits = bits + random >> 16 << 16
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def stochastic_round_bf16(x, r):
    pairs = zip(x.flatten().tolist(), r.flatten().tolist())
    return torch.tensor([one(value, random) for value, random in pairs], dtype=torch.bfloat16).reshape(x.shape)
