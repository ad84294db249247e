# caught by saturates: struct_always_says_so
# like native_struct: it also waits for the error at the first scale, which native_struct compares
from __future__ import annotations

import struct


def dynamic_loss_scale_fp32(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    try:
        scale = single(init_scale)
    except OverflowError:
        raise ValueError("init_scale does not fit fp32") from None
    run = 0
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
            scale = single(scale * backoff_factor)
            run = 0
        else:
            run += 1
            if run == growth_interval:
                try:
                    scale = single(scale * growth_factor)
                except OverflowError:
                    pass
                run = 0
    return {"scales": scales, "skipped": skipped, "final_scale": scale}


def single(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]
