"""What many tests need: the real source of an engine, opened once."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from edited import library_of

from qtrace.tracer.library import Library
from qtrace.tracer.sources import Source, open_source

SDIST = Path(__file__).parent.parent / ".cache" / "vllm-0.33.0.tar.gz"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="draw the pictures of screens anew")


def pytest_collection_finish() -> None:
    """What was imported stays: looking through it for garbage again and again took a fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing is read from the user's cache folder, and nothing written to it."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QTRACE_CACHE", str(folder))
        yield
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def vllm_sdist() -> Path:
    """The sdist of vLLM 0.33.0: where QTRACE_VLLM_SDIST says, else where `.ci/sdist` puts it."""
    path = Path(os.environ.get("QTRACE_VLLM_SDIST", SDIST))
    if not path.exists():
        pytest.fail(
            f"no vLLM source at {path}: run `.ci/sdist vllm 0.33.0`, or set QTRACE_VLLM_SDIST", pytrace=False
        )
    return path


@pytest.fixture(scope="session")
def vllm_source(vllm_sdist: Path) -> Source:
    return open_source(vllm_sdist)


@pytest.fixture(scope="session")
def library(vllm_source: Source) -> Library:
    """vLLM 0.33.0, lowered as tests ask for it; holds no evaluated value, so tests may share it."""
    return library_of(vllm_source)
