"""The releases on which kernels were measured."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from measured import Release

from qtrace.tracer.library import Library
from qtrace.tracer.sources import open_source


@pytest.fixture(scope="session")
def release(vllm_sdist: Path) -> Release:
    """A release of vLLM by its version, from the folder that holds the other sdist."""

    @cache
    def find(version: str) -> Library:
        path = vllm_sdist.parent / f"vllm-{version}.tar.gz"
        if not path.exists():
            pytest.fail(f"no source at {path}: run `.ci/sdist vllm {version}`", pytrace=False)
        return Library(open_source(path))

    return find
