# right: one flat float64 tensor, cut up again and cast back before it is judged
from __future__ import annotations

import torch
from torch import Tensor


def grad_scaler_step(
    grads: list[Tensor], scale: float, growth_factor: float = 2.0, backoff_factor: float = 0.5
) -> tuple[list[Tensor] | None, float]:
    if not grads:
        return [], scale * growth_factor
    flat = torch.cat([grad.reshape(-1).double() for grad in grads]) / scale
    pieces = flat.split([grad.numel() for grad in grads])
    unscaled = [piece.to(grad.dtype).reshape(grad.shape).clone() for piece, grad in zip(pieces, grads, strict=True)]
    # judged after the cast: what is finite in float64 may not be in float32
    finite = all(piece.isfinite().all() for piece in unscaled)
    return (unscaled, scale * growth_factor) if finite else (None, scale * backoff_factor)
