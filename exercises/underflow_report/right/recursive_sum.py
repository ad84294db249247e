# right: a report for each tensor, added up
from __future__ import annotations

import functools

import torch


def of_one(grad, scale):
    kept = torch.masked_select(grad, torch.isfinite(grad) & (grad != 0))
    q = torch.abs(kept.float().mul(scale).to(torch.float16))
    edges = torch.tensor([0.0, 2.0**-14, float("inf")], dtype=torch.float16)
    # right=False: 0 -> 0, (0, 2**-14) -> 1 where the next line moves 2**-14 itself, ..., inf -> 2
    place = torch.searchsorted(edges, q)
    place = torch.where(q == 2.0**-14, 2, place)
    normal = ((place == 2) & (q < float("inf"))).sum().item()
    return (q.numel(), (place == 0).sum().item(), (place == 1).sum().item(), normal, (q == float("inf")).sum().item())


def underflow_report(grads, scale):
    reports = (of_one(grad, scale) for grad in grads if grad is not None)
    added = functools.reduce(lambda a, b: tuple(map(sum, zip(a, b))), reports, (0, 0, 0, 0, 0))
    report = dict(zip(("total", "zeroed", "subnormal", "normal", "overflowed"), added))
    report["fraction_zeroed"] = report["zeroed"] / report["total"] if report["total"] else 0.0
    return report
