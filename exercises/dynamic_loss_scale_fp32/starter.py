from __future__ import annotations


def dynamic_loss_scale_fp32(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    """Return what PyTorch's loss scaler, which keeps its scale in fp32, does during a run of training steps.

    Args:
        overflows: for each step, whether its gradients overflowed.
        init_scale: the scale of the first step; a positive number, which is rounded to fp32.
        growth_factor: what the scale is multiplied by after enough good steps; above 1.
        backoff_factor: what the scale is multiplied by after an overflow; between 0 and 1.
        growth_interval: how many good steps in a row make the scale grow; at least 1.

    Returns:
        A dict with three keys, as in ``dynamic_loss_scale``: ``scales``, ``skipped`` and ``final_scale``. Every scale
        is an fp32 number, bit for bit PyTorch's, as a float. The product of scale and factor is taken in double
        precision and rounded to fp32 once. A growth that gives infinity is dropped; a backoff that gives zero is not.

    Raises:
        ValueError: ``init_scale`` is above the largest fp32 number, 2**128 - 2**104, or nan.
    """
    raise NotImplementedError("Write dynamic_loss_scale_fp32, then run this cell again")
