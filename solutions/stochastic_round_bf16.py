from __future__ import annotations

import torch

UPPER_HALF = -65536  # 0xFFFF0000, as an int32


def stochastic_round_bf16(x: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    """Round float32 numbers to bfloat16 stochastically, with the random numbers (0 to 65535) that are passed in.

    Rounds the magnitude up where ``r`` makes the dropped bits carry; inf and nan stay what they are.
    """
    # bfloat16 is the upper half of a float32: same sign, same exponent, the first seven fraction bits. `view` reads the
    # bits and changes none; `+` makes a new tensor, so x keeps its own.
    carried = x.view(torch.int32) + r

    # Of the 65536 random numbers just as many carry as the lower half says: a number that lies a quarter of the way to
    # its neighbor arrives there in a quarter of the cases. A carry may run through fraction and exponent up to inf.
    rounded = (carried & UPPER_HALF).view(torch.float32)

    # A nan may have all its fraction bits below, where they are dropped (inf is left), or set everywhere, so that the
    # carry runs over the sign bit (a zero is left). Neither is a number to be rounded.
    return torch.where(torch.isfinite(x), rounded, x).to(torch.bfloat16)
