"""Tuned configurations: which are shipped, and which one the engine would use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qtrace.tracer.jit.tuned import Kind, Tuned, TunedFiles
from qtrace.tracer.sources import Source

Engine = Callable[..., Source]
MOE = "vllm.model_executor.layers.fused_moe.fused_moe.get_moe_configs"
H100 = "NVIDIA H100 80GB HBM3"


def names(files: tuple[Tuned, ...]) -> list[str]:
    return [Path(each.path).name for each in files]


def test_every_file_is_taken_apart_as_its_name_says(tuned: TunedFiles) -> None:
    """Against a plain reading: what stands before each `=` is a field, or spelled out by the rule."""
    kinds = Counter(each.kind for each in tuned.shipped)
    assert kinds[MOE] > 300 and len(kinds) == 5
    for each in tuned.shipped:
        if each.kind != MOE:
            continue
        parts = Path(each.path).name.removesuffix(".json").replace("[128,128]", "[128;128]").split(",")
        plain = dict(part.split("=", 1) for part in parts if "=" in part)
        for key, value in plain.items():
            if "[" not in value:
                assert str(each.fields[key]) == value, each.path


def test_what_no_rule_names_is_listed_all_the_same(tuned: TunedFiles) -> None:
    unread = [each.path for each in tuned.shipped if each.kind is None]
    assert any("/helion/configs/" in path for path in unread)
    # 0.33.0 ships these and opens none of them: the function that did is gone.
    int8 = [path for path in unread if "dtype=int8_w8a8" in path]
    assert len(int8) == 39 and len(unread) == len(int8) + 14


def test_a_kind_says_where_it_is_read(tuned: TunedFiles) -> None:
    (kind,) = [kind for kind in tuned.kinds if kind.symbol == MOE]
    assert kind == Kind(
        symbol=MOE,
        site=kind.site,
        parameters=("E", "N", "dtype", "block_n", "block_k"),
        fields=("E", "N", "device_name", "dtype", "block_shape"),
        folder="vllm/model_executor/layers/fused_moe/configs",
    )


def test_a_shape_that_is_missing(tuned: TunedFiles) -> None:
    """The log of issue 17619: the file that the engine asks for is not there."""
    use = tuned.would_use(MOE, H100, E=16, N=1536, dtype="fp8_w8a8", block_n=128, block_k=128)
    assert use.wanted == (
        "E=16,N=1536,device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8,block_shape=[128,128].json"
    )
    assert (use.kind, use.file, use.unread, use.unless) == (MOE, None, None, ("envs.VLLM_BATCH_INVARIANT",))
    assert len(use.nearest) == 5
    assert {each.device for each in use.nearest} == {"NVIDIA_H100_80GB_HBM3"}
    assert use.nearest[0].fields["dtype"] == "fp8_w8a8" and "block_shape" in use.nearest[0].fields


@pytest.mark.parametrize(
    ("kind", "device", "fields"),
    [
        ("get_moe_configs", "NVIDIA H200", {"dtype": None}),
        ("get_moe_configs", "NVIDIA H200 NVL", {"dtype": None}),
        ("get_moe_configs", "NVIDIA H200 141GB HBM3e", {"dtype": None}),
    ],
)
def test_the_family_of_h200_shares_its_files(
    tuned: TunedFiles, kind: str, device: str, fields: dict[str, Any]
) -> None:
    use = tuned.would_use(kind, device, E=8, N=3584, **fields)
    assert use.file is not None and use.file.device == "NVIDIA_H200"
    assert use.file.fields == {"E": 8, "N": 3584, "device_name": "NVIDIA_H200"} and use.nearest == ()


def test_h20_is_none_of_them(tuned: TunedFiles) -> None:
    use = tuned.would_use("get_moe_configs", "NVIDIA H20", E=1, N=2, dtype=None)
    assert use.nearest and {each.device for each in use.nearest} == {"NVIDIA_H20"}


def test_the_caller_s_own_rule_counts(tuned: TunedFiles) -> None:
    use = tuned.would_use("get_ssm_configs", "NVIDIA H200", headdim=64, dstate=128, cache_dtype="bfloat16")
    assert use.wanted == "headdim=64,dstate=128,device_name=NVIDIA_H200,cache_dtype=float16.json"
    assert use.file is not None and use.file.fields["cache_dtype"] == "float16"


def test_of_two_rules_the_one_that_spells_out_more(tuned: TunedFiles) -> None:
    flydsl = [each for each in tuned.shipped if "backend=flydsl" in each.path]
    assert flydsl and {each.kind for each in flydsl} == {
        "vllm.model_executor.layers.fused_moe.fused_flydsl_moe.try_get_optimal_config"
    }
    assert {tuple(each.fields) for each in flydsl} == {("E", "N", "device_name")}


def test_what_is_not_given(tuned: TunedFiles) -> None:
    use = tuned.would_use("get_moe_configs", H100, E=16)
    assert (use.wanted, use.file, use.nearest) == (None, None, ())
    assert use.unread == "N is not given"
    with pytest.raises(KeyError):
        tuned.would_use("get_no_configs", H100)


def test_who_asks_for_files_and_what_leads_elsewhere(tuned: TunedFiles) -> None:
    assert tuned.callers(MOE) == (f"{MOE.rpartition('.')[0]}.try_get_optimal_moe_config",)
    assert tuned.environment(MOE) == ("VLLM_BATCH_INVARIANT", "VLLM_TUNED_CONFIG_FOLDER")
    (caller,) = tuned.callers("get_w8a8_block_fp8_configs")
    assert caller.endswith(".w8a8_triton_block_scaled_mm")
    assert tuned.environment("get_w8a8_block_fp8_configs") == ()


RULE = """import os, re
from vllm.names import device

