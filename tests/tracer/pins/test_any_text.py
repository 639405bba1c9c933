"""Whatever stands in a PIN, a listing or a wheel: an answer, or one line that says what is wrong."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings, strategies as st
from indexes import JSON, wheel

from qtrace.report.errors import QtraceError, SourceError, UsageError
from qtrace.tracer.pins.grammar import FORMS, Commit, Installed, Place, Release, Revision, parse
from qtrace.tracer.pins.listing import Link, links
from qtrace.tracer.sources import open_source

KINDS = (Commit, Installed, Place, Release, Revision)
PIECES = st.sampled_from(
    ["git+", "https://", "ssh://", "file:///", "@", "v", "0.", "3", "rc", ":", "[", "..", "\0", "é", "a"]
)
FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FEW
@given(st.text(max_size=40) | st.lists(PIECES, max_size=8).map("".join))
@example("git+https://u:p@[@x")
@example("v" + "9" * 5000)
def test_a_pin_is_a_request_or_a_usage_error(text: str) -> None:
    try:
        assert isinstance(parse(text), KINDS)
    except (UsageError, SourceError) as problem:
        assert str(problem).isprintable() and len(str(problem)) < 600 + len(FORMS)


@FEW
@given(
    st.binary(max_size=80) | st.text('<a href="#=>/:&;[]{}', max_size=60).map(str.encode),
    st.sampled_from([JSON, "text/html"]),
)
@example(b'{"files": [{"filename": "x", "url": "http://[", "hashes": {"sha256": 3}}]}', JSON)
@example(b'{"files": [{"filename": "x", "url": "x", "hashes": null}]}', JSON)
@example(b'<base href="http://["><a href="x">', "text/html")
def test_a_listing_gives_links_or_says_that_it_is_none(page: bytes, kind: str) -> None:
    try:
        assert all(isinstance(link, Link) for link in links(page, kind, "https://h.example/simple/vllm/"))
    except SourceError as problem:
        assert str(problem).isprintable()


@FEW
@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_wheel_with_bytes_changed_is_read_or_refused(changes: list[tuple[float, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = wheel(Path(folder), "1.2.3")
        data = bytearray(path.read_bytes())
        for place, value in changes:
            data[int(place * len(data))] = value
        path.write_bytes(data)
        try:
            open_source(path).pin()
        except QtraceError as problem:
            assert str(problem).isprintable()
