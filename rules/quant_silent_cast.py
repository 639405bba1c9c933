"""QT109: a tensor is stored in one kind of dtype and loaded into a parameter of another, without a scale."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.model import Finding, Parameter, Report, Verdict
from ..report.predicate import Member, Not
from ..report.registry import lookup
from .examples import ACCEPTED, chain, reported, weights
from .layers import built, plain_name

RULE = lookup("QT109")

WIDE = frozenset({"float64", "float32", "float16", "bfloat16"})
CODES = frozenset({"float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "int8"})
"""Dtypes of one value a byte, which mean nothing without a scale; packed ones do not fit in shape."""


def check(report: Report) -> Iterator[Finding]:
    """One finding for each parameter that is loaded across kinds."""
    for made in built(report):
        ends = made.ends(lambda parameters: bool(_across(parameters)))
        if ends:
            parameter, stored = _across(made.parameters(ends[0]))[0]
            yield made.judged(_finding(made.name, parameter, stored), ends)


def _across(parameters: tuple[Parameter, ...]) -> list[tuple[Parameter, str]]:
    return [(p, dtype) for p in parameters for dtype in p.stored if _crosses(p, dtype)]


def _crosses(parameter: Parameter, stored: str) -> bool:
    """Whether one side is a code and the other a plain number; scales may change their width."""
    if plain_name(parameter) != "weight":
        return False
    return (stored in CODES and parameter.dtype in WIDE) or (stored in WIDE and parameter.dtype in CODES)


def _finding(layer: str, parameter: Parameter, stored: str) -> Finding:
    return RULE.finding(
        Verdict.FAIL,
        layer,
        f"{plain_name(parameter)} of {layer} is stored as {stored} and loaded into {parameter.dtype} as it "
        "is.",
        expected=parameter.dtype,
        seen=stored,
    )


def _loaded(dtype: str, stored: str | None, name: str = "weight") -> Report:
    made = replace(ACCEPTED, parameters=weights((name, dtype), stored=stored))
    return reported(chain(made, layers=("model.layers.0.mlp.down_proj",)))


_HOPPER = Member("capability", (90,))
_ON = (
    replace(ACCEPTED, guard=_HOPPER, parameters=weights(("weight", "float8_e4m3fn"), stored="bfloat16")),
    replace(ACCEPTED, guard=Not(_HOPPER), parameters=weights(("weight", "bfloat16"), stored="bfloat16")),
)
FIRES = (
    _loaded("float8_e4m3fn", "bfloat16"),
    _loaded("bfloat16", "float8_e4m3fn"),
    reported(chain(*_ON, layers=("model.layers.0.mlp.down_proj",))),
)
SILENT = (
    _loaded("float8_e4m3fn", "float8_e4m3fn"),
    _loaded("bfloat16", "float16"),
    # The headers are not at hand.
    _loaded("float8_e4m3fn", None),
    # A scale is a number in either.
    _loaded("float32", "float8_e4m3fn", name="weight_scale"),
)
