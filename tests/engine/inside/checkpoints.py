"""Makes small checkpoints with random weights, in the engine's environment: `checkpoints.py FOLDER NAME...`

A Llama of two layers (3 MB) that says nothing but stands for what a quantization recipe stores. The packed
tensors of compressed-tensors come from that library; those of GPTQ and AWQ are packed here as their tools do.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from compressed_tensors.compressors.model_compressors.model_compressor import ModelCompressor
from compressed_tensors.quantization import (
    QuantizationConfig,
    QuantizationStatus,
    apply_quantization_config,
    preset_name_to_scheme,
)
from compressed_tensors.quantization.utils import calculate_qparams
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

GROUP = 128
"""Input rows that share a scale in GPTQ and AWQ."""
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
"""Which of eight neighbouring columns AWQ puts into each four bits of a word."""


def llama() -> LlamaForCausalLM:
    """A model with random weights, the same each time."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=1024,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
        tie_word_embeddings=False,
        dtype="bfloat16",
    )
    return LlamaForCausalLM(config).to(torch.bfloat16)


def tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer that knows single bytes."""
    words = ["<s>", "</s>", "<pad>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    made = Tokenizer(models.BPE(vocab={word: number for number, word in enumerate(words)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )


def plain(folder: Path) -> None:
    """The checkpoint as it is."""
    llama().save_pretrained(folder)


def compressed(preset: str) -> Callable[[Path], None]:
    """A checkpoint of compressed-tensors after one of its presets, each Linear but the head."""

    def make(folder: Path) -> None:
        model = llama()
        scheme = preset_name_to_scheme(preset, ["Linear"])
        config = QuantizationConfig(config_groups={"group_0": scheme}, ignore=["lm_head"])
        apply_quantization_config(model, config)
        for module in model.modules():
            if getattr(module, "quantization_scheme", None):
                _calibrate(module)
        compressor = ModelCompressor.from_pretrained_model(model)
        compressor.compress_model(model)
        model.save_pretrained(folder)
        compressor.update_config(str(folder))

    return make


def _calibrate(module: Any) -> None:
    """Scales and zero points from the weights; activations, where they are static, have a fixed scale."""
    args = module.quantization_scheme.weights
    low, high = _ranges(module.weight.data.float(), args)
    scale, zero = calculate_qparams(low, high, args)
    for name, value in (("weight_scale", scale), ("weight_zero_point", zero)):
        if hasattr(module, name):
            held = getattr(module, name)
            held.data = value.reshape(held.shape).to(held.dtype)
    if hasattr(module, "input_scale"):
        module.input_scale.data.fill_(0.05)
    module.quantization_status = QuantizationStatus.FROZEN


def _ranges(weight: torch.Tensor, args: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Least and greatest weight of each part that shares a scale."""
    rows, columns = weight.shape
    if args.strategy == "tensor":
        return weight.min(), weight.max()
    if args.strategy == "channel":
        return weight.amin(1, keepdim=True), weight.amax(1, keepdim=True)
    if args.strategy == "group":
        groups = weight.view(rows, -1, args.group_size)
        return groups.amin(2), groups.amax(2)
    high, wide = args.block_structure
    blocks = weight.view(rows // high, high, columns // wide, wide)
    return blocks.amin((1, 3)), blocks.amax((1, 3))


def packed(values: torch.Tensor, order: tuple[int, ...] = tuple(range(8))) -> torch.Tensor:
    """Eight neighbouring four-bit values of a row in one word of 32 bits."""
    rows, columns = values.shape
    nibbles = values.view(rows, columns // 8, 8)[..., order].to(torch.int64) & 15
    words = (nibbles << (4 * torch.arange(8))).sum(-1)
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32)


def gptq(weight: torch.Tensor) -> dict[str, torch.Tensor]:
    """The tensors of GPTQ: symmetric, words along the input, the zero points stored less one."""
    inputs, outputs = weight.shape
    groups = weight.view(-1, GROUP, outputs)
    scales = groups.abs().amax(1) / 7
    codes = ((groups / scales[:, None]).round().clamp(-8, 7) + 8).view(inputs, outputs).to(torch.int32)
    return {
        "qweight": packed(codes.t().contiguous()).t().contiguous(),
        "scales": scales.to(torch.bfloat16),
        "qzeros": packed(torch.full(scales.shape, 7, dtype=torch.int32)),
        "g_idx": (torch.arange(inputs) // GROUP).to(torch.int32),
    }


def awq(weight: torch.Tensor) -> dict[str, torch.Tensor]:
    """The tensors of AWQ: with zero points, words along the output in AWQ's own order."""
    inputs, outputs = weight.shape
    groups = weight.view(-1, GROUP, outputs)
    low, high = groups.amin(1), groups.amax(1)
    scales = ((high - low) / 15).clamp(min=1e-6)
    zeros = (-low / scales).round().clamp(0, 15)
    codes = ((groups / scales[:, None]).round() + zeros[:, None]).clamp(0, 15)
    return {
        "qweight": packed(codes.view(inputs, outputs).to(torch.int32), AWQ_ORDER),
        "scales": scales.to(torch.bfloat16),
        "qzeros": packed(zeros.to(torch.int32), AWQ_ORDER),
    }


Packer = Callable[[torch.Tensor], dict[str, torch.Tensor]]


def four_bits(pack: Packer, config: dict[str, Any]) -> Callable[[Path], None]:
    """A checkpoint whose projections are packed by `pack` and whose config says `config`."""

    def make(folder: Path) -> None:
        model = llama()
        model.save_pretrained(folder)
        tensors: dict[str, torch.Tensor] = {}
        for name, value in model.state_dict().items():
            if not name.endswith("_proj.weight"):
                tensors[name] = value.contiguous()
                continue
            for part, tensor in pack(value.float().t().contiguous()).items():
                tensors[f"{name.removesuffix('weight')}{part}"] = tensor
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        file = folder / "config.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"quantization_config": config}, indent=1))

    return make


GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": GROUP, "desc_act": False, "sym": True}
AWQ = {"quant_method": "awq", "bits": 4, "group_size": GROUP, "zero_point": True, "version": "gemm"}

RECIPES: dict[str, Callable[[Path], None]] = {
    "bf16": plain,
    "ct-w8a8": compressed("W8A8"),
    "ct-w4a16": compressed("W4A16"),
    "ct-w4a16-asym": compressed("W4A16_ASYM"),
    "ct-fp8": compressed("FP8"),
    "ct-fp8-dyn": compressed("FP8_DYNAMIC"),
    "ct-fp8-block": compressed("FP8_BLOCK"),
    "gptq": four_bits(gptq, {**GPTQ, "lm_head": False, "checkpoint_format": "gptq"}),
    "awq": four_bits(awq, AWQ),
}


def main(folder: str, *names: str) -> None:
    for name in names:
        path = Path(folder) / name
        path.mkdir(parents=True)
        RECIPES[name](path)
        tokenizer().save_pretrained(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
