"""How a launch site comes by its kernel, within one file."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from qtrace.tracer.jit.facts import Idiom, Launch
from qtrace.tracer.jit.index import JitIndex
from qtrace.tracer.sources import Source

Engine = Callable[..., Source]
HEAD = """import functools
from torch.library import wrap_triton
from vllm.triton_utils import tl, triton

@triton.jit
def a(x):
    pass

@triton.jit
def b(x):
    pass

"""
Row = tuple[str, Idiom, str | None, str | None]


def rows(launches: tuple[Launch, ...]) -> list[Row]:
    return [(each.kernel.rpartition(".")[2], each.idiom, each.condition, each.key) for each in launches]


IDIOMS: dict[str, tuple[str, list[Row]]] = {
    "direct": ("def f(x, grid):\n    a[grid](x)\n", [("a", Idiom.DIRECT, None, None)]),
    "a lambda as grid": ("def f(x):\n    a[lambda m: (1,)](x)\n", [("a", Idiom.DIRECT, None, None)]),
    "over lines": (
        "def f(x):\n    a[\n        (1, 2)\n    ](\n        x)\n",
        [("a", Idiom.DIRECT, None, None)],
    ),
    "wrapped": ("def f(x, grid):\n    wrap_triton(a)[grid](x)\n", [("a", Idiom.WRAPPED, None, None)]),
    "an alias": ("def f(x, grid):\n    k = a\n    k[grid](x)\n", [("a", Idiom.ALIAS, None, None)]),
    "an alias by tests": (
        "def f(x, grid):\n    if x == 1:\n        k = a\n    elif x == 2:\n        k = b\n    k[grid](x)\n",
        [
            ("a", Idiom.ALIAS, "x == 1", None),
            ("b", Idiom.ALIAS, "not (x == 1) and x == 2", None),
        ],
    ),
    "a ternary": (
        "def f(x, grid):\n    (a if x else b)[grid](x)\n",
        [("a", Idiom.TERNARY, "x", None), ("b", Idiom.TERNARY, "not (x)", None)],
    ),
    "a dict": (
        "K = {16: a, 'y': b}\ndef f(x, grid):\n    K[x][grid](x)\n",
        [("a", Idiom.DICT, None, "16"), ("b", Idiom.DICT, None, "'y'")],
    ),
    "one key of a dict": (
        "K = {16: a, 'y': b}\ndef f(x, grid):\n    K['y'][grid](x)\n",
        [("b", Idiom.DICT, None, "'y'")],
    ),
    "get of a dict": (
        "def f(x, grid):\n    k = {1: a, 2: b}.get(x)\n    k[grid](x)\n",
        [("a", Idiom.DICT, None, "1"), ("b", Idiom.DICT, None, "2")],
    ),
    "a loop": (
        "def f(x, grid):\n    for k in (a, b):\n        k[grid](x)\n",
        [("a", Idiom.LOOP, None, None), ("b", Idiom.LOOP, None, None)],
    ),
    "partial": (
        "def f(x, grid):\n    k = functools.partial(a, 1)\n    k[grid](x)\n",
        [("a", Idiom.PARTIAL, None, None)],
    ),
    "compiled by hand": (
        "def plain(x):\n    pass\nk = triton.jit(plain)\ndef f(x, grid):\n    k[grid](x)\n",
        [("plain", Idiom.ALIAS, None, None)],
    ),
    "on a class": (
        "class C:\n    k = staticmethod(a)\n    def f(self, x, grid):\n        self.k[grid](x)\n",
        [("a", Idiom.ATTRIBUTE, None, None)],
    ),
    "on an object": (
        "class C:\n    def __init__(self):\n        self.k = b\n"
        "    def f(self, x, grid):\n        self.k[grid](x)\n",
        [("b", Idiom.ATTRIBUTE, None, None)],
    ),
    "given by a function": (
        "def choose():\n    return a\ndef f(x, grid):\n    choose()[grid](x)\n",
        [("a", Idiom.RETURNED, None, None)],
    ),
    "one of what a function gives": (
        "def choose():\n    return a, b\ndef f(x, grid):\n    _, k = choose()\n    k[grid](x)\n",
        [("b", Idiom.RETURNED, None, None)],
    ),
    "kept for later": (
        "_K = None\ndef make():\n    return a\ndef f(x, grid):\n    global _K\n    if _K is None:\n"
        "        _K = make()\n    _K[grid](x)\n",
        [("a", Idiom.RETURNED, None, None)],
    ),
    "a launch that gives a launch": (
        "def f(x, grid):\n    k = a[grid](x)\n    k[grid](x)\n",
        [("a", Idiom.DIRECT, None, None), ("a", Idiom.ALIAS, None, None)],
    ),
    "a parameter": (
        "def launch(k, x, grid):\n    k[grid](x)\ndef f(x, grid):\n    launch(b, x, grid)\n",
        [("b", Idiom.PARAMETER, None, None)],
    ),
    "a parameter by its name": (
        "def launch(x, *, k):\n    k[(1,)](x)\ndef f(x):\n    launch(x, k=a)\n",
        [("a", Idiom.PARAMETER, None, None)],
    ),
    "a parameter of a method": (
        "class C:\n    def go(self, k, x):\n        k[(1,)](x)\ndef f(c, x):\n    c.go(a, *x)\n",
        [("a", Idiom.PARAMETER, None, None)],
    ),
    "a parameter that is handed on": (
        "def inner(k, x):\n    k[(1,)](x)\ndef outer(x, k):\n    inner(k, x)\ndef f(x):\n    outer(x, b)\n",
        [("b", Idiom.PARAMETER, None, None)],
    ),
    "run": ("def f(x):\n    a.run(x, grid=(1,))\n", [("a", Idiom.DIRECT, None, None)]),
    "anything may be run that is handed over": (
        "def f(k):\n    k.run(1)\ndef g():\n    f(a)\n",
        [],
    ),
    "no kernel": ("def f(x, grid):\n    list[int](x)\n    x.layers[3](x)\n    x.run(grid=1)\n", []),
}


@pytest.mark.parametrize(("text", "expected"), IDIOMS.values(), ids=IDIOMS)
def test_an_idiom(engine: Engine, text: str, expected: list[Row]) -> None:
    index = JitIndex(engine(ops=HEAD + text))
    assert rows(index.launches) == expected
    assert index.open_launches == ()
