from __future__ import annotations

import torch


def grad_scaler_step(
    grads: list[torch.Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[torch.Tensor] | None, float]:
    """Unscale the gradients, judge them, and return what to step with and the scale for the next backward.

    Returns ``(unscaled, scale * growth_factor)``, or ``(None, scale * backoff_factor)`` if any unscaled element is
    inf or nan. The inputs are left as they are.
    """
    # The loss was multiplied by `scale`, so by the chain rule every gradient was too. `/` makes new tensors of the same
    # shape and dtype: the caller's are untouched, and nothing returned shares memory with them.
    unscaled = [grad / scale for grad in grads]

    # `all` over the elements, then over the tensors: a single inf or nan anywhere spoils the step, because the
    # optimizer would write it into a parameter and the next forward pass would spread it. `all` of nothing is True,
    # which is what makes an empty tensor and an empty list clean.
    if not all(torch.isfinite(grad).all() for grad in unscaled):
        return None, scale * backoff_factor  # once, however many elements are bad

    return unscaled, scale * growth_factor
