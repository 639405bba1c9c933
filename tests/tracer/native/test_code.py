"""A library whose source is given: what its functions reach on a device, as it decides that itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from deepgemm import NEW, OLD, checkout
from msgspec import structs
from pinning import Heard
from releases import commit
from repositories import Repository

from qtrace.report.errors import SourceError, UsageError
from qtrace.report.fetched import Code, Fetched
from qtrace.report.model import HopKind, Operator
from qtrace.report.predicate import Site
from qtrace.tracer.native.build import Build
from qtrace.tracer.native.code import CodeOperators
from qtrace.tracer.native.defined import with_defined
from qtrace.tracer.native.device import on_device
from qtrace.tracer.pins.code import LibraryCode, library_code

TORCH = {"TORCH_VERSION_MAJOR": 2, "TORCH_VERSION_MINOR": 11}
TAKEN = Fetched(
    name="deepgemm",
    repository="https://github.com/deepseek-ai/DeepGEMM.git",
    revision=OLD,
    site=Site("cmake/external_projects/deepgemm.cmake", 32),
)


def opened(where: str, taken: Fetched = TAKEN) -> LibraryCode:
    return library_code(f"deepgemm={where}", (taken,), True, Heard())


def library_of(text: str, python: str) -> CodeOperators:
    """The operators of a library of one file and a package."""
    held = {"l/csrc/a.cpp": KERNELS + text, "l/l/__init__.py": python}
    code = LibraryCode(Code(name="l", where="l"), {name: text.encode() for name, text in held.items()})
    return CodeOperators(code, Build("cuda", 13000), {})


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CodeOperators]:
    folders = {commit: checkout(tmp_path_factory.mktemp("dg"), commit) for commit in (OLD, NEW)}
    build = Build("cuda", 13000)
    return {commit: CodeOperators(opened(str(folder)), build, TORCH) for commit, folder in folders.items()}


def asked(library: CodeOperators, name: str, capability: int | None) -> Operator:
    found = library.operator(f"vllm.third_party.deep_gemm.{name}")
    assert found is not None
    return on_device(found, capability)


def kernels(operator: Operator) -> set[str]:
    return {end.symbol.removeprefix("deep_gemm::") for end in operator.ends()}


KERNELS = """
__global__ void one(int* x) {}
__global__ void two(int* x) {}
int arch() { return device_prop.major; }
void hopper(T x) { if (arch() >= 9) { one<<<1, 1>>>(x); } else { throw Error("needs 9.0"); } }
void portable(T x) { two<<<1, 1>>>(x); }
"""
LAYOUT = {"transpose_fp32", "transpose_and_pack_fp32_into_ue8m0", "pack_fp32_into_ue8m0"}


@pytest.mark.parametrize(
    ("commit", "capability", "reached", "refuses"),
    [
        (OLD, 90, {"transpose_fp32", "sm90_fp8_gemm_1d1d_impl", "sm90_fp8_gemm_1d2d_impl"}, None),
        (OLD, 100, LAYOUT | {"sm100_fp8_fp4_gemm_1d1d_impl", "sm100_fp8_gemm_1d1d_impl"}, None),
        # Only the scales' layout is left, and not for the way in which vLLM calls it.
        (OLD, 120, {"transpose_fp32"}, "Assertion: Unsupported architecture or scaling factor types"),
        (NEW, 90, {"transpose_fp32", "sm90_fp8_gemm_1d1d_impl", "sm90_fp8_gemm_1d2d_impl"}, None),
        (NEW, 120, LAYOUT | {"sm120_fp8_fp4_gemm_1d1d_impl", "sm120_split_k_reduce_impl"}, None),
    ],
)
def test_a_gemm_reaches_the_kernels_of_its_device(
    libraries: dict[str, CodeOperators], commit: str, capability: int, reached: set[str], refuses: str | None
) -> None:
    operator = asked(libraries[commit], "fp8_gemm_nt", capability)
    assert kernels(operator) == reached
    assert [check.symbol for check in operator.barred] == ([refuses] if refuses else [])


@pytest.mark.parametrize("name", ["m_grouped_fp8_gemm_nt_contiguous", "fp8_m_grouped_gemm_nt_masked"])
def test_other_names_of_a_function_are_read(libraries: dict[str, CodeOperators], name: str) -> None:
    assert asked(libraries[OLD], name, 120).barred
    assert not asked(libraries[OLD], name, 100).barred
    assert not asked(libraries[NEW], name, 120).barred
    assert libraries[OLD].operator("deep_gemm.no_such_function") is None


def test_what_raises_whatever_it_is_given_on_a_device_is_all_that_is_left(
    libraries: dict[str, CodeOperators],
) -> None:
    operator = asked(libraries[OLD], "bf16_gemm_nt", 120)
    assert operator.refused()
    assert kernels(asked(libraries[OLD], "bf16_gemm_nt", 90)) == {"sm90_bf16_gemm_impl"}


def test_a_kernel_compiled_when_it_is_used_says_so(libraries: dict[str, CodeOperators]) -> None:
    operator = asked(libraries[OLD], "fp8_gemm_nt", 90)
    (hop,) = (hop for hop in operator.hops if hop.symbol == "deep_gemm::sm90_fp8_gemm_1d2d_impl")
    assert hop.kind is HopKind.GLOBAL_KERNEL
    assert hop.note == "compiled when it is first used"
    assert str(hop.defined) == "deepgemm/deep_gemm/include/deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh:48"


def test_macros_of_the_library_settle_what_is_compiled(libraries: dict[str, CodeOperators]) -> None:
    hops = asked(libraries[OLD], "fp8_gemm_nt", 90).hops
    assert not [hop for hop in hops if "#if" in str(hop.guard)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("#define A (V >= 3)\n", 1),
        ("#define B (V < 3)\n#define A (B or V == 4)\n", 1),
        ("#ifdef __HIP__\n#define A 2\n#else\n#define A 1\n#endif\n", 1),
        # Of two definitions it is open which one holds; what is asked of others is not known.
        ("#ifdef X\n#define A 2\n#else\n#define A 1\n#endif\n", None),
        ("#ifdef X\n#define A 1\n#endif\n", None),
        ("#define A (W > 1)\n", None),
        ("#define A(x) 1\n", None),
    ],
)
def test_macros_made_of_macros(text: str, value: int | None) -> None:
    known = with_defined({"a.h": text}, {"V": 4, "__HIP__": None})
    assert known.get("A") == value


@pytest.mark.parametrize(
    ("files", "value"),
    [
        ({"csrc/a.h": "#define A 1\n", "csrc/b.cpp": '#include "a.h"\n#if A\n#endif\n'}, 1),
        # Another file's macro, and one that a build may bring.
        ({"csrc/a.cpp": "#define A 1\n", "csrc/b.cpp": "#if A\n#endif\n"}, None),
        ({"csrc/a.h": "#ifndef A\n#define A 1\n#endif\n", "csrc/b.cpp": '#include "a.h"\n'}, None),
    ],
)
def test_macros_count_where_they_are_included(files: dict[str, str], value: int | None) -> None:
    assert with_defined(files, {}).get("A") == value


@pytest.mark.parametrize(
    ("text", "python", "reached"),
    [
        ('void f(py::module_& m) { m.def("gemm", &portable); }', "", {"two"}),
        ('void f(pybind11::module_& m) { m.def("a", portable); m.attr("gemm") = m.attr("a"); }', "", {"two"}),
        ('PYBIND11_MODULE(l, m) { m.def("a", &portable); }', "from ._C import a\ngemm = a\n", {"two"}),
        (
            'PYBIND11_MODULE(l, m) { m.def("a", &portable); }',
            "try:\n  gemm = a\nexcept X:\n  pass\n",
            {"two"},
        ),
        # What may be more than one function is none that is known.
        ('PYBIND11_MODULE(l, m) { m.def("gemm", &portable); m.def("gemm", &hopper); }', "", None),
        (
            'PYBIND11_MODULE(l, m) {\n#ifdef X\nm.def("gemm", &hopper);\n#else\nm.def("gemm", &portable);\n'
            "#endif\n}",
            "",
            None,
        ),
        ('PYBIND11_MODULE(l, m) { m.def("a", &hopper); }', "if cap < 9:\n  gemm = a\n", None),
        ('PYBIND11_MODULE(l, m) { m.def("gemm", &hopper); }', "def gemm(x):\n  return _C.gemm(x)\n", None),
        ('PYBIND11_MODULE(l, m) { m.def("gemm", &portable); }', "def f():\n  gemm = hopper\n", {"two"}),
        # Those of a submodule and a class have other names.
        (
            'PYBIND11_MODULE(l, m) { m.def("gemm", &portable); auto sub = m.def_submodule("s"); '
            'sub.def("gemm", &hopper); py::class_<R>(m, "R").def("gemm", &hopper); }',
            "",
            {"two"},
        ),
    ],
)
def test_how_python_calls_a_function(text: str, python: str, reached: set[str] | None) -> None:
    found = library_of(text, python).operator("l.gemm")
    assert (None if found is None else {end.symbol for end in found.ends()}) == reached


def test_a_folder_s_files_need_not_be_those_of_its_commit(tmp_path: Path) -> None:
    folder = checkout(tmp_path / "DeepGEMM", OLD)
    code = opened(str(folder)).code
    assert code.is_taken() is None
    assert str(code) == f"deepgemm from DeepGEMM, checked out at {OLD[:12]}"
    (folder / ".git" / "HEAD").unlink()
    assert str(opened(str(folder)).code) == "deepgemm from DeepGEMM"
    assert code.compared().endswith(f"takes github.com/deepseek-ai/DeepGEMM at {OLD[:12]}")


def test_a_revision_is_that_of_the_release_or_another(tmp_path: Path) -> None:
    repo = Repository(tmp_path / "lib", [])
    (tmp_path / "lib").mkdir()
    repo.git("init", "--quiet", "--initial-branch=main")
    commit(repo, {"csrc/a.cpp": b"void f() {}\n", "third-party/b.cpp": b"void g() {}\n"}, True)
    head = repo.commits[-1]
    taken = structs.replace(TAKEN, revision=head)
    same, other = opened(f"{tmp_path / 'lib'}@main", taken), opened(f"{tmp_path / 'lib'}@{head[:9]}")
    assert same.files() == (f"deepgemm@{head[:12]}/csrc/a.cpp",)
    assert same.code.is_taken() and same.code.compared().endswith("that the release's build takes")
    assert other.code.commit == head and other.code.is_taken() is False


def test_submodules_tests_and_links_out_of_it_are_not_read(tmp_path: Path) -> None:
    root = tmp_path / "lib"
    for name in ("csrc", "third-party/x", "tests", "sub"):
        (root / name).mkdir(parents=True)
        (root / name / "a.cu").write_text("int a;")
    (root / "sub" / ".git").write_text("gitdir: elsewhere\n")
    (tmp_path / "out.cu").write_text("int b;")
    (root / "csrc" / "b.cu").symlink_to(tmp_path / "out.cu")
    assert opened(str(root)).files() == ("deepgemm/csrc/a.cu",)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("flash=/x", UsageError, "--library flash=/x: the release's build takes deepgemm"),
        ("deepgemm=", UsageError, "--library deepgemm= is empty: give a directory"),
        ("deepgemm=git+ftp://h/x@1", UsageError, "--library deepgemm git+ftp://h/x@1: git is used over"),
        ("deepgemm=/no/such/folder", SourceError, "/no/such/folder: is no directory; name a checkout"),
        ("deepgemm", SourceError, "--offline forbids asking for it"),
    ],
)
def test_what_can_not_be_read_is_one_line(text: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        library_code(text, (TAKEN,), True, Heard())
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_native_code_and_a_build_of_two_revisions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no C"):
        opened(str(tmp_path))
    other = Fetched(name="deepgemm", repository=TAKEN.repository, revision=NEW, site=TAKEN.site)
    with pytest.raises(UsageError, match="write deepgemm=git"):
        library_code("deepgemm", (TAKEN, other), True, Heard())
