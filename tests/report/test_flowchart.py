"""The flowchart of a chain: who leads to whom, in labels that Mermaid can read."""

from __future__ import annotations

import re

from comment import MARKUP
from hypothesis import given, settings
from msgspec.structs import replace

from qtrace.report.markdown.flowchart import LONGEST, MOST, flowchart, label
from qtrace.report.model import Hop, HopKind, Report, Why
from qtrace.report.names import one_line
from qtrace.report.predicate import Opaque


@settings(max_examples=200, deadline=None)
@given(MARKUP)
def test_any_label_is_shown_as_it_is(text: str) -> None:
    written = label(text)
    assert re.fullmatch(r"[A-Za-z0-9_ .,/=+*#;-]+", written)
    read = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), written)
    whole = one_line(text).strip() or "?"
    assert read == whole if len(whole) <= LONGEST else read.endswith("…")


def hops(*steps: tuple[HopKind, int]) -> tuple[Hop, ...]:
    """Hops of these kinds and depths."""
    return tuple(Hop(kind=kind, symbol="n", why=Why.CALLS, depth=depth) for kind, depth in steps)


def test_each_hop_hangs_on_the_one_above_it(report: Report) -> None:
    chart = flowchart(report.chains[0].hops)
    edges = re.findall(r"(h\d+) (-->|-\.->)\|([a-z ]+)\| (h\d+)", chart.text)
    assert chart.left_out == 0
    assert edges[:4] == [
        ("h0", "-->", "reads", "h1"),
        ("h1", "-->", "overrides", "h2"),
        ("h0", "-->", "constructs", "h3"),
        ("h3", "-->", "returns", "h4"),
    ]
    assert ("h4", "-.->", "dispatches on", "h5") in edges, "a condition makes it dotted"
    assert "    style h7 stroke-dasharray: 4\n" in chart.text


def test_a_long_chain_is_drawn_without_its_calls_and_says_so() -> None:
    calls = [(HopKind.FUNCTION, depth) for depth in range(1, MOST + 1)]
    long = hops((HopKind.FLAG, 0), *calls, (HopKind.TORCH_OP, MOST + 1))
    chart = flowchart(long)
    assert chart.left_out == MOST
    assert f"    h0 -->|calls through {MOST} more| h{MOST + 1}\n" in chart.text
    doubtful = (*long[:3], replace(long[3], guard=Opaque("x")), *long[4:])
    assert f"    h0 -.->|calls through {MOST} more| h{MOST + 1}\n" in flowchart(doubtful).text


def test_no_picture_has_more_nodes_than_can_be_seen() -> None:
    many = hops(*[(HopKind.TORCH_OP, 0)] * (MOST + 7))
    assert flowchart(many).text.count("[[") == MOST
    assert flowchart(many).left_out == 7
