"""Input tampering: changed inputs, kept references, state between calls."""

from __future__ import annotations

import pytest
from attack import FULL, in_call, in_cell
from verdicts import (  # noqa: F401
    test_an_honest_submission_right_after_it_earns_full_marks,
    test_it_earns_what_its_honest_part_does_and_the_reason_is_said,
    test_nothing_secret_and_no_control_character_is_in_what_was_written,
    test_the_host_is_as_it_was,
)

pytestmark = pytest.mark.needs("bubblewrap")

HONESTLY = "return honest(grads, scale, growth_factor, backoff_factor)"

ATTACKS = (
    in_call(
        "divides in place",
        """\
        result = honest(grads, scale, growth_factor, backoff_factor)
        for g in grads: g.div_(scale)
        return result
        """,
        earns=9,
        statuses="passed failed",
    ),
    in_call(
        "empties the list",
        f"result = {HONESTLY.removeprefix('return ')}\ngrads.clear()\nreturn result",
        earns=9,
        statuses="passed failed",
    ),
    in_call(
        "resizes the tensors",
        f"result = {HONESTLY.removeprefix('return ')}\nfor g in grads: g.resize_(0)\nreturn result",
        earns=9,
        statuses="passed failed",
    ),
    in_call(
        "puts other storage in",
        """\
        import torch
        result = honest(grads, scale, growth_factor, backoff_factor)
        for g in grads: g.data = torch.zeros(2)
        return result
        """,
        earns=9,
        statuses="passed failed",
    ),
    in_call("returns the inputs themselves", "return grads, scale * growth_factor", earns=3, statuses="passed failed"),
    in_call(
        "keeps what it was given and changes it later",
        f"""\
        for g in kept: g.fill_(7.0)
        kept.extend(grads)
        {HONESTLY}
        """,
        before="kept = []",
        earns=FULL,
        statuses="passed",
    ),
    in_call(
        "keeps what it returned and changes it later",
        """\
        for g in kept: g.fill_(7.0)
        result = honest(grads, scale, growth_factor, backoff_factor)
        kept.extend(result[0] or [])
        return result
        """,
        before="kept = []",
        earns=FULL - 1,  # what one call returned must stay as it is when the next is made
        statuses="passed failed",
        says="A later call changed what the first had returned",
    ),
    in_call(
        "answers with what it answered before",
        """\
        if not kept: kept.append(honest(grads, scale, growth_factor, backoff_factor))
        return kept[0]
        """,
        before="kept = []",
        earns=0,
        statuses="failed",
    ),
    in_call(
        "counts its calls and errs at the last",
        """\
        count.append(1)
        if len(count) > 100: return None
        return honest(grads, scale, growth_factor, backoff_factor)
        """,
        before="count = []",
        earns=6,
        statuses="passed failed",
    ),
    in_cell(
        "inputs that are built as zeros",
        """\
        import torch
        real = torch.tensor
        torch.tensor = lambda values, **k: real([0.0] * len(values), **{**k, "dtype": torch.float32})
        """,
    ),
    in_cell(
        "inputs that are lists",
        """\
        from autograder import scenarios
        scenarios.build = lambda arguments, *a: {**arguments, "grads": [], "scale": 1.0}
        """,
    ),
    in_cell("a device that is none", "import torch\ntorch.set_default_device('meta')"),
    in_cell(
        "another default dtype",
        "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.set_printoptions(precision=1)",
    ),
    in_cell(
        "gradients switched off and on",
        "import torch\ntorch.set_grad_enabled(False)\ntorch.autograd.set_detect_anomaly(True)",
    ),
    in_call(
        "requires gradients",
        "for g in grads: g.requires_grad_()\nresult = honest(grads, scale, growth_factor, backoff_factor)\nreturn result",
        earns=FULL,
        statuses="passed",
    ),
    in_cell(
        "the scenario says that inputs are as they were",
        """\
        from autograder import scenarios
        from autograder.models import Outcome
        real = scenarios.build
        def call(function, arguments, device="cpu"):
            built = real(dict(arguments))
            returned = scenarios.plain(function(**built))
            return Outcome(returned=returned, after=dict(arguments))
        scenarios.SCENARIOS["call"] = call
        """,
    ),
)
