"""For which architectures a file is compiled: against wheels that were built, and of each way to say it."""

from __future__ import annotations

import gzip
import time
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest
from packaging.version import Version

from qtrace.report.chain import HopKind
from qtrace.report.predicate import Site
from qtrace.tracer.native.build import Build
from qtrace.tracer.native.gencode import Gencode, compiled_for
from qtrace.tracer.native.gencode_scope import Scope
from qtrace.tracer.native.gencode_text import UnreadableError, Word, tree
from qtrace.tracer.snapshot.bundled import bundled
from qtrace.tracer.snapshot.file import Snapshot
from qtrace.tracer.sources import Held, Source, open_source

SDISTS = Path(__file__).parents[3] / ".cache"
COMPILED = Path(__file__).parents[2] / "data" / "native" / "compiled.tsv.gz"
WHEEL = ("7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0")
"""What the wheels of both releases are built for."""
ALL = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_110", "sm_120")
CUDA = 13000

# Kernels whose instances stand in files that the build generates, by the pattern of their names.
GENERATED = {
    "marlin::Marlin": "*/quantization/marlin/sm*_kernel_*.cu",
    "marlin_moe_wna16::Marlin": "*/moe/marlin_moe_wna16/sm*_kernel_*.cu",
}


@cache
def release(version: str) -> Source:
    return open_source(SDISTS / f"vllm-{version}.tar.gz")


OLDER = ("0.20.0", "0.26.0")


def older_in_full(*cases: tuple[object, ...]) -> list[object]:
    """Cases of releases, those marked that need a source beside the one that all tests read."""
    return [pytest.param(*case, marks=pytest.mark.full) if case[0] in OLDER else case for case in cases]


@pytest.fixture(scope="module")
def utils(vllm_source: Source) -> str:
    return vllm_source.text("cmake/utils.cmake") or ""


@pytest.mark.parametrize(("version", "agreeing"), older_in_full(("0.26.0", 129), ("0.33.0", 169)))
def test_the_wheels_hold_the_code_that_the_build_is_said_to_make(version: str, agreeing: int) -> None:
    source = release(version)
    said = compiled_for(source, CUDA, WHEEL)
    held = in_the_wheel(version)
    same, other = set(), {}
    for kernel, files in launching(version).items():
        if files <= said.keys():
            codes = {code for path in files for code in said[path].architectures}
            if codes == held[kernel]:
                same.add(kernel)
            else:
                other[kernel] = codes
    assert len(same) == agreeing
    assert other.keys() == GENERATED.keys()
    for kernel, codes in other.items():
        made = {path: g for path, g in said.items() if fnmatchcase(path, GENERATED[kernel])}
        assert codes < held[kernel] == {code for g in made.values() for code in g.architectures}


