"""Scores as JUnit XML, for the dashboards of CI services: a suite a submission, a test case a check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree as ET

from autograder.models import CheckResult, CheckStatus, Score
from autograder.report import words
from autograder.report.untrusted import cut, one_line

_ERRORS: Final[frozenset[CheckStatus]] = frozenset(("error", "timeout", "memory", "crashed"))


def junit(scores: Sequence[Score]) -> str:
    """Return the scores as one JUnit XML document, with its declaration.

    A check that failed or used what is forbidden is a ``failure``; one whose code raised, looped or died an
    ``error``; one that was not run ``skipped``. A submission without checks is one test case that says why.
    """
    root = ET.Element("testsuites", name="autograder")
    for score in scores:
        root.append(_suite(score))
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    root.set("time", f"{sum(score.duration_s for score in scores):.4f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(score: Score) -> ET.Element:
    suite = ET.Element("testsuite", name=one_line(f"{score.student or 'student'}: {score.exercise}"))
    properties = ET.SubElement(suite, "properties")
    for name, value in [("score", words.marks_of(score)), *words.provenance(score)]:
        ET.SubElement(properties, "property", name=name, value=one_line(value))
    place = one_line(f"{score.exercise}.{score.student or 'student'}")
    cases = [_case(result, place) for result in score.checks] or [_no_checks(score, place)]
    suite.extend(cases)
    if score.output:
        ET.SubElement(suite, "system-out").text = cut(score.output)
    suite.set("tests", str(len(cases)))
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{score.duration_s:.4f}")
    return suite


def _case(result: CheckResult, place: str) -> ET.Element:
    case = ET.Element("testcase", classname=place, name=one_line(f"{result.id}: {result.title}"), time="0")
    if result.status == "passed":
        return case
    if result.status == "not_run":
        ET.SubElement(case, "skipped", message=one_line(result.message))
        return case
    found = ET.SubElement(case, "error" if result.status in _ERRORS else "failure", type=result.status)
    found.set("message", one_line(result.difference or result.message.partition("\n")[0]))
    found.text = cut(result.message)
    return case


def _no_checks(score: Score, place: str) -> ET.Element:
    case = ET.Element("testcase", classname=place, name="submission", time="0")
    tag = "error" if score.status == "unreadable" else "skipped"
    ET.SubElement(case, tag, message=one_line(words.reason(score) or words.headline(score)))
    return case
