"""What a build takes from elsewhere is read from its CMake text, with the line that names the revision."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from qtrace.report.fetched import Fetched
from qtrace.report.predicate import Site
from qtrace.tracer.native.fetched import fetched
from qtrace.tracer.sources import Held, Source, open_source
from qtrace.tracer.terminals import library


def told(text: str) -> list[tuple[str, str, int]]:
    """Name, repository and revision, and the line, of what a text fetches."""
    source = Source("pkg", Held({"CMakeLists.txt": dedent(text).encode()}))
    return [(one.name, str(one), one.site.line) for one in fetched(source)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "FetchContent_Declare(\n  a\n  GIT_REPOSITORY https://host/x/a.git\n  GIT_TAG v1 # no\n"
            "  GIT_SHALLOW TRUE)\n",
            [("a", "host/x/a at v1", 1)],
        ),
        (
            f'set(TAG "{"0123456789" * 4}")\nif(X)\n  fetchcontent_populate(a GIT_REPOSITORY https://h/a\n'
            "    GIT_TAG ${TAG})\nendif()\n",
            [("a", "h/a at 012345678901", 1)],
        ),
        # Two revisions, by a condition: which of them is open.
        (
            "if(X)\n  set(TAG v1)\nelse()\n  set(TAG v2)\nendif()\n"
            "FetchContent_Declare(a GIT_REPOSITORY https://h/a GIT_TAG ${TAG})\n",
            [],
        ),
        (
            'set(TAG v1 CACHE STRING "which")\n'
            "FetchContent_Declare(a GIT_REPOSITORY https://h/a GIT_TAG ${TAG})\n",
            [],
        ),
        ("FetchContent_Declare(a GIT_REPOSITORY https://h/a GIT_TAG v${MAJOR})\n", []),
        ("set(TAG $ENV{TAG})\nFetchContent_Declare(a GIT_REPOSITORY https://h/a GIT_TAG ${TAG})\n", []),
        ("FetchContent_Declare(a GIT_REPOSITORY https://h/a GIT_TAG ${NOBODY})\n", []),
        ("FetchContent_Declare(a SOURCE_DIR ${HERE})\n# FetchContent_Declare(b GIT_TAG v1)\n", []),
        ("FetchContent_Declare(a GIT_REPOSITORY https://h/a GIT_TAG v1\n", []),
    ],
)
def test_one_revision_of_one_repository(text: str, expected: list[tuple[str, str, int]]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("version", "repository", "revision", "line"),
    [
        ("0.24.0", "deepseek-ai/DeepGEMM", "891d57b4db1071624b5c8fa0d1e51cb317fa709f", 32),
        ("0.33.0", "vllm-project/DeepGEMM", "0820030756945b2daec208e8e8255268360f337d", 40),
    ],
)
def test_the_library_of_a_release(
    vllm_sdist: Path, version: str, repository: str, revision: str, line: int
) -> None:
    found = fetched(open_source(vllm_sdist.with_name(f"vllm-{version}.tar.gz")))
    site = Site("cmake/external_projects/deepgemm.cmake", line)
    address = f"https://github.com/{repository}.git"
    assert Fetched(name="deepgemm", repository=address, revision=revision, site=site) in found
    operator = library("deep_gemm.fp8_gemm_nt", found)
    assert operator is not None
    (hop,) = operator.hops
    assert hop.site == site
    taken = f"takes its code from github.com/{repository} at {revision[:12]} (--library deepgemm reads it)"
    assert (hop.note or "").endswith(taken)


def test_a_library_of_two_revisions_names_both_and_no_place() -> None:
    fetches = [f"FetchContent_Declare(deepgemm GIT_REPOSITORY https://h/a GIT_TAG v{n})\n" for n in (1, 2)]
    text = f"if(X)\n{fetches[0]}else()\n{fetches[1]}endif()\n"
    found = fetched(Source("pkg", Held({"CMakeLists.txt": text.encode()})))
    operator = library("deep_gemm.fp8_gemm_nt", found)
    assert operator is not None
    (hop,) = operator.hops
    assert hop.site is None
    assert (hop.note or "").endswith("h/a at v1 or h/a at v2")


def test_a_library_that_the_build_does_not_fetch_has_no_place(vllm_source: Source) -> None:
    operator = library("flashinfer.decode.trtllm_batch", fetched(vllm_source))
    assert operator is not None
    assert [hop.site for hop in operator.hops] == [None]
