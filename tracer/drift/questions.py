"""The two questions: how they differ, and what is said of a value that one pin does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import asdict

from ...report.model import Chain, Coverage, Outcome, Question, Refusal, Report, Value
from ..answers import Answers
from ..scenario import Scenario

UNKNOWN = "unknown value"
MADE = ("quantization", "is_act_and_mul", "dtype", "cuda")
"""What a question comes to by the engine's doing, or has of the release."""
READ = ("excluded", "fused")
"""What a release makes of a checkpoint's own words."""


def differences(here: Report, there: Report) -> Iterator[str]:
    """`device: h100, a100`: what was asked otherwise, or is of another checkpoint."""
    one, other = _asked(here), _asked(there)
    for name in dict.fromkeys((*one, *other)):
        if one.get(name) != other.get(name):
            yield f"{name}: {_value(one.get(name))}, {_value(other.get(name))}"


def _asked(report: Report) -> dict[str, Value]:
    """What a question is about, but for what the engine or the release itself makes of it."""
    resolved = {name: value for name, value in report.question.resolved.items() if name not in MADE}
    own = asdict(report.checkpoint) if report.checkpoint is not None else {}
    return {
        **resolved,
        **report.question.asked,
        **{f"checkpoint's {name}": str(value) for name, value in own.items() if name not in READ},
    }


def _value(value: Value) -> str:
    return "not given" if value is None else str(value)


def unknown(scenario: Scenario, answers: Answers) -> tuple[str, str] | None:
    """The flag and the value that the release has no name for, if it is asked about one."""
    flag, dtype = scenario.quantization, scenario.kv_cache_dtype
    dtypes = answers.cache_dtypes(scenario.platform)
    if flag is not None and flag not in answers.flags and scenario.model is None:
        return "--quantization", flag
    if dtype is not None and dtypes and dtype not in dtypes:
        return "--kv-cache-dtype", dtype
    return None


def refused(scenario: Scenario, answers: Answers, asked: Mapping[str, Value]) -> Report:
    """The answer to a question about a value that the release does not have: it can only refuse."""
    flag, value = unknown(scenario, answers) or ("", "")
    refusal = Refusal(exception=UNKNOWN, message=f"{answers} has no {flag} {value}")
    return Report(
        tool="",
        question=Question(engine=answers.engine, asked=dict(asked), resolved={}),
        pins=(answers.pin,),
        chains=(Chain(layer=scenario.layer, hops=(), outcomes=(Outcome(refusal=refusal),)),),
        coverage=Coverage(modules_read=0, statements=0),
    )
