from __future__ import annotations

import torch


def master_weight_step(
    w16: torch.Tensor, master: torch.Tensor, grad: torch.Tensor, lr: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Make one step of gradient descent on the master weights, and give the model its new fp16 copy of them.

    Args:
        w16: the weights that the model has computed with; float16, any shape.
        master: the same weights in float32, which the optimizer keeps; the shape of w16.
        grad: the gradient, unscaled and finite; float32 or float16, the shape of w16.
        lr: the learning rate; a float, 0 or more.

    Returns:
        ``(w16, master)``, two new tensors: the master is ``master - lr * grad``, computed in float32; w16 is the new
        master in float16. The shape is kept.
    """
    raise NotImplementedError("Write master_weight_step, then run this cell again")
