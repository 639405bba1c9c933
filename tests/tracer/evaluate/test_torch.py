"""Shapes and dtypes of tensors, held against what torch itself computes."""

from __future__ import annotations

from textwrap import dedent

import pytest

from .harness import OneOf, check, evaluate

HEAD = """
import torch
DTYPES = (torch.uint8, torch.int8, torch.bool, torch.bfloat16, torch.complex64, torch.float8_e4m3fn)
RANGES = [
    torch.finfo(t)
    for t in (
        torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2,
        torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
    )
]
def told(*tensors):
    return [(tuple(t.shape), t.dtype == torch.float16, t.dtype == torch.bool) for t in tensors]
def shapes(a):
    layer = torch.nn.Module()
    if a:
        layer.packed = torch.nn.Parameter(torch.zeros(2))
    else:
        layer.weight = torch.nn.Parameter(torch.zeros(3))
    layer.register_parameter("bias", None)
    layer.scale = torch.nn.Parameter(torch.zeros(1))
    out = [name for name, _ in layer.named_parameters()]
    for each in layer.parameters():
        out.append(each.shape[0])
    return out
def main(a):
    x = torch.zeros(3, 4, dtype=torch.float16)
    y = torch.ones(4, dtype=torch.float16)
    column = torch.ones(3, 1, dtype=torch.float16)
"""

EXPRESSIONS = {
    "arithmetic": "told(x + y, x * 2, 1.0 / x, x - column, 2 - y, x // 3, column * y)",
    "comparisons": "told(x == y, x > 0, 0 < y, x != column, x <= 1.5)",
    "items": "told(x[0], x[-1], x[1:], x[0:2, 1], x[2, 3], x[:, 0:2], y[::2])",
    "reductions": "told(x.max(), y.min(), x.mean(), (x == y).all(), (x > y).any(), x.amax())",
    "views": "told(x.t(), x.view(4, 3), x.reshape(-1), x.view(2, -1), x.T, x.to(torch.bool))",
    "permutations": "told(x.permute(1, 0), x.permute((0, 1)), x.view(1, 3, 4).permute(2, 0, 1))",
    "squeezed": "told(column.squeeze(1), column.squeeze(-1), column.squeeze(dim=0), x.squeeze(1))",
    "unsqueezed": "told(x.unsqueeze(0), x.unsqueeze(1), x.unsqueeze(-1), x.unsqueeze(2), y.unsqueeze(-2))",
    "sizes": "(x.numel(), x.size(0), x.dim(), x.ndim, len(x.shape), x.element_size())",
    "shapes": "(x.shape.numel(), x.shape[:-1].numel(), x[0:0].shape.numel())",
    "parameters_that_are_there_on_some_paths": "shapes(a)",
    "dtypes": "[(t.is_floating_point, t.is_complex, t.is_signed, t.itemsize) for t in DTYPES]",
    "ranges": "[(i.min, i.max, i.eps, i.resolution, i.tiny, i.smallest_normal, i.bits) for i in RANGES]",
    "an_index_out_of_bounds": "told(x[3])",
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_torch(name: str) -> None:
    text = f"{dedent(HEAD)}    return {EXPRESSIONS[name]}\n"
    answer = check(text, {"a": OneOf((False, True))}, exact=True)
    assert not answer.widened


def test_a_parameter_counts_where_it_is_registered() -> None:
    text = """
        import torch
        def main(a):
            layer = torch.nn.Module()
            layer.register_parameter("w", torch.nn.Parameter(torch.zeros(2)))
            if a:
                layer.register_parameter("b", torch.nn.Parameter(torch.zeros(3)))
            return [n for n, _ in layer.named_parameters()], [tuple(p.shape) for p in layer.parameters()]
    """
    assert not check(dedent(text), {"a": OneOf((False, True))}, exact=True).widened


def test_what_a_tensor_holds_is_not_known() -> None:
    answer = evaluate(f'{dedent(HEAD)}    return "all" if (x == y).all() else "some"\n', {"a": True})
    assert {value for _, value in answer.ends} == {"all", "some"}


@pytest.mark.parametrize(("name", "told"), [("numel", {"yes", "no"}), ("index", {"yes"}), ("dim", {"no"})])
def test_a_tuple_may_be_a_shape(name: str, told: set[str]) -> None:
    text = f"def main(a):\n    return 'yes' if hasattr((1, 2), {name!r}) else 'no'\n"
    assert {value for _, value in evaluate(text, {"a": True}).ends} == told


@pytest.mark.parametrize(
    ("moved", "told"),
    [
        ("x * 2", {"same"}),
        ("torch.nn.functional.relu(x)", {"same"}),
        ("x.cpu()", {"same", "other"}),
        ("torch.nn.functional.relu(x).cpu()", {"same", "other"}),
        ("x.to('cpu')", {"same", "other"}),
        ("x.to(torch.float16)", {"same"}),
    ],
)
def test_what_was_moved_to_the_host_may_be_on_another_device(moved: str, told: set[str]) -> None:
    text = f"{dedent(HEAD)}    return 'same' if ({moved}).device == x.device else 'other'\n"
    assert {value for _, value in evaluate(text, {"a": True}).ends} == told


def test_names_of_dtypes() -> None:
    """The short names in the engine's reasons are those of torch."""
    names = "float16 bfloat16 float32 float8_e4m3fn float8_e5m2 float4_e2m1fn_x2 int8 int32 uint8 bool"
    told = ", ".join(f"fx.graph.dtype_abbrs[torch.{name}]" for name in names.split())
    text = f"import torch\nfrom torch import fx\ndef main(a):\n    return [{told}]\n"
    assert not check(text, {"a": True}, exact=True).widened
