"""The numbers that tensors hold, held against what torch itself computes."""

from __future__ import annotations

from textwrap import dedent

import pytest

from .harness import check, evaluate

HEAD = """
import torch
def main(a):
    x = torch.tensor(-1.0)
    y = torch.tensor(2.0)
    if a:
        x.fill_(3.0)
"""

EXPRESSIONS = {
    "comparisons": "[bool(x > 0.0), bool(x < y), bool(y == 2.0), bool(x != -1.0)]",
    "numbers": "(x.item(), y.tolist(), y.to(torch.float32).item(), max(x, y).item())",
    "branches": "'above' if x > 0.0 and y > 0.0 else 'below'",
    "written": "(y.copy_(x).item(), y.item(), x.zero_().item())",
    "floating": "(x.to(torch.float16).is_floating_point(), (x > 0.0).is_floating_point())",
}


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("a", [True, False])
def test_numbers(name: str, a: bool) -> None:
    text = f"{dedent(HEAD)}    return {EXPRESSIONS[name]}\n"
    assert not check(text, {"a": a}, exact=True).widened


FORGOTTEN = {
    "a_write_that_is_not_followed": "x.add_(4.0)",
    "an_element": "x[...] = 4.0",
    "arithmetic": "x.mul_(4.0)",
    "a_number_that_a_dtype_may_round": "x.fill_(0.1)",
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_what_is_not_followed_is_not_known(name: str) -> None:
    text = f"{dedent(HEAD)}    {FORGOTTEN[name]}\n    return 'above' if x > 0.0 else 'below'\n"
    assert {value for _, value in evaluate(text, {"a": False}).ends} == {"above", "below"}


def test_a_parameter_holds_what_a_checkpoint_brings() -> None:
    text = f"{dedent(HEAD)}    p = torch.nn.Parameter(x)\n    return 'above' if p > 0.0 else 'below'\n"
    assert {value for _, value in evaluate(text, {"a": False}).ends} == {"above", "below"}


def test_one_thread_has_what_it_set() -> None:
    text = """
    import threading
    local = threading.local()
    def main(a):
        before = getattr(local, "depth", None)
        local.depth = 1
        return before, local.depth
    """
    assert not check(dedent(text), {"a": True}, exact=True).widened
