"""The values that a release takes for `--kv-cache-dtype`, read off the type of the engine's argument."""

from __future__ import annotations

from collections.abc import Iterator

from ..evaluate.expressions import evaluate
from ..evaluate.fields import fields_of
from ..evaluate.values import Instance, UnionType, Value
from ..library import Library
from ..scenario import Scenario
from . import entering, platform as facts, vllm
from .flags import ARGUMENTS
from .vllm_attention import FIELD


def cache_dtypes(library: Library, platform: str) -> tuple[str, ...]:
    """The names of its `Literal`, beside which only a package's own may stand; none where it has none."""
    if library.source.engine != vllm.ROOT:
        return ()
    from ..answer import followed, roomy

    with roomy(), followed(library.source):
        m = vllm.machine(library, Scenario(platform=platform, profile="bare"))
        cls = facts.engine_value(m, ARGUMENTS)
        for field in fields_of(m, cls):
            if field.name == FIELD and field.annotation is not None:
                with entering.inside(m, cls.module.name), m.aside():
                    return tuple(_names(evaluate(m, field.annotation)))
    return ()


def _names(hint: Value) -> Iterator[str]:
    """The texts of a `Literal`, alone or in a union."""
    if isinstance(hint, UnionType):
        for part in hint.parts:
            yield from _names(part)
    if isinstance(hint, Instance) and hint.cls.symbol == "typing.Literal" and isinstance(hint.payload, tuple):
        yield from (name for name in hint.payload if isinstance(name, str))
