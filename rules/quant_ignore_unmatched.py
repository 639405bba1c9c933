"""QT108: the checkpoint ignores a module, and the engine quantizes the layer that it becomes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from ..report.model import Checkpoint, Excluded, Finding, Report, Verdict
from ..report.names import counted
from ..report.predicate import Member, Not
from ..report.registry import lookup
from .examples import ACCEPTED, chain, reported, weights
from .layers import built, is_quantized

RULE = lookup("QT108")
NUMBER = re.compile(r"\.\d+\.")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each layer that is ignored in vain, with how many names of its like there are."""
    excluded = report.checkpoint.excluded if report.checkpoint else ()
    for made in built(report):
        names = [e for e in excluded if e.module == made.name]
        if names and (ends := made.ends(is_quantized)):
            alike = [e for e in excluded if _alike(e.module) == _alike(made.name)]
            yield made.judged(_finding(names[0], made.name, len(alike), ends[0].method or ""), ends)


def _alike(module: str) -> str:
    """A module's name whatever the block."""
    return NUMBER.sub(".N.", module, count=1)


def _finding(name: Excluded, layer: str, count: int, method: str) -> Finding:
    return RULE.finding(
        Verdict.FAIL,
        layer,
        f"{counted(count, 'ignored name')} such as {name} match no layer: {layer} is made under another "
        "name and is quantized.",
        expected="not quantized",
        seen=method,
    )


_LISTED = Checkpoint(
    method="compressed-tensors",
    excluded=(Excluded(name="model.layers.0.conv.in_proj", module="model.layers.0.short_conv.in_proj"),),
)
_PACKED = replace(ACCEPTED, parameters=weights(("weight", "float8_e4m3fn"), ("weight_scale", "float32")))
_WHOLE = replace(ACCEPTED, parameters=weights(("weight", "bfloat16")))
_NAME = ("model.layers.0.short_conv.in_proj",)
_HOPPER = Member("capability", (90,))
_ON = (replace(_PACKED, guard=_HOPPER), replace(_WHOLE, guard=Not(_HOPPER)))
FIRES = (
    reported(chain(_PACKED, layers=_NAME), checkpoint=_LISTED),
    reported(chain(*_ON, layers=_NAME), checkpoint=_LISTED),
)
SILENT = (
    reported(chain(_WHOLE, layers=_NAME), checkpoint=_LISTED),
    # Nothing is asked about the module: it may be of a part of the model that is not told.
    reported(chain(_PACKED, layers=("model.layers.0.mlp.down_proj",)), checkpoint=_LISTED),
    reported(chain(_PACKED, layers=_NAME)),
)
