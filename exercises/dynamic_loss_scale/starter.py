from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    """Return what a dynamic loss scaler does during a run of training steps.

    Args:
        overflows: for each step, whether its gradients overflowed.
        init_scale: the scale of the first step; a positive number.
        growth_factor: what the scale is multiplied by after enough good steps; above 1.
        backoff_factor: what the scale is multiplied by after an overflow; between 0 and 1.
        growth_interval: how many good steps in a row make the scale grow; at least 1.

    Returns:
        A dict with three keys. ``scales``: the scale that each step used, before its update, as floats. ``skipped``:
        the numbers, from 0, of the steps that overflowed, as ints. ``final_scale``: the scale after the last step, a
        float.

        An overflow skips the step, multiplies the scale by ``backoff_factor`` and zeroes the run of good steps. The
        ``growth_interval``-th good step in a row multiplies the scale by ``growth_factor`` and zeroes the run.
    """
    raise NotImplementedError("Write dynamic_loss_scale, then run this cell again")
