"""Shape gates: which sizes of a layer the engine divides or rounds up, from its own source."""

from __future__ import annotations

from typing import Any

import pytest

from qtrace.report.model import Chain, Fit
from qtrace.tracer.answer import report, walked
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario

SIZES = {"hidden_size": 2880, "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": True, "desc_act": False}


def asked(library: Library, layer: str, **more: Any) -> Chain:
    """The chain of one layer whose hidden size is no multiple of 128."""
    model = SIZES | {"model_type": "llama", "head_dim": 128, "quantization_config": more.pop("config", GPTQ)}
    scenario = Scenario(
        model=model, capability=80, dtype="bfloat16", profile="bare", cuda=13000, layer=layer, **more
    )
    (chain,) = report(walked(library, scenario), {}).chains
    return chain


def test_a_size_that_is_padded_says_to_what_and_where(library: Library) -> None:
    gates = [f for f in asked(library, "down_proj").fits if f.padded is not None]
    assert {f.layer for f in gates} == {"down_proj"}
    assert ("size_n", 2880, 128, 2944) in {(f.dimension, f.size, f.multiple, f.padded) for f in gates}
    assert ("size_n", 2880, 64, 2880) in {(f.dimension, f.size, f.multiple, f.padded) for f in gates}
    assert all(f.site is not None and f.site.path.endswith("marlin_utils.py") for f in gates)


def test_a_size_that_is_only_looked_at_has_no_padding(library: Library) -> None:
    gates = asked(library, "down_proj").fits
    seen = [f for f in gates if f.function.endswith("MarlinLinearKernel.can_implement")]
    assert [(f.size, f.multiple, f.padded, f.left()) for f in seen] == [(14336, 32, None, 0)]


def test_ranks_divide_what_is_looked_at(library: Library) -> None:
    whole, split = (asked(library, "down_proj", tensor_parallel=n).fits for n in (1, 8))
    assert not any(f.function.endswith("ensure_divisibility") for f in whole)  # by 1: no gate
    assert ("numerator", 14336, 8) in {(f.dimension, f.size, f.multiple) for f in split}
    assert 14336 // 8 in {f.size for f in split}


def test_a_block_scale_that_does_not_divide_is_uneven(library: Library) -> None:
    config = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
    gates = asked(library, "down_proj", config=config).fits
    assert {f.padded for f in gates if f.size == 2880 and f.left()} == {2944}  # 2880 = 22.5 blocks


@pytest.mark.parametrize(
    ("fit", "left", "growth"),
    [
        (Fit(layer="x", dimension="n", size=100, multiple=64, function="f"), 36, None),
        (Fit(layer="x", dimension="n", size=100, multiple=64, padded=128, function="f"), 36, 0.28),
        (Fit(layer="x", dimension="n", size="hidden_size", multiple=64, function="f"), None, None),
        (Fit(layer="x", dimension="n", size=0, multiple=0, padded=0, function="f"), None, None),
    ],
)
def test_what_is_left_and_what_is_added(fit: Fit, left: int | None, growth: float | None) -> None:
    assert (fit.left(), fit.growth()) == (left, growth)
