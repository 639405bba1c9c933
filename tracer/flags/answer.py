"""Who reads a name, whether the question comes to a reader, and whether its answer hangs on it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ... import __version__
from ...report.model import Chain, Question, Report, Value
from ...report.readers import Behind, Reader, Readers
from ...report.standing import Standing, of_report
from ..answer import answered, coverage, roomy, walked
from ..engines.vllm_walk import Walk as VllmWalk
from ..library import Library
from ..scenario import Scenario, device_facts
from ..standard import model_for
from .holds import holds
from .names import OWNER, Named, named
from .reads import readers
from .ways import Way, ways

if TYPE_CHECKING:
    from ..engines.walk import Walk

CONFIGS = "vllm.config."
FEW = 4
"""Classes of which the ways are looked for; a name that more of them read has a reader on any path."""
OWN = ("quantization", "kv_cache_dtype", "dtype", "tensor_parallel_size", "enable_expert_parallel")
"""Arguments that a question has anyway."""


def told(
    library: Library, asked_for: str, scenario: Scenario, asked: Mapping[str, Value], about: bool
) -> Report:
    """The readers of a name; `about` a question, its chains with the name unknown as well."""
    name = named(library.source, asked_for)
    model = model_for(scenario.layer)
    concrete = scenario if scenario.model is not None else replace(scenario, model=model.config, whole=True)
    walk = walked(library, concrete, configured=not about)
    found = _behind(library, readers(library.source, name), walk)
    if about:
        found = _reached(found, walk)
    chains, decides = _hangs(library, name, scenario, asked) if about else ((), None)
    return Report(
        tool=__version__,
        question=Question(
            engine=library.source.engine,
            asked={"flag": asked_for, **asked},
            resolved=device_facts(scenario),
            assumed=() if scenario.model else (f"the model is {model.words}, not quantized",),
        ),
        pins=(library.source.pin(),),
        chains=chains,
        readers=Readers(
            name=name.name,
            defined=name.defined,
            readers=tuple(reader for reader in found if reader.sure),
            others=sum(not reader.sure for reader in found),
            decides=decides,
        ),
        coverage=coverage(walk),
    )


def _hangs(
    library: Library, name: Named, scenario: Scenario, asked: Mapping[str, Value]
) -> tuple[tuple[Chain, ...], bool | None]:
    """The chains with the name unknown, and whether they are others than with it as it was asked; None where
    it cannot be left unknown, or something was not followed to its end.
    """
    known = answered(library, scenario, asked)
    without = _unknown(scenario, name)
    if without == scenario:
        return known.chains, None
    unknown = answered(library, without, asked)
    if unknown.chains != known.chains:
        return unknown.chains, True
    cut = known.coverage.budgets or of_report(known) is Standing.OPEN
    return unknown.chains, None if cut else False


def _unknown(scenario: Scenario, name: Named) -> Scenario:
    """The question with the name set to nobody knows what."""
    if not name.fields:
        return replace(scenario, environment={**scenario.environment, name.name: None})
    mine = name.name in OWN or not any(OWNER in owners for owners in name.fields.values())
    return scenario if mine else replace(scenario, unread=(*scenario.unread, name.name))


def _behind(library: Library, found: list[Reader], walk: Walk) -> list[Reader]:
    """The readers with the conditions under which their classes are built."""
    classes = dict.fromkeys(_class(reader) for reader in found if reader.sure)
    outside = [cls for cls in classes if cls is not None and not cls[0].startswith(CONFIGS)]
    if len(outside) > FEW:
        return found
    with roomy():
        behind = {cls: _conditions(library, ways(library.source, *cls), walk) for cls in outside}
    return [replace(reader, behind=behind.get(_class(reader) or ("", ""), ())) for reader in found]


def _class(reader: Reader) -> tuple[str, str] | None:
    """The module and the class whose method reads."""
    parts = reader.function.split(".")
    at = next((n for n, part in enumerate(parts) if part.lstrip("_")[:1].isupper()), None)
    return None if at is None else (".".join(parts[:at]), parts[at])


def _conditions(library: Library, found: list[Way], walk: Walk) -> tuple[Behind, ...]:
    """The condition of each way; none where a way has none, or nobody builds it here."""
    if any(way.test is None for way in found):
        return ()
    return tuple(
        Behind(
            condition=f"{'not ' if way.negated else ''}{way.test}",
            site=way.site,
            holds=_holds(library, way, walk),
            asks=_asks(library, way.test or ""),
        )
        for way in found
    )


def _asks(library: Library, name: str) -> tuple[str, ...]:
    """The environment variables that a property of the configuration reads."""
    found: dict[str, None] = {}
    for path in library.source.files(CONFIGS.replace(".", "/"), ".py"):
        text = library.source.text(path) or ""
        for node in ast.walk(ast.parse(text)) if f"def {name}(" in text else ():
            if isinstance(node, ast.FunctionDef) and node.name == name:
                found |= dict.fromkeys(re.findall(r"\benvs\.([A-Z_0-9]+)", ast.unparse(node)))
    return tuple(found)


def _holds(library: Library, way: Way, walk: Walk) -> bool | None:
    """Whether the test holds, where what is tested is certainly the configuration's."""
    if way.test is None or not isinstance(walk, VllmWalk) or not _is_copy(library, way.test, way.site.path):
        return None
    found = holds(walk, way.test)
    return None if found is None else found != way.negated


def _is_copy(library: Library, name: str, path: str) -> bool:
    """Whether what is called so around a file is what the configuration has under that name."""
    given: list[str] = []
    for near in library.source.files(f"{path.rpartition('/')[0]}/", ".py"):
        given += re.findall(rf"self\.{name}\s*=\s*([^\n]+)", library.source.text(near) or "")
    read = f"vllm_config.{name}"
    return all(re.fullmatch(rf"(?:self\.)?{re.escape(read)}", value) for value in given) and (
        bool(given) or read in (library.source.text(path) or "")
    )


def _reached(found: list[Reader], walk: Walk) -> list[Reader]:
    """The readers with whether their function is run on the way of the question."""
    run = {name for edge in walk.m.record.edges for name in (edge.caller, edge.callee)}
    return [replace(reader, reached=reader.function in run) for reader in found]
