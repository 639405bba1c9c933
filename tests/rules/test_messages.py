"""What the findings say to the user."""

from __future__ import annotations

import msgspec

from qtrace.report.model import Chain, Hop, HopKind, Report, Verdict, Why
from qtrace.report.predicate import AllOf, Member, Not, Opaque, Site
from qtrace.rules import judge
from qtrace.rules.examples import ACCEPTED, refused, report, unknown


def layers(report: Report, *names: str) -> Report:
    chain = report.chains[0]
    chains = tuple(msgspec.structs.replace(chain, layer=name) for name in names)
    return msgspec.structs.replace(report, chains=chains)


def test_a_refusal_that_layers_share_is_told_once() -> None:
    (finding,) = judge(layers(report(refused("no.")), "linear", "experts"))
    assert finding.subject == "linear, experts"
    assert finding.message == "The engine refuses this scenario: ValueError: no."
    assert finding.site == Site("vllm/config/model.py", 9)


def test_an_unknown_value_is_told_once_with_the_known_ones_and_the_engines_words() -> None:
    asked = report(unknown("fp9", "awq", "fp8"), asked={"quantization": "fp9"})
    (finding,) = judge(layers(asked, "linear", "experts"))
    assert (finding.rule, finding.verdict) == ("QT103", Verdict.FAIL)
    assert (finding.expected, finding.seen) == ("awq, fp8", "fp9")
    assert finding.message == (
        "quantization fp9 is unknown to vllm 0.33.0: ValueError: Unknown quantization method: fp9."
    )


def test_an_unknown_value_is_found_among_other_conditions() -> None:
    on = AllOf((Not(Opaque("plugins")), Not(Member("quantization", ("awq",)))))
    (finding,) = judge(report(refused("no.", on=on)))
    assert finding.rule == "QT103"


def test_a_value_that_is_unknown_only_on_some_platforms_is_open() -> None:
    cpu = Member("platform", ("cpu",))
    no = refused("no.", on=Not(Member("quantization", ("awq",))), guard=cpu)
    (finding,) = judge(report(ACCEPTED, no))
    assert (finding.rule, finding.verdict) == ("QT901", Verdict.OPEN)
    assert finding.message == (
        "The outcome is open: 2 possible outcomes, 1 refusal among them; decided by platform"
    )


def test_a_rewritten_flag_points_to_the_override() -> None:
    scan = Hop(
        kind=HopKind.FUNCTION, symbol="verify", why=Why.OVERRIDES, site=Site("vllm/config/model.py", 1394)
    )
    asked = report(ACCEPTED, asked={"quantization": "gptq"}, resolved={"quantization": "auto_gptq"})
    chain = Chain(layer="linear", hops=(scan,), outcomes=(ACCEPTED,))
    (finding,) = judge(msgspec.structs.replace(asked, chains=(chain,)))
    assert (finding.expected, finding.seen) == ("gptq", "auto_gptq")
    assert finding.site == scan.site
