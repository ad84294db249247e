"""The small network that chapters 4 and 5 train in fp16 on the CPU: five linear layers, 256 examples, one output.

It is no figure itself: figures and cells take their gradients from here, so that all of them speak of the same network.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

FEATURES, WIDTH, EXAMPLES = 8, 32, 256


def network() -> nn.Sequential:
    """Return the network with its first weights, float32, the same at each call."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = [FEATURES, WIDTH, WIDTH, WIDTH, WIDTH]
        hidden = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
        return nn.Sequential(*hidden, nn.Linear(WIDTH, 1))


def data() -> tuple[Tensor, Tensor]:
    """Return inputs of shape (256, 8) and targets of shape (256, 1), the same at each call: y = 3 x[0] + 1."""
    x = torch.randn(EXAMPLES, FEATURES, generator=torch.Generator().manual_seed(1))
    return x, 3 * x[:, :1] + 1


def loss_in_half(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Return the mean squared error, a 0-d float32 tensor; the layers run in fp16, forward and backward."""
    with torch.autocast("cpu", dtype=torch.float16):
        return functional.mse_loss(model(x).float(), y)


def loss_in_float32(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Return the mean squared error with nothing in fp16: what the gradients ought to be."""
    return functional.mse_loss(model(x), y)


def gradients(scale: float) -> dict[str, Tensor]:
    """Return the gradients of scale * loss by parameter name, after an fp16 pass through the fresh network."""
    model = network()
    (loss_in_half(model, *data()) * scale).backward()
    return {name: parameter.grad for name, parameter in model.named_parameters()}


def true_gradients() -> dict[str, Tensor]:
    """Return the gradients of the loss by parameter name, all in float32."""
    model = network()
    loss_in_float32(model, *data()).backward()
    return {name: parameter.grad for name, parameter in model.named_parameters()}


def not_finite(tensors: dict[str, Tensor]) -> int:
    """Return how many elements of all tensors are inf or nan."""
    return sum(int((~tensor.isfinite()).sum()) for tensor in tensors.values())
