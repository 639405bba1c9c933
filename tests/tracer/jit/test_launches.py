"""Who launches a kernel, across files, and what stays open."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from qtrace.tracer.jit.facts import Action, Dialect, Idiom, Role
from qtrace.tracer.jit.index import JitIndex
from qtrace.tracer.sources import Source

Engine = Callable[..., Source]
HEAD = """from vllm.triton_utils import tl, triton

@triton.jit
def a(x):
    pass

@triton.jit
def b(x):
    pass

"""


def test_what_stands_at_a_launch(engine: Engine) -> None:
    index = JitIndex(engine(ops=f"{HEAD}class C:\n    def f(self, grid):\n        a[grid](1)\n"))
    (launch,) = index.launches
    assert (launch.kernel, launch.function) == ("vllm.ops.a", "vllm.ops.C.f")
    assert str(launch.site) == f"vllm/ops.py:{HEAD.count(chr(10)) + 3}"
    assert (launch.action, launch.via, launch.caller) == (Action.LAUNCH, (), None)
    assert index.launches_of("vllm.ops.a") == (launch,) and index.launches_of("vllm.ops.b") == ()


def test_a_caller_is_named(engine: Engine) -> None:
    source = engine(
        lib=f"{HEAD}def launch(k, x):\n    k[(1,)](x)\n",
        ops="from vllm.lib import a, launch  # triton\n\ndef f(x):\n    launch(a, x)  # kernel(\n",
        stranger="from vllm.lib import a  # triton\nfrom other import launch\n\n"
        "def g(x):\n    launch(a, x)  # kernel(\n    x.launch(a, x)\n",
        other="def launch(k, x):\n    pass\n\ndef g(b, x):\n    launch(b, x)  # triton kernel(\n",
    )
    (launch,) = JitIndex(source).launches
    assert (launch.function, launch.caller) == ("vllm.lib.launch", "vllm.ops.f")
    assert [str(site) for site in launch.via] == ["vllm/ops.py:4"]


def test_a_decorator_that_is_handed_a_kernel(engine: Engine) -> None:
    source = engine(
        lib="class Owner:\n    def __init__(self, kernel, dispatch):\n        self.kernel = kernel\n\n"
        "    def __call__(self, x):\n        self.kernel[(1,)](x)  # triton\n\n"
        "def dispatcher(*, kernel):\n    def decorate(dispatch):\n"
        "        return Owner(kernel, dispatch)\n    return decorate\n",
        ops=f"{HEAD}from vllm.lib import dispatcher\n\n@dispatcher(kernel=b)\ndef f(x):\n    pass\n",
    )
    (launch,) = JitIndex(source).launches
    assert (launch.kernel, launch.function) == ("vllm.ops.b", "vllm.lib.Owner.__call__")
    assert (launch.caller, launch.idiom) == ("vllm.ops.f", Idiom.PARAMETER)


def test_a_base_class_that_launches_what_others_keep(engine: Engine) -> None:
    source = engine(
        lib="class Base:\n    def launch(self, grid):\n        self.kernel[grid](1)  # triton\n",
        ops=f"{HEAD}from vllm.lib import Base\n\nclass One(Base):\n    kernel = a\n"
        "class Two(One):\n    @staticmethod\n    @triton.jit\n    def kernel(x):\n        pass\n",
    )
    launches = JitIndex(source).launches
    assert {(each.kernel, each.caller, each.idiom) for each in launches} == {
        ("vllm.ops.a", "vllm.ops.One", Idiom.INHERITED),
        ("vllm.ops.Two.kernel", "vllm.ops.Two", Idiom.INHERITED),
    }


def test_a_kernel_that_is_imported_by_way_of_another_module(engine: Engine) -> None:
    files = {
        "sub/__init__.py": "from .lib import a as again\n",
        "sub/lib.py": HEAD,
        "ops.py": "import vllm.sub.lib as lib\nfrom vllm.sub import again  # triton\n\n"
        "def f(grid):\n    again[grid](1)\n    lib.b[grid](2)\n",
    }
    source = engine(**{f"{name}" if "/" in name else name[:-3]: text for name, text in files.items()})
    assert [each.kernel for each in JitIndex(source).launches] == ["vllm.sub.lib.a", "vllm.sub.lib.b"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("from triton_kernels import k\ndef f(grid):\n    k[grid]()\n", "not in the engine's source"),
        ("def f(k, grid):\n    k[grid]()\n", "no call of f was found that hands k over"),
        ("def f(grid):\n    missing[grid]()\n", "nothing in its file binds missing"),
        ("def g():\n    pass\ndef f(grid):\n    g[grid]()\n", "vllm.ops.g is no kernel"),
        ("def f(x, grid):\n    x.y.z[grid]()\n", "kept on an object"),
        ("k = k2\nk2 = k\ndef f(grid):\n    k[grid]()\n", "on and on"),
    ],
)
def test_what_cannot_be_told_is_open(engine: Engine, text: str, reason: str) -> None:
    index = JitIndex(engine(ops=HEAD + text))
    (found,) = index.open_launches
    assert reason in found.reason and not found.partly
    assert found.function == "vllm.ops.f" and index.launches == ()


def test_what_is_known_in_part(engine: Engine) -> None:
    text = "def f(x, grid):\n    k = x.pop('k') or a\n    k[grid]()\n"
    index = JitIndex(engine(ops=HEAD + text))
    assert [(each.kernel, each.idiom) for each in index.launches] == [("vllm.ops.a", Idiom.TERNARY)]
    assert [each.partly for each in index.open_launches] == [True]


CUTE = """import cutlass.cute as cute

