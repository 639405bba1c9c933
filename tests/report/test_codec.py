"""Reports as JSON: what is written can be read, is the same every time, and keeps to its schema."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace
from reports import REPORTS

from qtrace.report.codec import decode, encode, json_schema
from qtrace.report.errors import ReportError
from qtrace.report.model import Report

# Building a report draws from some thirty types; that is slow by nature, not by filtering.
slow = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def altered(report: Report, **changes: object) -> bytes:
    return json.dumps({**json.loads(encode(report)), **changes}).encode()


@slow
@given(REPORTS)
def test_any_report_comes_back_as_it_was(report: Report) -> None:
    assert decode(encode(report)) == report


@slow
@given(REPORTS)
def test_any_report_keeps_to_the_schema(report: Report) -> None:
    assert jsonschema.Draft202012Validator(json_schema()).is_valid(json.loads(encode(report)))


@slow
@given(REPORTS)
def test_equal_reports_give_equal_bytes(report: Report) -> None:
    assert encode(decode(encode(report))) == encode(report)


def test_the_schema_is_itself_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    assert json_schema()["$ref"] == "#/$defs/Report"


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("chains", 0, "hops", 0, "kind"), "no such kind"),
        (("chains", 0, "hops", 0, "depth"), "1"),
        (("chains", 0, "hops", 5, "guard", "type"), "no such predicate"),
        (("question", "asked"), None),
        (("schema",), "qtrace-report/2"),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(
    report: Report, path: tuple[str | int, ...], wrong: object
) -> None:
    document = json.loads(encode(report))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = wrong
    assert not jsonschema.Draft202012Validator(json_schema()).is_valid(document)
    with pytest.raises(ReportError):
        decode(json.dumps(document).encode())


def test_what_is_no_text_is_written_as_an_escape(report: Report) -> None:
    question = replace(report.question, asked={"model": "caf\udce9", "with": ("a", "b")})
    written = decode(encode(replace(report, question=question)))
    assert written == replace(
        report, question=replace(question, asked={**question.asked, "model": "caf\\udce9"})
    )


def test_the_file_is_for_people_too(report: Report) -> None:
    lines = encode(report).decode().split("\n")
    assert lines[:2] == ["{", '  "schema": "qtrace-report/1",']
    assert lines[-2:] == ["}", ""]


def test_keys_from_a_later_version_are_ignored(report: Report) -> None:
    assert decode(altered(report, ledger={"weights": 1})) == report


def test_another_major_schema_is_refused_by_name(report: Report) -> None:
    with pytest.raises(
        ReportError, match=r"r\.json has schema 'qtrace-report/2'; .* reads 'qtrace-report/1'"
    ):
        decode(altered(report, schema="qtrace-report/2", chains="all different"), "r.json")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "r.json is not JSON"),
        (b"\xff", "r.json is not JSON"),
        (b"[]", "r.json is not a qtrace report"),
        (b'{"version": "2.1.0"}', "r.json is not a qtrace report"),
        (b'{"schema": "qtrace-report/1"}', "r.json is not a valid qtrace-report/1"),
    ],
)
def test_what_is_not_a_report_is_told_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(ReportError, match=message) as caught:
        decode(data, "r.json")
    assert "\n" not in str(caught.value)


def test_one_scenario_stays_small(report: Report) -> None:
    assert len(encode(report)) < 300_000
