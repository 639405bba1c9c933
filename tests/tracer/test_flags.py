"""Who reads a name: held against a list that was made by hand, and whether the way to a reader is open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asking import EXAMPLE
from edited import edited, replaced

from qtrace.report.errors import UsageError
from qtrace.report.model import Report, Verdict
from qtrace.report.readers import Role, Source as Kind
from qtrace.rules import flag_no_reader
from qtrace.tracer.checkpoint import read_checkpoint
from qtrace.tracer.flags.answer import told
from qtrace.tracer.flags.names import named
from qtrace.tracer.flags.reads import readers
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import Source

CHECKED = json.loads((Path(__file__).parent.parent / "data" / "flags" / "checked.json").read_text())
PROFILER = "capture_torch_profiler"


@pytest.mark.parametrize("name", CHECKED)
def test_every_reader_is_found_and_nothing_else(vllm_source: Source, name: str) -> None:
    found = readers(vllm_source, named(vllm_source, name))
    assert [str(reader.site) for reader in found if reader.sure] == sorted(
        CHECKED[name], key=lambda site: (site.rpartition(":")[0], int(site.rpartition(":")[2]))
    )


def test_an_option_is_followed_into_the_field_that_keeps_it(vllm_source: Source) -> None:
    found = named(vllm_source, "--kv-cache-dtype")
    assert found.fields == {"kv_cache_dtype": {"EngineArgs"}, "cache_dtype": {"CacheConfig"}}
    assert [defined.source for defined in found.defined] == [Kind.FLAG, Kind.FIELD, Kind.FIELD]


def test_a_field_may_be_named_with_its_class(vllm_source: Source) -> None:
    assert named(vllm_source, f"ProfilerConfig.{PROFILER}").fields == {PROFILER: {"ProfilerConfig"}}
    with pytest.raises(UsageError, match="has no engine argument, field"):
        named(vllm_source, f"ModelConfig.{PROFILER}")


def test_a_name_that_nobody_has_is_one_line(vllm_source: Source) -> None:
    for name in ("--quantisation", "VLLM_NO_SUCH_THING", "", "a b"):
        with pytest.raises(
            UsageError, match="has no engine argument, field of a configuration or environment variable"
        ):
            named(vllm_source, name)


def test_what_a_reader_does_with_it(vllm_source: Source) -> None:
    found = readers(vllm_source, named(vllm_source, "--gpu-memory-utilization"))
    roles = {str(reader.site): reader.role for reader in found}
    assert roles["vllm/v1/worker/gpu_worker.py:763"] is Role.LOGS
    assert roles["vllm/v1/worker/utils.py:725"] is Role.PASSES
    assert not [reader for reader in found if reader.role is Role.DECIDES]


def _profiler(library: Library, **environment: str) -> Report:
    return told(library, PROFILER, Scenario(capability=90, environment=dict(environment)), {}, False)


def test_a_flag_that_only_the_other_runner_reads_is_told(library: Library) -> None:
    """The first runner alone reads it (a public report), and this model gets the second."""
    report = _profiler(library)
    (finding,) = flag_no_reader.check(report)
    assert finding.verdict is Verdict.FAIL
    assert "GPUModelRunner.capture_model" in finding.message and "VLLM_USE_V2_MODEL_RUNNER" in finding.message
    assert any(
        "not use_v2_model_runner (vllm/v1/worker/gpu_worker.py:586)" in fact for fact in finding.evidence
    )


def test_where_that_runner_is_chosen_it_is_read(library: Library) -> None:
    report = _profiler(library, VLLM_USE_V2_MODEL_RUNNER="0")
    assert report.readers is not None
    assert all(each.holds for reader in report.readers.outside() for each in reader.behind)
    assert not list(flag_no_reader.check(report))


def test_a_flag_without_any_reader_is_told(vllm_source: Source) -> None:
    path = "vllm/v1/worker/gpu_model_runner.py"
    source = edited(vllm_source, {path: replaced(f"profiler_config.{PROFILER}", "profiler_config.delay")})
    (finding,) = flag_no_reader.check(_profiler(Library(source)))
    assert (finding.verdict, finding.message) == (
        Verdict.OPEN,
        f"No reader of {PROFILER} was found, but for checks and logs.",
    )


@pytest.mark.parametrize(
    "name",
    [
        "VLLM_USE_V2_MODEL_RUNNER",
        "VLLM_DISABLED_KERNELS",
        "--allow-deprecated-quantization",
        "--linear-backend",
    ],
)
def test_what_has_a_reader_is_not_told_to_have_none(library: Library, name: str) -> None:
    report = told(library, name, Scenario(capability=90), {}, False)
    assert not list(flag_no_reader.check(report))


def test_another_name_of_an_option_is_the_option(vllm_source: Source) -> None:
    assert named(vllm_source, "--device-memory-utilization").name == "gpu_memory_utilization"
    assert named(vllm_source, "-tp").name == "tensor_parallel_size"


def test_a_value_that_is_handed_on_under_a_condition_is_followed(vllm_source: Source) -> None:
    assert named(vllm_source, "--max-cpu-loras").fields["max_cpu_loras"] == {"EngineArgs", "LoRAConfig"}


def test_a_variable_that_is_read_in_another_way_may_have_a_reader(vllm_source: Source) -> None:
    """A text that is looked up later; a name that is imported; a file that is no Python."""
    space = readers(vllm_source, named(vllm_source, "VLLM_CPU_KVCACHE_SPACE"))
    assert any(not reader.sure and reader.site.path == "vllm/platforms/cpu.py" for reader in space)
    timeout = readers(vllm_source, named(vllm_source, "VLLM_ENGINE_READY_TIMEOUT_S"))
    assert any(reader.sure and reader.site.path == "vllm/v1/engine/core_client.py" for reader in timeout)
    chunk = readers(vllm_source, named(vllm_source, "VLLM_ROCM_SLEEP_MEM_CHUNK_SIZE"))
    assert any(reader.site.path == "csrc/cumem_allocator.cpp" for reader in chunk)


def test_what_a_question_hangs_on(library: Library) -> None:
    question = Scenario(
        model=read_checkpoint(str(EXAMPLE)).config, capability=90, profile="bare", cuda=13000, layer="o_proj"
    )
    report = told(library, "VLLM_DISABLED_KERNELS", question, {}, True)
    assert report.readers is not None and report.readers.decides is True
    reached = {reader.function.rpartition(".")[2] for reader in report.readers.readers if reader.reached}
    assert reached == {"is_supported_and_can_implement_kernel"}
    other = told(library, "VLLM_MARLIN_USE_ATOMIC_ADD", question, {}, True)
    assert other.readers is not None and other.readers.decides is False
    assert not any(reader.reached for reader in other.readers.readers)
