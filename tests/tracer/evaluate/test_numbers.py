"""The numbers that tensors hold, held against what torch itself computes."""

from __future__ import annotations

from textwrap import dedent

import pytest

from .harness import Opaque, check, evaluate

HEAD = """
import torch
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
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
    "a_copy": "((c := x.clone()).fill_(4.0).item(), x.item(), c.clone().zero_().item(), c.item())",
    "a_new_tensor": "(x.abs() is x, x.clamp(0) is x, x.clone() is x, x.abs().shape == x.shape)",
    "dtypes": "[torch.tensor(0.5, dtype=d).item() for d in DTYPES]",
    "other_data": "(setattr(x, 'data', torch.tensor(4.0)), x.item(), tuple(x.shape))",
    "other_data_on_some_paths": "((setattr(x, 'data', y) if a else None), x.item(), y.item())",
    "one_element_of_several": "(torch.ones(3)[0:1].fill_(2.0).item(), torch.ones(1, 1).fill_(2.0).item())",
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
    "arithmetic_in_place_of_another_name": "y = x; y += 4.0",
    "a_view": "x.view(-1).fill_(4.0)",
    "a_view_of_a_view": "x.view(1, 1).t()[0].fill_(4.0)",
    "a_view_that_is_not_followed": "x.unsqueeze(0).fill_(4.0)",
    "a_conversion_to_what_it_is": "x.to(torch.float32).fill_(4.0)",
    "another_conversion_to_what_it_is": "x.float().fill_(4.0)",
    "a_tensor_that_shares_its_memory": "x.detach().fill_(4.0)",
    "a_tensor_that_may_share_its_memory": "x.cpu().fill_(4.0)",
    "the_memory_of_its_data": "y = torch.tensor(1.0); x.data = y; y.fill_(4.0)",
    "a_parameter_on_its_memory": "torch.nn.Parameter(x).data.fill_(4.0)",
    "a_copy_that_shares_its_memory": "import copy; copy.copy(x).fill_(4.0)",
    "an_initialiser": "torch.nn.init.constant_(x, 4.0)",
    "an_output": "torch.add(y, 2.0, out=x)",
    "outputs_in_a_list": "torch._foreach_add_([x], 5.0)",
    "an_operator": "torch.ops.aten.fill_.Scalar(x, 4.0)",
    "a_loop": "for _ in range(n): x.fill_(4.0)",
}
"""Statements after which x is 4 in torch, or something else that is above zero."""


@pytest.mark.parametrize("name", FORGOTTEN)
def test_what_is_not_followed_is_not_known(name: str) -> None:
    head = dedent(HEAD).replace("main(a)", "main(a, n)")
    text = f"{head}    {FORGOTTEN[name]}\n    return 'above' if x > 0.0 else 'below'\n"
    given = {"a": False, "n": Opaque("int", (1,))}
    assert {value for _, value in check(text, given, exact=False).ends} == {"above", "below"}


CONVERTED = {
    "whole_numbers": "torch.tensor(0.5, dtype=torch.int32).item()",
    "conversion_to_whole_numbers": "torch.tensor(0.5).to(torch.int32).item()",
    "conversion_to_another_s_dtype": "torch.tensor(0.5).to(torch.tensor(1)).item()",
    "small_floats": "torch.tensor(3.0, dtype=torch.float16).to(torch.float8_e8m0fnu).item()",
}


@pytest.mark.parametrize("name", CONVERTED)
def test_a_number_that_a_dtype_does_not_keep(name: str) -> None:
    text = f"import torch\ndef main():\n    return 'kept' if {CONVERTED[name]} in (0.5, 3.0) else 'changed'\n"
    assert {value for _, value in check(text, {}, exact=False).ends} == {"kept", "changed"}


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
