"""Small engines of a few modules, and the index of a real one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from qtrace.tracer.jit.index import JitIndex
from qtrace.tracer.jit.tuned import TunedFiles
from qtrace.tracer.sources import Held, Source

Engine = Callable[..., Source]


@pytest.fixture(scope="session")
def engine() -> Engine:
    """Gives an engine with these files below its package."""

    def make(**files: str | bytes) -> Source:
        content: dict[str, bytes] = {"vllm/__init__.py": b""}
        for name, text in files.items():
            path = name if "/" in name or name.endswith(".json") else f"{name.replace('__', '/')}.py"
            content[f"vllm/{path}"] = text.encode() if isinstance(text, str) else text
        return Source("vllm", Held(content))

    return make


@pytest.fixture(scope="session")
def index(vllm_source: Source) -> JitIndex:
    """The kernels of vLLM 0.33.0."""
    return JitIndex(vllm_source)


@pytest.fixture(scope="session")
def tuned(vllm_source: Source) -> TunedFiles:
    """The tuned configurations of vLLM 0.33.0."""
    return TunedFiles(vllm_source)