def name_of(E: int, dtype=None):
    short = {short}
    suffix = "" if not dtype else f",dtype={{dtype}}"
    return f"E={{E}},device={{short}}{{suffix}}.json"

def load(E, dtype=None):
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), "configs", name_of(E, dtype))
    with open(path) as file:
        return file.read()
"""
DEVICE = "def device():\n    return torch.cuda.get_device_name(0)\n"
FILES = {
    "sub/configs/E=8,device=A_B.json": "{}",
    "sub/configs/E=9,device=A_B,dtype=x.json": "{}",
    "sub/configs/E=64,device=A_B.json": "{}",
    "sub/configs/E=8,device=C.json": "{}",
    "sub/configs/README.json": "{}",
}


@pytest.mark.parametrize(
    ("short", "wanted"),
    [
        ("device().replace(' ', '_')", "E=10,device=A_B.json"),
        ("re.sub(r'[\\s/]+', '_', device())", "E=10,device=A_B.json"),
        ("'A_B' if 'B' in device().split(' ') else device()", "E=10,device=A_B.json"),
        ("device().lower()", "E=10,device=a b.json"),
    ],
)
def test_a_plain_rule_is_computed(engine: Engine, short: str, wanted: str) -> None:
    source = engine(**FILES, sub__load=RULE.format(short=short), names=DEVICE)
    use = TunedFiles(source).would_use("load", "A B", E=10)
    assert use.wanted == wanted
    if wanted.endswith("A_B.json"):
        assert [each.path.removeprefix("vllm/sub/") for each in use.nearest] == [
            "configs/E=8,device=A_B.json",
            "configs/E=64,device=A_B.json",
            "configs/E=9,device=A_B,dtype=x.json",
        ]


@pytest.mark.parametrize(
    "short",
    [
        "lookup()",
        "device()[0]",
        "re.sub(r'(a+)+$', '_', device())",
        "device() % 3",
        "device().encode()",
        "device().replace(1)",
        "'x' in 3",
        "f'{device():>10}'",
        "'a'.replace('a', 'aa' * 99)",
        "__import__('os').system('true')",
    ],
)
def test_any_other_rule_is_not(engine: Engine, short: str) -> None:
    source = engine(**FILES, sub__load=RULE.format(short=short), names=DEVICE)
    use = TunedFiles(source).would_use("load", "A B", E=10)
    assert use.wanted is None and use.unread and "__file__" not in use.unread


def test_files_are_taken_apart_whatever_the_rule_for_the_device(engine: Engine) -> None:
    files = TunedFiles(engine(**FILES, sub__load=RULE.format(short="lookup()"), names=DEVICE)).shipped
    assert {Path(each.path).name: each.fields for each in files if each.kind} == {
        "E=8,device=A_B.json": {"E": 8, "device": "A_B"},
        "E=9,device=A_B,dtype=x.json": {"E": 9, "device": "A_B", "dtype": "x"},
        "E=64,device=A_B.json": {"E": 64, "device": "A_B"},
        "E=8,device=C.json": {"E": 8, "device": "C"},
    }


def test_a_rule_that_would_take_for_ever_to_match_is_left_out(engine: Engine) -> None:
    wild = "".join(f"{{E{n}}}" for n in range(20))
    text = (
        'import os\n\ndef load(E):\n    path = os.path.join(os.path.dirname(__file__), "configs", '
        f'f"{wild}.json")\n    return open(path)\n'
    )
    found = TunedFiles(engine(**{f"sub/configs/{'a' * 200}.jsonx.json": "{}"}, sub__load=text))
    assert found.kinds == () and [each.kind for each in found.shipped] == [None]
