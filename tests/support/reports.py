"""Random reports: of every type that there is, and small, so that none is thrown away for its size."""

from __future__ import annotations

from typing import get_type_hints

import msgspec
from hypothesis import strategies as st

from qtrace.report.model import (
    Binary,
    Chain,
    Checkpoint,
    Coverage,
    Finding,
    Operator,
    Pin,
    Question,
    Report,
    Tuned,
)

FEW = 2
"""Items of a sequence."""


def few(kind: type, most: int = FEW) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(st.from_type(kind), max_size=most).map(tuple)


def _chains() -> st.SearchStrategy[Chain]:
    """Chains with few of everything that they have several of."""
    hints = get_type_hints(Chain)
    several = {
        field.name: few(hints[field.name].__args__[0])
        for field in msgspec.structs.fields(Chain)
        if getattr(hints[field.name], "__origin__", None) is tuple
    }
    return st.builds(Chain, layer=st.text(), **several)


REPORTS = st.builds(
    Report,
    tool=st.text(),
    question=st.from_type(Question),
    pins=few(Pin),
    chains=st.lists(_chains(), max_size=FEW).map(tuple),
    operators=few(Operator),
    tuned=few(Tuned),
    binary=st.none() | st.from_type(Binary),
    checkpoint=st.none() | st.from_type(Checkpoint),
    findings=few(Finding),
    coverage=st.from_type(Coverage),
)
