"""The text voice: a report for a terminal, fitted to its width; what is shortened is said at the foot."""

from __future__ import annotations

from ..model import Report
from .chain import chain
from .drift import drift
from .findings import coverage, findings
from .header import header
from .launches import launches
from .matrix import matrix
from .operators import operators
from .page import Page
from .readers import readers
from .tuned import tuned

NARROWEST = 40
"""Columns below which no layout holds; a narrower terminal gets lines of this width."""


def render(report: Report, width: int = 100, color: bool = False, unicode: bool = True) -> str:
    """The report as lines of at most `width` columns, each ending in a newline."""
    page = Page(max(width, NARROWEST), color=color, unicode=unicode)
    header(page, report)
    if report.matrix is not None:
        matrix(page, report.matrix)
    if report.drift is not None:
        drift(page, report.drift)
    if report.readers is not None:
        readers(page, report.readers)
    if report.launches is not None:
        launches(page, report.launches)
    for each in report.chains:
        page.blank()
        chain(page, each)
    operators(page, report.operators, report.libraries)
    tuned(page, report.tuned)
    findings(page, report.apart())
    coverage(page, report.coverage)
    page.foot()
    return page.text()
