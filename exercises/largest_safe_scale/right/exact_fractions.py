# right: doubles and halves an exact fraction
from __future__ import annotations

from fractions import Fraction


def largest_safe_scale(grads, headroom=2.0):
    try:
        room = Fraction(headroom)
        sizes = [abs(Fraction(x)) for grad in grads if grad is not None for x in grad.flatten().tolist()]
    except OverflowError as error:  # what Fraction says about inf; about nan it is a ValueError already
        raise ValueError(str(error)) from None
    if room < 1:
        raise ValueError("headroom below 1")
    needed = max(sizes, default=Fraction(0)) * room
    scale = Fraction(2**24)
    while needed * scale > 65504:
        scale /= 2
        if scale < Fraction(1, 2**24):
            raise ValueError("no such power of two")
    return float(scale)
