"""``autograder doctor``."""

from __future__ import annotations

import json
from dataclasses import asdict

from autograder.doctor import examine, fit
from autograder.report.untrusted import visible

_SIGNS = {"yes": "✓", "no": "✗", "info": "·"}


def run(*, as_json: bool) -> int:
    """Print what this machine offers; return 0 where it may grade untrusted work, else 1."""
    findings = examine()
    fine = fit(findings)
    if as_json:
        print(json.dumps({"fit": fine, "findings": [asdict(finding) for finding in findings]}))
        return 0 if fine else 1
    for finding in findings:
        print(f"{_SIGNS[finding.state]} {finding.name:<18} {visible(finding.detail)}")
    print()
    print(
        "This machine can grade untrusted work." if fine else "This machine must not grade untrusted work: see ✗ above."
    )
    return 0 if fine else 1