class Base:
    @cute.jit
    def __call__(self, a):
        self.kernel(a).launch(grid=(1, 1, 1))

class Gemm(Base):
    @cute.kernel
    def kernel(self, a):
        pass

class User:
    def compile(self):
        gemm = Gemm()
        return cute.compile(gemm, 1)
"""


def test_cute_is_compiled_and_launched(engine: Engine) -> None:
    index = JitIndex(engine(ops=CUTE))
    assert [(each.kernel, each.action, each.function) for each in index.launches] == [
        ("vllm.ops.Gemm.kernel", Action.LAUNCH, "vllm.ops.Base.__call__"),
        ("vllm.ops.Gemm.kernel", Action.COMPILE, "vllm.ops.User.compile"),
    ]
    assert index.open_launches == ()


def test_a_warmup_runs_nothing(engine: Engine) -> None:
    index = JitIndex(engine(ops=f"{HEAD}def f(grid):\n    a.warmup(1, grid=grid)\n    x.warmup()\n"))
    assert [(each.kernel, each.action) for each in index.launches] == [("vllm.ops.a", Action.WARMUP)]


def test_every_plain_launch_of_a_release(index: JitIndex, vllm_source: Source) -> None:
    """Against the text: wherever a kernel's own name is subscripted and called, it is launched."""
    names = {kernel.name for kernel in index.kernels if kernel.dialect is Dialect.TRITON}
    names -= {"kernel"}
    known = {(each.site.path, each.site.line) for each in index.launches}
    pattern = re.compile(r"^ +(?:\w+ = )?(\w+)\[[^\]\n]*\]\($")
    seen = 0
    for path in vllm_source.files("vllm/", ".py"):
        for number, line in enumerate((vllm_source.text(path) or "").splitlines(), 1):
            found = pattern.match(line)
            if found and found[1] in names:
                seen += 1
                assert (path, number) in known, f"{path}:{number} {line.strip()}"
    assert seen > 500


def test_few_launches_of_a_release_are_open(index: JitIndex) -> None:
    wholly = [each for each in index.open_launches if not each.partly]
    assert len(wholly) * 50 < len(index.launches), [str(each.site) for each in wholly]
    unlaunched = [kernel for kernel in index.kernels if kernel.role is Role.UNLAUNCHED]
    assert len(unlaunched) < 5, list(map(str, unlaunched))
