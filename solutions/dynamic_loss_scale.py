from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    """Return what a dynamic loss scaler does during a run of training steps.

    The dict holds ``scales`` (the scale that each step used), ``skipped`` (the numbers of the steps that overflowed)
    and ``final_scale`` (the scale after the last step).
    """
    # These two numbers are all that a scaler remembers; PyTorch saves the same two in a checkpoint.
    scale = float(init_scale)
    good_run = 0  # good steps in a row since the last overflow or growth

    scales: list[float] = []
    skipped: list[int] = []
    for step, overflow in enumerate(overflows):
        # The loss of this step is multiplied before anyone can know whether its gradients will overflow.
        scales.append(scale)
        if overflow:
            skipped.append(step)
            scale *= backoff_factor
            good_run = 0
        else:
            good_run += 1
            if good_run == growth_interval:
                scale *= growth_factor
                good_run = 0  # the larger scale has to prove itself anew

    return {"scales": scales, "skipped": skipped, "final_scale": scale}
