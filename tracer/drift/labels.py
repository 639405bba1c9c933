"""What the two answers are called where they are told apart."""

from __future__ import annotations

from ...report.model import Pin, Report


def labels(here: Report, there: Report) -> tuple[str, str]:
    """The versions; commits where those are the same, and `the first` and `the second` where both are."""
    one, other = here.pins[:1], there.pins[:1]
    if not one or not other:
        return "the first", "the second"
    for name in (_version, _commit):
        found = name(one[0]), name(other[0])
        if found[0] != found[1]:
            return found
    return "the first", "the second"


def _version(pin: Pin) -> str:
    return pin.version


def _commit(pin: Pin) -> str:
    return (pin.commit or pin.python_hash)[:9]
