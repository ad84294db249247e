from __future__ import annotations

import torch


def master_weight_step(
    w16: torch.Tensor, master: torch.Tensor, grad: torch.Tensor, lr: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Make one step of gradient descent on the master weights, and give the model its new fp16 copy of them.

    Returns ``(w16, master)``: new tensors, float16 and float32. The arguments are left as they are.
    """
    # `lr * grad` has the dtype of `grad`: with an fp16 gradient the product would be rounded to fp16, and a small one
    # to zero, before the subtraction could widen it. So the gradient is widened first.
    master = master - lr * grad.float()

    # The old w16 is not read. Whatever it lost when it was rounded is still in the master, and so is every earlier
    # update that was too small for fp16 to show.
    return master.half(), master
