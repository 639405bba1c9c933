"""Which functions are kernels: by their decorators, and by who calls them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from qtrace.report.predicate import Site
from qtrace.tracer.jit.facts import Autotune, Dialect, Kernel, Role
from qtrace.tracer.jit.index import JitIndex
from qtrace.tracer.sources import Source

Engine = Callable[..., Source]
HEAD = "from vllm.triton_utils import tl, triton\n"


def only(source: Source, name: str = "k") -> Kernel:
    (found,) = [kernel for kernel in JitIndex(source).kernels if kernel.name == name]
    return found


@pytest.mark.parametrize(
    ("head", "decorator"),
    [
        ("import triton\n", "@triton.jit"),
        ("from vllm.triton_utils import triton\n", "@triton.jit(do_not_specialize=['n'])"),
        ("from triton import jit\n", "@jit"),
        ("from triton import jit as compiled\n", "@compiled"),
        ("import triton\ntriton_jit = triton.jit\n", "@triton_jit"),
        ("import functools, triton\nj = functools.partial(triton.jit, debug=True)\n", "@j"),
        ("import triton\n", "@torch.compiler.disable\n@triton.jit(\n    do_not_specialize=['n'],\n)"),
    ],
)
def test_a_decorator_makes_a_triton_kernel(engine: Engine, head: str, decorator: str) -> None:
    found = only(engine(ops=f"{head}\n{decorator}\ndef k(x):\n    pass\n"))
    assert (found.dialect, found.printed, found.prefix) == (Dialect.TRITON, "k", False)


@pytest.mark.parametrize(
    ("head", "decorator"),
    [
        ("from numba import jit  # triton\n", "@jit"),
        ("import torch  # triton\n", "@torch.jit.script"),
        ("import triton\n", "@triton.heuristics({})"),
    ],
)
def test_another_decorator_makes_none(engine: Engine, head: str, decorator: str) -> None:
    assert JitIndex(engine(ops=f"{head}\n{decorator}\ndef k(x):\n    pass\n")).kernels == ()


@pytest.mark.parametrize(
    ("body", "is_kernel"),
    [("    return triton.jit(function)\n", True), ("    return function\n", False)],
)
def test_an_own_decorator_counts_where_it_applies_triton_s(
    engine: Engine, body: str, is_kernel: bool
) -> None:
    source = engine(
        wraps=f"import triton\n\ndef own_jit(function):\n{body}",
        ops="from vllm.wraps import own_jit  # triton\n\n@own_jit\ndef k(x):\n    pass\n",
    )
    assert [kernel.name for kernel in JitIndex(source).kernels] == ["k"] * is_kernel


def test_what_the_decorators_say(engine: Engine) -> None:
    text = f"""{HEAD}
CONFIGS = [triton.Config({{"B": b}}, num_warps=w) for b in (16, 32, 64) for w in [4, 8]]

@triton.autotune(configs=[*CONFIGS, triton.Config({{}})], key=["N", "K"])
@triton.heuristics({{"EVEN": lambda args: True}})
@triton.jit
def k(x):
    pass
"""
    found = only(engine(ops=text))
    assert found.autotune == Autotune(configs=7, keys=("N", "K"))
    assert found.heuristics == ("EVEN",)
    assert found.decorators == ("triton.autotune", "triton.heuristics", "triton.jit")
    assert (found.symbol, found.site) == ("vllm.ops.k", Site("vllm/ops.py", 8))


@pytest.mark.parametrize(
    "configs", ["make()", "[c for c in (1, 2) if ok(c)]", "[*make(), 1]", "UNKNOWN", "CONFIGS"]
)
def test_configurations_that_are_not_written_down_are_not_counted(engine: Engine, configs: str) -> None:
    head = f"{HEAD}CONFIGS = [1]\nCONFIGS = [1, 2]\n"
    text = f"{head}@triton.autotune(configs={configs}, key=KEYS)\n@triton.jit\ndef k():\n    pass\n"
    assert only(engine(ops=text)).autotune == Autotune(configs=None, keys=None)


ROLES = f"""{HEAD}
@triton.jit
def helper(x):
    return x

@triton.jit
def combine(a, b):
    return a + b

@triton.jit
def both(x):
    return x

@triton.jit
def dead(x):
    # helper of nothing
    return x

@triton.jit
def k(x):
    tl.reduce(helper(x), 0, combine)
    both(x)

def run(x, grid):
    k[grid](x)
    both[grid](x)
"""


def test_a_helper_is_no_kernel(engine: Engine) -> None:
    roles = {kernel.name: kernel.role for kernel in JitIndex(engine(ops=ROLES)).kernels}
    assert roles == {
        "helper": Role.HELPER,
        "combine": Role.HELPER,
        "both": Role.KERNEL,
        "dead": Role.UNLAUNCHED,
        "k": Role.KERNEL,
    }


def test_a_helper_of_another_module(engine: Engine) -> None:
    source = engine(
        lib=f"{HEAD}@triton.jit\ndef helper(x):\n    return x\n",
        ops=f"{HEAD}from .lib import helper as h\n@triton.jit\ndef k(x):\n    h(x)\n",
    )
    assert only(source, "helper").role is Role.HELPER


CUTE = """import cutlass.cute as cute

class Gemm:
    @cute.jit
    def __call__(self, a):
        self.kernel(a).launch(grid=(1, 1, 1))

    @cute.kernel
    def kernel(self, a):
        part(a)

@cute.jit
def part(a):
    return a

@cute.kernel
def alone(a):
    pass
"""


def test_cute_kernels_and_what_is_around_them(engine: Engine) -> None:
    found = {kernel.qualname: kernel for kernel in JitIndex(engine(a__b_c=CUTE)).kernels}
    assert {name: kernel.role for name, kernel in found.items()} == {
        "Gemm.__call__": Role.HOST,
        "Gemm.kernel": Role.KERNEL,
        "part": Role.HELPER,
        "alone": Role.UNLAUNCHED,
    }
    assert found["Gemm.kernel"].printed == "kernel_cutlass_kernel_vllmab_cGemm_object_at_"
    assert found["alone"].printed == "kernel_cutlass_alone_"
    assert found["part"].printed is None and found["part"].unread


def test_the_kernels_of_a_release(index: JitIndex, vllm_source: Source) -> None:
    """Against the decorators in the text: every line that has one is over a function that was found."""
    lines: Counter[str] = Counter()
    for path in vllm_source.files("vllm/", ".py"):
        for line in (vllm_source.text(path) or "").splitlines():
            name = line.strip().partition("(")[0]
            if name in ("@triton.jit", "@gluon.jit", "@cute.kernel", "@cute.experimental.kernel"):
                lines[name.removeprefix("@").replace(".experimental", "")] += 1
    found = Counter(
        decorator.replace(".experimental", "") for kernel in index.kernels for decorator in kernel.decorators
    )
    assert {name: found[name] for name in lines} == dict(lines)
    assert lines["triton.jit"] > 800
    assert index.unread == ()


def test_a_real_kernel(index: JitIndex) -> None:
    (found,) = [kernel for kernel in index.kernels if kernel.name == "_w8a8_triton_block_scaled_mm"]
    assert found.module == "vllm.model_executor.layers.quantization.utils.fp8_utils"
    assert found.role is Role.KERNEL
    launches = index.launches_of(found)
    assert [launch.function.rpartition(".")[2] for launch in launches] == ["w8a8_triton_block_scaled_mm"]
