from __future__ import annotations

import torch


def grad_scaler_step(
    grads: list[torch.Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[torch.Tensor] | None, float]:
    """Unscale the gradients, judge them, and return what to step with and the next scale.

    Args:
        grads: the gradients of the scaled loss; float32 or float64 tensors of any shape, some perhaps empty.
        scale: what the loss was multiplied by; a positive number.
        growth_factor: what the scale is multiplied by after a clean step; above 1.
        backoff_factor: what the scale is multiplied by after an overflow; between 0 and 1.

    Returns:
        ``(unscaled, scale * growth_factor)`` if every unscaled element is finite, where ``unscaled`` is a new list with
        every gradient divided by ``scale``, shapes and dtypes kept; ``(None, scale * backoff_factor)`` if any unscaled
        element of any tensor is inf or nan.
    """
    raise NotImplementedError("Write grad_scaler_step, then run this cell again")
