"""The command line of a release: its options, and what its own parser makes of a line."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from edited import edited, replaced

from qtrace.report.errors import UsageError
from qtrace.tracer.engines.command_line import Option
from qtrace.tracer.engines.flags import Registered, handed_on, registered
from qtrace.tracer.engines.launch_line import Line, read_line
from qtrace.tracer.library import Library
from qtrace.tracer.sources import Source, open_source

ARGUMENTS = "vllm/engine/arg_utils.py"
DATA = Path(__file__).parent.parent / "data" / "lines"
CACHE = Path(__file__).parent.parent.parent / ".cache"


def read(library: Library, line: str) -> Line:
    return read_line(library, tuple(line.split()), "cuda")


def option(known: Registered, name: str) -> Option:
    (found,) = (o for o in known.options if name in o.names)
    return found


def written(source: Source) -> set[str]:
    """Every option that stands as a text in the engine's `add_argument` calls, found without evaluating."""
    tree = ast.parse(source.text(ARGUMENTS) or "")
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    added = (c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "add_argument")
    texts = (a.value for c in added for a in c.args if isinstance(a, ast.Constant))
    return {text for text in texts if isinstance(text, str) and text.startswith("-")}


def check_release(library: Library) -> None:
    """What must hold of any release."""
    known = registered(library, "cuda")
    names = {name for o in known.options for name in o.names}
    assert known.whole
    assert len(written(library.source)) > 150
    assert written(library.source) <= names
    assert {"--port", "--api-key", "--chat-template"} <= names  # fields of the server's own arguments
    assert option(known, "-tp").names == ("--tensor-parallel-size", "-tp")
    assert option(known, "--enforce-eager").nargs == 0
    assert option(known, "--no-enforce-eager").negatives == {"--no-enforce-eager"}
    assert option(known, "--served-model-name").nargs == "+"
    assert option(known, "--dtype").choices[:2] == ("auto", "bfloat16")
    assert option(known, "--api-key").dest not in known.engine
    assert option(known, "-q").dest in known.engine


def test_the_options_of_a_release_are_read_from_its_source(library: Library) -> None:
    check_release(library)
    known = registered(library, "cuda")
    assert option(known, "--hf-token").nargs == "?"
    assert option(known, "--disable-log-requests").negatives == {
        "--no-enable-log-requests",
        "--disable-log-requests",
    }


@pytest.mark.full
@pytest.mark.parametrize("version", ["0.20.0", "0.26.0"])
def test_the_options_of_other_releases(version: str) -> None:
    library = Library(open_source(CACHE / f"vllm-{version}.tar.gz"))
    check_release(library)
    line = read(library, "serve M -q fp8 --kv_cache_dtype=fp8 -O3 --compilation-config.mode 3")
    assert line.given["compilation_config"] == '{"mode": 3}'
    if version == "0.20.0":
        assert option(registered(library, "cuda"), "--hf-token").nargs == "?"
        with pytest.raises(UsageError, match=r"0\.20\.0 has no --quantization-config; .* --quantization$"):
            read(library, "serve M --quantization-config {}")


@pytest.mark.full
def test_an_option_that_is_renamed_in_the_source_is_the_one_that_counts(vllm_source: Source) -> None:
    changed = Library(
        edited(vllm_source, {ARGUMENTS: replaced('"--quantization", "-q"', '"--squeeze", "-s"')})
    )
    assert read(changed, "serve M -s fp8").names == {"squeeze": "--squeeze"}
    with pytest.raises(UsageError, match="has no -q"):
        read(changed, "serve M -q fp8")


def test_lines_are_handed_to_argparse_as_the_release_s_parser_did(library: Library) -> None:
    recorded = json.loads((DATA / "vllm-0.33.0.json").read_text())
    assert len(recorded) == 60
    for row in recorded:
        try:
            words: list[str] | None = list(handed_on(library, tuple(row["argv"]), "cuda"))
        except UsageError:
            words = None
        assert words == row["words"], row["argv"]


@pytest.mark.parametrize(
    ("line", "model", "given"),
    [
        ("serve M -q fp8 -tp 2", "M", {"quantization": "fp8", "tensor_parallel_size": "2"}),
        ("serve M --kv_cache_dtype=fp8", "M", {"kv_cache_dtype": "fp8"}),
        ("serve --enforce-eager M", "M", {"enforce_eager": True}),
        ("serve M --no-enforce-eager", "M", {"enforce_eager": False}),
        ("serve M -O3", "M", {"optimization_level": "3"}),
        ("serve M --compilation-config.mode 3", "M", {"compilation_config": '{"mode": 3}'}),
        ("serve M --hf-overrides.a.b x", "M", {"hf_overrides": '{"a": {"b": "x"}}'}),
        ("serve M --hf-overrides.a+ x,y", "M", {"hf_overrides": '{"a": ["x", "y"]}'}),
        ('serve M --quantization-config {"a":1}', "M", {"quantization_config": '{"a":1}'}),
        ("serve M --kv-cache-mem 80g", "M", {"kv_cache_memory_bytes": "80g"}),
        ("serve -tp 2 --served_model_name a b --model M", "M", None),
        ("--model M --dtype half", "M", {"dtype": "half"}),
        ("serve", None, {}),
    ],
)
def test_a_line_is_read_as_the_release_does(
    library: Library, line: str, model: str | None, given: dict[str, object] | None
) -> None:
    found = read(library, line)
    assert found.model == model
    assert found.given == given or given is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "serve M --quantisation fp8",
            "vllm 0.33.0 has no --quantisation; the nearest it has is --quantization",
        ),
        (
            "serve M --quant fp8",
            "ambiguous option: --quant could match --quantization, --quantization-config",
        ),
        ("serve M --dtype float17", "invalid choice: 'float17'"),
        ("serve M -q", "expected one argument"),
        ("serve M N", "takes one model, and N stands where no value belongs"),
        ("serve --served-model-name a", "`model` should be provided as the first positional argument"),
    ],
)
def test_what_the_release_refuses_is_an_error(library: Library, line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(library, line)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_of_the_server_are_told_from_the_engine_s(library: Library) -> None:
    assert read(library, "serve M --port 80 --max-model-len 4k").server == {"port"}
