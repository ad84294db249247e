from __future__ import annotations

import torch


def underflow_report(grads: list[torch.Tensor | None], scale: float) -> dict[str, int | float]:
    """Count what fp16 makes of the gradients once they are multiplied by the scale.

    With p = fp32(g) * fp32(scale), computed in float32, and q = p rounded to float16, each element g that is finite and
    not zero is one of four: zeroed (q is 0), subnormal (0 < |q| < 2**-14), normal, or overflowed (q is inf or -inf).

    Args:
        grads: float32, float16 or bfloat16 tensors of any shape, some perhaps empty; None is skipped.
        scale: what the loss would be multiplied by; a positive number.

    Returns:
        A dict with the ints ``total``, ``zeroed``, ``subnormal``, ``normal`` and ``overflowed``, where the last four
        add up to ``total``, and the float ``fraction_zeroed``, ``zeroed / total``, or 0.0 where ``total`` is 0.
    """
    raise NotImplementedError("Write underflow_report, then run this cell again")
