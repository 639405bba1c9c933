"""Names of devices: the table is well formed, and real names of drivers mean what those drivers reported."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from qtrace.commands.devices import page
from qtrace.report.errors import UsageError
from qtrace.tracer.cpus import kinds
from qtrace.tracer.devices import Device, device, on_platform, table, words
from qtrace.tracer.scenario import ARCHITECTURES, CAPABILITIES
from qtrace.tracer.sources import Source

VENDORS = ("nvidia.com", "amd.com", "nvidia.github.io", "awsstatic.com")

# Device name, major, minor and multiprocessors as PyTorch profiler traces of real machines give them.
RECORDED = (
    ("Tesla V100-SXM2-16GB", 70, 80),
    ("Tesla V100-SXM2-32GB", 70, 80),
    ("Tesla V100-DGXS-32GB", 70, 80),
    ("NVIDIA GeForce RTX 2080 Ti", 75, 68),
    ("NVIDIA A100-SXM4-80GB", 80, 108),
    ("NVIDIA GeForce RTX 3090", 86, 82),
    ("NVIDIA H100 80GB HBM3", 90, 132),
    ("NVIDIA B200", 100, 148),
    ("NVIDIA B300 SXM6 AC", 103, 148),
)


def known(found: Device) -> dict[str, object]:
    every = {name: getattr(found, name) for name in found.__struct_fields__}
    return {name: value for name, value in every.items() if value not in (None, ())}


def test_each_row_has_one_architecture_that_is_known_and_a_source_of_its_vendor() -> None:
    for row in table():
        assert (row.platform, row.arch is None) in (("cuda", True), ("rocm", False)), row
        assert row.capability in CAPABILITIES if row.platform == "cuda" else row.arch in ARCHITECTURES, row
        host = urlsplit(row.source)
        assert host.scheme == "https" and str(host.hostname).endswith(VENDORS), row


def test_no_two_rows_are_called_the_same() -> None:
    names = [row.name.lower() for row in table()]
    drivers = [row.driver.lower() for row in table() if row.driver]
    assert len(set(names)) == len(names)
    assert len(set(drivers)) == len(drivers)


@pytest.mark.parametrize("row", table(), ids=lambda row: row.name)
def test_figures_are_positive_and_narrower_types_are_no_slower(row: Device) -> None:
    assert all(value > 0 for value in known(row).values() if isinstance(value, int | float))
    rates = [rate for rate in (row.bf16, row.fp16, row.fp8, row.fp4) if rate is not None]
    assert rates == sorted(rates)


@pytest.mark.parametrize("row", table(), ids=lambda row: row.name)
def test_a_row_is_found_by_each_of_its_own_names(row: Device) -> None:
    facts = {name: getattr(row, name) for name in Device.__struct_fields__}
    assert device(row.name) == Device(**facts)  # type: ignore[attr-defined]
    if row.driver is not None:
        assert device(row.driver) == device(row.driver.upper()) == Device(**facts)


@pytest.mark.parametrize(("name", "capability", "units"), RECORDED)
def test_what_real_machines_reported(name: str, capability: int, units: int) -> None:
    found = device(name)
    assert (found.driver, found.capability, found.counted) == (name, capability, units)


def test_names_in_the_release_s_own_tuned_configurations_are_known(vllm_source: Source) -> None:
    """What vLLM's files are called after: `get_device_name()` on the machines that they were tuned on."""
    found = {
        match[1].replace("_", " ")
        for path in vllm_source.files("vllm/", ".json")
        if (match := re.search(r"device_name=((?:NVIDIA|AMD|Radeon)_[^,.]+)", path))
    }
    assert len(found) > 25
    unknown = set()
    for name in found:
        try:
            assert device(name).platform == ("cuda" if name.startswith("NVIDIA") else "rocm")
        except UsageError:
            unknown.add(name)
    assert unknown == {"NVIDIA L20Y"}  # no source tells what it is


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("h100", {"platform": "cuda", "capability": 90}),
        ("H100 80 GB", {"platform": "cuda", "capability": 90, "memory_gb": 80}),
        ("nvidia-h100-80gb", {"platform": "cuda", "capability": 90, "memory_gb": 80}),
        ("NVIDIA_A100-SXM4-40GB MIG 1g.5gb", {"platform": "cuda", "capability": 80}),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", {"platform": "cuda", "capability": 89}),
        ("sm_90", {"platform": "cuda", "capability": 90}),
        ("sm90a", {"platform": "cuda", "capability": 90}),
        ("sm_120f", {"platform": "cuda", "capability": 120}),
        ("9.0", {"platform": "cuda", "capability": 90}),
        ("gfx942", {"platform": "rocm", "arch": "gfx942"}),
        ("gfx90a:sramecc+:xnack-", {"platform": "rocm", "arch": "gfx90a"}),
        ("rx7900", {"platform": "rocm", "arch": "gfx1100"}),
        ("Orin (nvgpu)", {"platform": "cuda", "capability": 87}),
        ("cpu", {"platform": "cpu", "cpu": kinds()}),
        (" XPU ", {"platform": "xpu"}),
    ],
)
def test_what_products_of_a_name_agree_on_is_known_and_the_rest_is_not(
    text: str, facts: dict[str, object]
) -> None:
    assert known(device(text)) == facts


@pytest.mark.parametrize(
    ("text", "memory", "units"),
    [("a100-80g", 80, 108), ("h100 pcie", 80, 114), ("AMD Instinct MI300X", 192, 304), ("rtx4070ti", 12, 60)],
)
def test_a_variant_is_told_by_its_words(text: str, memory: float, units: int) -> None:
    found = device(text)
    assert (found.memory_gb, found.units) == (memory, units)


def test_a_word_more_does_not_change_the_architecture() -> None:
    for row in table():
        assert device(f"{row.name} rev7").arch == row.arch
        assert device(f"{row.name} rev7").capability == row.capability


def test_compute_units_are_only_told_where_the_driver_counts_them_alike() -> None:
    assert (device("rx 7900 xtx").units, device("rx 7900 xtx").counted) == (96, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h1000", "unknown device 'h1000': did you mean H100 SXM5 (sm_90)"),
        ("toaster", "unknown device 'toaster': give a name (h100"),
        ("", "unknown device ''"),
        ("9.9", "no compute capability 9.9"),
        ("gfx123", "known architectures are gfx906"),
        ("a100 or h100", "may be any of A100 SXM4 40GB (sm_80)"),
        ("rtx 6000", "did you mean Quadro RTX 6000 (sm_75)"),
    ],
)
def test_bad_text_is_one_clear_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        device(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_platform_and_device_go_together() -> None:
    assert on_platform(None, None) == on_platform("cuda", None) == Device(platform="cuda")
    assert on_platform("rocm", "mi300x") == device("mi300x")
    with pytest.raises(UsageError, match="--platform rocm contradicts --device h100, which is on cuda"):
        on_platform("rocm", "h100")


def test_spellings_meet() -> None:
    assert words("NVIDIA GeForce RTX4070Ti 12 GiB") == words("rtx 4070 ti 12gb") == {"4070", "ti", "12gb"}


def test_the_page_of_the_devices_is_current() -> None:
    docs = Path(__file__).parent.parent.parent / "docs" / "devices.md"
    told = "run `qtrace devices --markdown > docs/devices.md`"
    assert docs.read_text(encoding="utf-8") == page(table()), told