def in_the_wheel(version: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in gzip.decompress(COMPILED.read_bytes()).decode().splitlines()[1:]:
        engine, _, kernel, codes = row.split("\t")
        if engine == version:
            found.setdefault(kernel, set()).update(codes.split())
    return found


def launching(version: str) -> dict[str, set[str]]:
    """The kernels that are launched in the tree, with the files that launch each, as snapshots have it."""
    found: dict[str, set[str]] = {}
    snapshot = Snapshot(bundled("vllm")[Version(version)])
    tell = snapshot.operators(Build("cuda", CUDA))
    assert tell is not None
    for operator in filter(None, map(tell, dict(snapshot.header.native)[Build("cuda", CUDA)].keys)):
        for hop in operator.hops:
            if hop.kind is HopKind.GLOBAL_KERNEL and hop.site:
                found.setdefault(hop.symbol, set()).add(hop.site.path)
    return found


@pytest.mark.parametrize(
    ("version", "path", "line", "codes"),
    older_in_full(
        ("0.20.0", "csrc/cache_kernels.cu", 353, ALL),
        ("0.20.0", "csrc/dsv3_fused_a_gemm.cu", 557, ("sm_90a", "sm_100f", "sm_110f")),
        ("0.33.0", "csrc/cooperative_topk.cu", 645, ("sm_90a", "sm_100f", "sm_110f", "sm_120f")),
        ("0.33.0", "csrc/nvfp4_kv_cache_kernels.cu", 1080, ("sm_100f", "sm_110f", "sm_120f")),
        (
            "0.33.0",
            "csrc/fused_minimax_m3_qknorm_rope_kv_insert_kernel.cu",
            637,
            (*ALL[:6], "sm_100f", "sm_110f", "sm_120"),
        ),
        (
            "0.33.0",
            "csrc/quantization/w8a8/cutlass/scaled_mm_c2x.cu",
            935,
            ("sm_75", "sm_80", "sm_87", "sm_89", "compute_89"),
        ),
        (
            "0.33.0",
            "csrc/quantization/marlin/sm80_kernel_*_float16.cu",
            725,
            ("sm_80", "sm_120f", "compute_80"),
        ),
    ),
)
def test_a_build_for_all_that_a_release_supports(
    version: str, path: str, line: int, codes: tuple[str, ...]
) -> None:
    said = compiled_for(release(version), CUDA)
    assert said[path] == Gencode(codes, Site("CMakeLists.txt", line))


@pytest.mark.parametrize(("version", "count"), older_in_full(("0.20.0", 90), ("0.26.0", 90), ("0.33.0", 99)))
def test_every_cuda_file_of_a_release_is_told(version: str, count: int) -> None:
    said = compiled_for(release(version), CUDA)
    assert len(said) == count
    # 0.20.0's build names no architecture for this one, after it took the common ones away.
    told = {path for path in said if path.endswith("machete_pytorch.cu")}
    assert bool(told) is (version != "0.20.0")


def test_another_toolkit_builds_for_others(vllm_source: Source) -> None:
    older, newest = compiled_for(vllm_source, 12080), compiled_for(vllm_source)
    assert older["csrc/beam/allreduce_norm.cu"].architectures == ("sm_90a", "sm_100a", "sm_103a")
    assert "csrc/kimi_k3/attn_res_kernel.cu" not in older
    assert "sm_107" in newest["csrc/cache_kernels.cu"].architectures
    assert "sm_107f" in newest["csrc/cooperative_topk.cu"].architectures


Told = dict[str, tuple[str, ...]]


def say(text: str, more: Mapping[str, str] | None = None) -> Told:
    """What a build's text says, with other files by their paths."""
    files = {"CMakeLists.txt": text, "csrc/there/a.cu": "", "csrc/there/b.h": "", **(more or {})}
    source = Source("vllm", Held({path: body.encode() for path, body in files.items()}))
    return {path: told.architectures for path, told in compiled_for(source, CUDA).items()}


def asks(path: str, *codes: str) -> str:
    flags = " ".join(f"-gencode arch=compute_80,code={code}" for code in codes)
    return f'set_property(SOURCE {path} APPEND PROPERTY COMPILE_OPTIONS "{flags}")\n'


TARGET = "define_extension_target(_C SOURCES a.cu b.cu ${MORE} LANGUAGE CUDA)\n"
BOTH = asks("a.cu", "sm_80") + asks("b.cu", "sm_90a", "compute_90a")


@pytest.mark.parametrize(
    ("source", "target", "left"),
    [
        ("7.5;8.0;8.6;9.0;9.0a", "8.0;8.9;9.0", "9.0a;8.0;8.6"),
        ("8.0+PTX", "9.0", "8.0+PTX"),
        ("8.0", "9.0", ""),
        ("9.0a;10.0f;12.0f", "8.0;9.0;10.3;12.0", "9.0a;12.0f;10.3"),
        ("8.0+PTX;12.0f", "7.5;8.0;8.9;10.0;12.0", "12.0f;8.0+PTX"),
        ("10.0f;10.7f", "10.7", "10.7f"),
    ],
)
def test_the_loose_intersection_is_what_the_release_makes_of_it(
    utils: str, source: str, target: str, left: str
) -> None:
    text = (
        "include(${CMAKE_CURRENT_LIST_DIR}/cmake/utils.cmake)\n"
        f'cuda_archs_loose_intersection(OUT "{source}" "{target}")\n'
        f'if("${{OUT}}" STREQUAL "{left}")\n{asks("a.cu", "sm_80")}endif()\n{TARGET}'
    )
    assert say(text, {"cmake/utils.cmake": utils}) == {"a.cu": ("sm_80",)}


@pytest.mark.parametrize(
    ("floor", "codes"), [("8.0", ("sm_75", "sm_80", "compute_80")), ("9.0", ("sm_75", "sm_80"))]
)
def test_ptx_is_built_where_an_architecture_is_new_enough(
    utils: str, floor: str, codes: tuple[str, ...]
) -> None:
    text = (
        "include(cmake/utils.cmake)\n"
        f'set_gencode_flags_for_srcs(SRCS "a.cu;b.cu" CUDA_ARCHS "8.0;7.5" BUILD_PTX_FOR_ARCH {floor})\n'
        f"{TARGET}"
    )
    assert say(text, {"cmake/utils.cmake": utils}) == {"a.cu": codes, "b.cu": codes}


A: Told = {"a.cu": ("sm_80",)}
B: Told = {"b.cu": ("sm_90a", "compute_90a")}
AS_90 = asks("a.cu", "sm_90")
CONSTRUCTS: dict[str, tuple[str, Told]] = {
    "nothing is asked": ("", {}),
    "each file": (BOTH, A | B),
    "a list of codes": (asks("a.cu", "[sm_80,compute_80]"), {"a.cu": ("sm_80", "compute_80")}),
    "no codes": (asks("a.cu", "sm_80sm_90") + asks("b.cu", "[sm_80,sm_x]"), {}),
    "twice": (asks("a.cu", "sm_90") + asks("a.cu", "sm_80"), {"a.cu": ("sm_80", "sm_90")}),
    "a list": (
        "set(S a.cu)\nlist(APPEND S b.cu c.cu)\nlist(REMOVE_ITEM S a.cu)\n" + asks("${S}", "sm_80"),
        {"b.cu": ("sm_80",)},
    ),
    "a loop": (
        "foreach(V 8.0 9.0 10.0)\nif(V VERSION_LESS 9.0 OR V VERSION_GREATER_EQUAL 10.0)\n"
        'string(REPLACE "." "" N "${V}")\n' + asks("a.cu", "sm_${N}") + "endif()\nendforeach()\n",
        {"a.cu": ("sm_80", "sm_100")},
    ),
    "a loop that ends early": (
        "foreach(N IN ITEMS 80 90 100)\nif(N EQUAL 100)\nbreak()\nendif()\n"
        + asks("a.cu", "sm_${N}")
        + "endforeach()\n",
        {"a.cu": ("sm_80", "sm_90")},
    ),
    "a function": (
        "function(to OUT)\nset(X 1)\nset(${OUT} ${ARGN} PARENT_SCOPE)\nendfunction()\nto(N 80 x)\n"
        "list(GET N 0 N)\nif(NOT X)\n" + asks("a.cu", "sm_${N}") + "endif()\n",
        A,
    ),
    "a macro": (
        'macro(to)\ncmake_parse_arguments(arg "" "PTX" "SRCS" ${ARGN})\n'
        + asks("${arg_SRCS}", "compute_${arg_PTX}")
        + "endmacro()\nto(SRCS a.cu b.cu PTX 90)\n",
        {"a.cu": ("compute_90",), "b.cu": ("compute_90",)},
    ),
    "files that are there, and others": (
        "file(GLOB G csrc/there/*.cu)\n" + asks("${G}", "sm_80") + "set(MORE ${G})\n",
        {"csrc/there/*.cu": ("sm_80",), "csrc/there/a.cu": ("sm_80",)},
    ),
    "a condition that holds": (
        f"set(NONE)\nif(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)\n{AS_90}"
        f"elseif(CUDA_FOUND AND NOT (HIP_FOUND OR USER_SAYS IN_LIST NONE))\n{BOTH}else()\n{AS_90}endif()\n",
        A | B,
    ),
    "a variable that is never set": (f"{BOTH}if(N)\n{AS_90}set(N x)\nendif()\n", A | B),
    "a condition that nobody knows": (f"{BOTH}if(USER_SAYS)\n{AS_90}endif()\n", B),
    "either way the same": (f"if(USER_SAYS)\n{BOTH}else()\n{BOTH}endif()\n", A | B),
    "a build that stops is none": (
        f"if(NOT USER_SAYS)\nmessage(FATAL_ERROR no)\nelse()\n{BOTH}endif()\n",
        A | B,
    ),
    "no build": (f"{BOTH}message(FATAL_ERROR no)\n", {}),
    "it may end before": (f"{BOTH}if(USER_SAYS)\nreturn()\nendif()\n", {}),
    "a function may end before": (
        f"function(f)\nif(USER_SAYS)\nreturn()\nendif()\n{AS_90}endfunction()\nf()\n{BOTH}",
        B,
    ),
    "a loop over what nobody knows": (f"{BOTH}foreach(N ${{USER_SAYS}})\n{AS_90}endforeach()\n", B),
    "a file that nobody knows": (f"{BOTH}{asks('${USER_SAYS}', 'sm_90')}", {}),
    "a folder that nobody knows": (BOTH + asks("${USER_SAYS}/b.cu", "sm_90") + "set(MORE x/b.cu)\n", A | B),
    "a folder that may be that one": (
        asks("a.cu x/b.cu", "sm_80") + asks("${USER_SAYS}/b.cu", "sm_90") + "set(MORE x/b.cu)\n",
        A,
    ),
    "a code that nobody knows": (BOTH + asks("a.cu", "sm_${USER_SAYS}"), B),
    "what others set": (
        "set(N 80)\nsomething(N)\n" + asks("a.cu", "sm_${N}") + asks("b.cu", "sm_90a"),
        {"b.cu": ("sm_90a",)},
    ),
    "other options": (f"{BOTH}set_source_files_properties(a.cu PROPERTIES COMPILE_FLAGS -fast)\n", A | B),
    "options anew": (f"{BOTH}set_source_files_properties(a.cu PROPERTIES COMPILE_OPTIONS -fast)\n", B),
    "a comment in brackets": (f"{asks('a.cu', 'sm_80')}#[[\n{AS_90}]]\n", A),
}


@pytest.mark.parametrize(("text", "told"), CONSTRUCTS.values(), ids=CONSTRUCTS.keys())
def test_what_a_build_says(text: str, told: Told) -> None:
    assert say(text + TARGET) == told


def test_only_the_kernels_own_extensions_are_told() -> None:
    assert say(BOTH + TARGET.replace("_C", "_rocm_C")) == {}
    assert say(BOTH + TARGET.replace("_C", "_moe_C_stable")).keys() == {"a.cu", "b.cu"}
    assert say(BOTH + TARGET.replace(" LANGUAGE", " ARCHITECTURES 80 LANGUAGE")) == {}


HOSTILE = {
    "no end of a block": "if(A)\n" * 30,
    "no beginning": "endif()\n",
    "an end of another": "foreach(A 1)\nendif()\n",
    "no end of a command": BOTH + "set(A (((\n",
    "no end of a string": BOTH + 'set(A "' + '\\"' * 400_000,
    "quotes": BOTH + '"x" ' * 250_000 + "\nset(A" + ' "x"y' * 150_000,
    "no end of a comment": BOTH + "#[[\n" * 250_000,
    "blocks in blocks": "if(A)\n" * 1000 + "endif()\n" * 1000,
    "itself": "function(f)\nf()\nendfunction()\nf()\n",
    "itself twice": "macro(f)\nif(A)\nf()\nf()\nendif()\nendmacro()\nf()\n",
    "doubling": "set(A xx)\n" + 'set(A "${A}${A}")\n' * 60,
    "loops in loops": "foreach(A IN LISTS B)\n" * 9 + "set(X 1)\n" + "endforeach()\n" * 9,
    "no end of a loop": "while(A)\nlist(APPEND B x)\nset(C ${B}${C}${D})\nset(D ${C})\nendwhile()\n",
    "a name that nobody knows": "set(${USER_SAYS} 80)\n",
    "references": "set(A " + "${" * 400_000 + ")\n",
    "conditions": "if(" + "(" * 300_000 + ")\nendif()\n",
    "many conditions": "if(A)\nset(B 1)\nendif()\n" * 40_000,
    "ways to leave": "if(A)\nreturn()\nendif()\n" * 40_000,
    "else": "if(A)\n" + "elseif(A)\n" * 80_000 + "endif()\n",
    "patterns of names": "".join(f'file(GLOB G "csrc/{"*" * 300}{n}")\n' for n in range(3000)),
    "names that are open": "".join(asks(f"${{USER_SAYS}}{n}", "sm_80") for n in range(9000))
    + f"set(MORE {' '.join(map(str, range(9000)))})\n",
    "a pattern": 'set(T "'
    + "a" * 190
    + '")\nif(T MATCHES "(a*)*b|(a+a+)+$")\n'
    + asks("a.cu", "sm_90")
    + "endif()\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_tells_nothing_and_ends(text: str) -> None:
    begun = time.monotonic()
    before = "set(B " + " ".join(map(str, range(30))) + ")\n" + asks("a.cu", "sm_80")
    said = say(before + text + TARGET)
    assert said in ({}, {"a.cu": ("sm_80",)})
    assert time.monotonic() - begun < 20


def test_a_file_that_includes_itself_tells_nothing() -> None:
    text = "include(cmake/a.cmake)\n"
    assert say(BOTH + text + TARGET, {"cmake/a.cmake": text}) == {}


def test_a_source_without_a_build_tells_nothing() -> None:
    assert compiled_for(Source("vllm", Held({"vllm/__init__.py": b""}))) == {}


def test_words_keep_their_quotes_and_lines() -> None:
    body = tree('set(A "x;y" z)# end\n\n  MESSAGE(\n  "a\nb" (c))\n')
    assert body == [
        ("set", (Word("A"), Word("x;y", quoted=True), Word("z")), 1),
        ("message", (Word("a\nb", quoted=True), Word("("), Word("c"), Word(")")), 3),
    ]
    with pytest.raises(UnreadableError):
        tree("else()\n")


def test_references_are_put_in_place_by_quotes() -> None:
    scope = Scope({"A": "x;y", "N": "A"})
    words = [
        Word("${A}"),
        Word("${A}", quoted=True),
        Word("${${N}}z"),
        Word("\\${A}"),
        Word("\\\\+", quoted=True),
    ]
    assert [word.text for word in scope.expanded(words)] == ["x", "y", "x;y", "x", "yz", "\0", "\\+"]
