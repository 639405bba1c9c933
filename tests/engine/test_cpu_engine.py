"""A real engine on this machine's CPU holds what qtrace says of its source."""

from __future__ import annotations

from pathlib import Path

import pytest
from cpu_answers import asked, differences, this_cpu
from cpu_engine import checkpoints, observed
from cpu_variants import VARIANTS

from qtrace.tracer.library import Library
from qtrace.tracer.sources import open_source

pytestmark = pytest.mark.engine
ROOT = Path(__file__).parent.parent.parent
FEW = ("ct-w8a8", "ct-w4a16", "bf16-fp8-kv")
"""Launches that are worth a start each time; the others take minutes and run from .ci/full."""


@pytest.fixture(scope="module")
def engine() -> Library:
    return Library(open_source(ROOT / ".cache" / "vllm-0.32.0.tar.gz"))


@pytest.fixture(scope="module")
def models(python: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Folder of the checkpoints that the chosen tests need, all made by one process."""
    folder = tmp_path_factory.mktemp("checkpoints")
    mine = (item for item in request.session.items if item.path == request.path)
    chosen = {str(item.callspec.params["name"]) for item in mine if isinstance(item, pytest.Function)}
    checkpoints(python, folder, sorted({VARIANTS[name].checkpoint for name in chosen}))
    return folder


@pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.full) for name in VARIANTS]
)
def test_a_launch_holds_what_its_source_says(
    name: str, python: Path, engine: Library, models: Path, tmp_path: Path
) -> None:
    variant = VARIANTS[name]
    seen = observed(python, models / variant.checkpoint, variant.arguments, tmp_path)
    told = {
        layer: asked(engine, variant, models / variant.checkpoint, this_cpu(), layer)
        for layer in ("linear", "attention")
    }
    assert differences(seen, told["linear"], told["attention"]) == []
    for line in seen["lines"]:
        assert any(kernel in line for kernel in kernels(seen)), line


def kernels(seen: dict[str, object]) -> set[str]:
    """Kernel classes that the engine held, if it came to hold any."""
    linear = seen.get("linear")
    held = {layer["kernel"] for layer in linear.values()} if isinstance(linear, dict) else set()
    return held - {None} or {""}
