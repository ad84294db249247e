# right: a loop over Python numbers, packed into two bytes by struct
from __future__ import annotations

import math
import struct
from collections import Counter


def as_float32(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def kind(p):
    try:
        q = abs(struct.unpack("<e", struct.pack("<e", p))[0])
    except OverflowError:
        return "overflowed"
    if q == math.inf:
        return "overflowed"
    return "zeroed" if q == 0 else "subnormal" if q < 2**-14 else "normal"


def underflow_report(grads, scale):
    found = Counter()
    for grad in grads:
        for g in [] if grad is None else grad.flatten().tolist():
            if g and math.isfinite(g):
                found[kind(as_float32(g * as_float32(scale)))] += 1
    report = {name: found[name] for name in ("zeroed", "subnormal", "normal", "overflowed")}
    report["total"] = sum(report.values())
    report["fraction_zeroed"] = report["zeroed"] / report["total"] if report["total"] else 0.0
    return report
