"""The standard grid put to two pins: every question that both have an answer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from ...report.drift import Only
from ...report.model import Change, Value
from ..answers import Answers
from ..scenario import CAPABILITIES, Scenario
from ..snapshot.file import Known
from ..snapshot.grid import groups
from ..standard import standards
from ..supposed import PLAIN
from .told import CHECKPOINT, Put

CUDA = "cuda"
Wanted = Callable[[Scenario], bool]


def questions(here: Answers, there: Answers, wanted: Wanted, told: Callable[[int], None]) -> Iterator[Put]:
    """Each question of the grid, device by device; those that no question names are told by the answer for
    an unknown one. `told` hears how many are answered.
    """
    one, other = _by_key(_known(here)), _by_key(_known(there))
    both = [(one[key], other[key]) for key in one if key in other]
    named = _capabilities(scenario for scenario, _ in both)
    for number, (asked, again) in enumerate(both, 1):
        devices = list(_devices(asked, named[_but_device(asked)], wanted))
        if devices:
            answers = here.ask(asked, {}), there.ask(again, {})
            told(number)
            for capability, name in devices:
                yield Put(_told(asked), (name,), *answers, capability)


def only(here: Answers, there: Answers) -> Iterator[Only]:
    """Values of the two flags that one of the pins does not know."""
    for flag, one, other in (
        ("--quantization", here.flags, there.flags),
        ("--kv-cache-dtype", here.cache_dtypes(CUDA), there.cache_dtypes(CUDA)),
    ):
        yield from (Only(flag=flag, value=v, change=Change.GONE) for v in one if v not in other)
        yield from (Only(flag=flag, value=v, change=Change.NEW) for v in other if v not in one)


def _known(answers: Answers) -> Known:
    return Known(answers.flags, answers.cache_dtypes(CUDA), answers.cuda)


def _by_key(known: Known) -> dict[bytes, Scenario]:
    """The questions by all but the CUDA version, which each release has of its own."""
    return {
        msgspec.json.encode(replace(scenario, cuda=None)): scenario
        for group in groups(known)
        for scenario in group
    }


def _but_device(scenario: Scenario) -> bytes:
    return msgspec.json.encode(replace(scenario, cuda=None, capability=None))


def _capabilities(asked: Iterable[Scenario]) -> Mapping[bytes, Sequence[int]]:
    """The CUDA devices that questions name, by what else they ask."""
    found: dict[bytes, list[int]] = {}
    for scenario in asked:
        named = found.setdefault(_but_device(scenario), [])
        if scenario.capability is not None:
            named.append(scenario.capability)
    return found


def _devices(asked: Scenario, named: Sequence[int], wanted: Wanted) -> Iterator[tuple[int | None, str]]:
    """The devices that the answer is told of; the capability where the answer holds for others too."""
    if asked.platform != CUDA or asked.capability is not None:
        if wanted(asked):
            yield None, _name(asked)
        return
    for capability in CAPABILITIES:
        on = replace(asked, capability=capability)
        if capability not in named and wanted(on):
            yield capability, _name(on)


def _name(scenario: Scenario) -> str:
    return scenario.arch or (f"sm_{scenario.capability}" if scenario.capability else scenario.platform)


def _told(scenario: Scenario) -> dict[str, Value]:
    """The question in the words of the command line, without its device."""
    given: dict[str, Value] = {
        "quantization": scenario.quantization,
        "kv_cache_dtype": scenario.kv_cache_dtype,
        "layer": None if scenario.layer == "linear" else scenario.layer,
        CHECKPOINT: None if scenario.model is None else _words(scenario.model.get("quantization_config")),
        "dtype": scenario.dtype,
        "packages": scenario.profile,
        "tokens": scenario.rows,
    }
    return {name: value for name, value in given.items() if value is not None}


def _words(config: object) -> str:
    return next((standard.words for standard in standards() if standard.config == config), PLAIN)
