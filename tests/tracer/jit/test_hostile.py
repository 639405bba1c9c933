"""Sources that nobody would write: what cannot be read is named, and nothing is raised."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from qtrace.tracer.jit.index import JitIndex
from qtrace.tracer.jit.reading import MAX_BYTES
from qtrace.tracer.jit.tuned import TunedFiles
from qtrace.tracer.sources import Source

Engine = Callable[..., Source]
GOOD = "import triton\n\n@triton.jit\ndef k(x):\n    pass\n\ndef f(grid):\n    k[grid](1)\n"
MARK = "import triton  # @triton.jit\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{MARK}def (:\n",
        f"{MARK}x = '\0'\n",
        f"{MARK}x = {'(' * 2000}{')' * 2000}\n",
        f"{MARK}x = {'-' * 100_000}1\n",
        f"{MARK}{'#' * (MAX_BYTES + 1)}\n",
        f"{MARK}k[grid](1\n",
        f"{MARK}x = [0][grid](y{'.a' * 5000})\n(x{'.a' * 5000})[grid](1)\n",
    ],
    ids=["syntax", "null", "brackets", "minus", "huge", "unclosed", "chain"],
)
def test_a_file_that_cannot_be_read_is_named(engine: Engine, text: str) -> None:
    index = JitIndex(engine(bad=text, good=GOOD))
    assert [kernel.symbol for kernel in index.kernels] == ["vllm.good.k"]
    assert [each.kernel for each in index.launches] == ["vllm.good.k"]
    assert [each.path for each in index.unread] == ["vllm/bad.py"] and index.unread[0].reason


@pytest.mark.parametrize(
    "text",
    [
        "from vllm.bad import k\ndef f(grid):\n    k[grid]()\n",
        "class A(B):\n    def f(self, grid):\n        self.k[grid]()\nclass B(A):\n    pass\n",
        "def f(k, grid):\n    k[grid]()\n    f(k, grid)\n",
        "def f():\n    return f()\nf()[grid]()\n",
        "k = k if k else k\nk[grid]()\n",
        "k = k[0]\nk[0][grid]()\n",
        "K = {**K, 1: K[1]}\nK[1][grid]()\n",
        "import vllm.bad as k\nk.k.k[grid]()\n",
        "def f(*, k):\n    (a := k)[grid]()\nf(**f)\n",
        "from . import *\nfrom ..... import k\nk[grid]()\n",
        "@triton.jit(repr=lambda *a: a)\n@(lambda f: f)\nasync def f(): pass\n",
        "@triton.autotune\n@triton.autotune()\n@triton.jit\nclass C: pass\n",
    ],
)
def test_what_leads_round_in_circles(engine: Engine, text: str) -> None:
    index = JitIndex(engine(bad=f"import triton  # jit\n{text}", good=GOOD))
    assert "vllm.good.k" in [kernel.symbol for kernel in index.kernels]
    assert [each.kernel for each in index.launches] == ["vllm.good.k"]
    assert index.claims("k")


def test_many_ways_are_not_all_gone(engine: Engine) -> None:
    """Each name is one of two others: no number of them takes long."""
    doubled = "".join(f"k{n} = k{n + 1} if x else k{n + 1}\n" for n in range(60))
    calls = "".join(f"def f{n}(k, y):\n    f{n + 1}(k, y)\n    f{n + 1}(k, y)\n" for n in range(40))
    text = f"import triton  # jit\n{doubled}k0[grid]()\n{calls}def f40(k, y):\n    k[grid]()\n"
    started = time.process_time()
    index = JitIndex(engine(bad=text, good=GOOD))
    assert [each.kernel for each in index.launches] == ["vllm.good.k"]
    assert index.open_launches and time.process_time() - started < 5


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_python_counts_them(engine: Engine, end: str) -> None:
    index = JitIndex(engine(ops=f"\ufeff{GOOD}".replace("\n", end)))
    assert [kernel.site.line for kernel in index.kernels] == [4]
    assert [each.site.line for each in index.launches] == [8]


@pytest.mark.parametrize(
    "body",
    [
        '    """Text\nat the margin.\n    """\n    x = 1\n',
        "    x = (1,\n2)\n",
        "    # comment\n# at the margin\n    x = 1\n",
        "    x = 1 \\\n+ 2\n",
        "    pass\n\n\n",
    ],
)
def test_a_body_that_is_left_out_takes_nothing_with_it(engine: Engine, body: str) -> None:
    text = f"import triton\n\n@triton.jit\ndef k(x,  # a: b:\n):\n{body}\ndef f(grid):\n    k[grid](1)\n"
    index = JitIndex(engine(ops=text))
    line = text[: text.index("    k[grid]")].count("\n") + 1
    assert [(each.kernel, each.site.line) for each in index.launches] == [("vllm.ops.k", line)]


@pytest.mark.parametrize(
    "text",
    [
        "def (",
        "x = '\0'",
        "f'{x}{y}.json'",
        f"x = {'(' * 3000}{')' * 3000}",
        "def f():\n  return f'{a}{b}.json'",
    ],
)
def test_rules_of_names_that_cannot_be_read(engine: Engine, text: str) -> None:
    files = TunedFiles(engine(**{"sub/configs/E=1.json": "{}"}, sub__load=f"# .json __file__\n{text}\n"))
    assert [each.path for each in files.shipped] == ["vllm/sub/configs/E=1.json"]
    assert files.kinds == ()
