"""A whole report to render and to store: vLLM 0.33.0, an fp8 checkpoint on H100, as its source reads."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from qtrace.report.model import (
    Candidate,
    CandidateState,
    Chain,
    Change,
    Choice,
    Coverage,
    Elsewhere,
    Fit,
    Hop,
    HopKind,
    Kernel,
    Outcome,
    Parameter,
    Pin,
    Question,
    Refusal,
    Report,
    Sight,
    Unsupported,
    Why,
)
from qtrace.report.predicate import AllOf, Compare, Member, Not, Opaque, Site
from qtrace.rules import judge

# What a JSON number holds in every reader: 64-bit integers, and no NaN or infinity.
st.register_type_strategy(int, st.integers(-(2**63), 2**63 - 1))
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))

LAYERS = "vllm.model_executor.layers"
FP8 = f"{LAYERS}.quantization.fp8"
LINEAR = "vllm.model_executor.kernels.linear"
Q = "vllm/model_executor/layers/quantization"
K = "vllm/model_executor/kernels/linear"
CUTLASS = f"{LINEAR}.scaled_mm.cutlass.CutlassFP8ScaledMMLinearKernel"
MARLIN = f"{LINEAR}.scaled_mm.marlin.MarlinFP8ScaledMMLinearKernel"
FLASHINFER = f"{LINEAR}.scaled_mm.flashinfer.FlashInferFP8ScaledMMLinearKernel"
TORCH = f"{LINEAR}.scaled_mm.pytorch.PerTensorTorchFP8ScaledMMLinearKernel"
OFF = Opaque("vllm.envs.VLLM_TEST_FORCE_FP8_MARLIN")
HOPS = (
    Hop(
        kind=HopKind.FLAG, symbol="--quantization", why=Why.READS, site=Site("vllm/engine/arg_utils.py", 992)
    ),
    Hop(
        kind=HopKind.FIELD,
        symbol="vllm.config.model.ModelConfig.quantization",
        why=Why.READS,
        site=Site("vllm/config/model.py", 1383),
        depth=1,
    ),
    Hop(
        kind=HopKind.FUNCTION,
        symbol="vllm.config.model.ModelConfig._verify_quantization",
        why=Why.OVERRIDES,
        site=Site("vllm/config/model.py", 1394),
        note="first override_quantization_method() that is not None wins",
        depth=2,
    ),
    Hop(
        kind=HopKind.CONFIG_CLASS,
        symbol=f"{FP8}.Fp8Config",
        why=Why.CONSTRUCTS,
        site=Site(f"{Q}/fp8.py", 90),
        depth=1,
    ),
    Hop(
        kind=HopKind.LAYER_METHOD,
        symbol=f"{FP8}.Fp8LinearMethod",
        why=Why.RETURNS,
        site=Site(f"{Q}/fp8.py", 225),
        depth=2,
    ),
    Hop(
        kind=HopKind.KERNEL_CLASS,
        symbol=CUTLASS,
        why=Why.DISPATCHES_ON,
        site=Site(f"{K}/scaled_mm/cutlass.py", 157),
        guard=AllOf((Not(OFF), Compare("K % 16", "==", "0"))),
        depth=3,
    ),
    Hop(
        kind=HopKind.TORCH_OP,
        symbol="torch.ops._C.cutlass_scaled_mm",
        why=Why.CALLS,
        site=Site("vllm/_custom_ops.py", 700),
        depth=4,
    ),
    Hop(
        kind=HopKind.HOST_FUNCTION,
        symbol="cutlass_scaled_mm_sm90",
        why=Why.CALLS,
        site=Site("csrc/quantization/w8a8/cutlass/scaled_mm_c3x_sm90.cu", 21),
        sight=Sight.UNRESOLVED,
        depth=5,
    ),
    Hop(
        kind=HopKind.EXTERNAL,
        symbol="cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<...>>",
        why=Why.LAUNCHES,
        depth=6,
    ),
)
CHOICE = Choice(
    name="fp8 linear kernel",
    function=f"{LINEAR}.choose_scaled_mm_linear_kernel",
    site=Site(f"{K}/__init__.py", 675),
    registry="_POSSIBLE_FP8_KERNELS[CUDA]",
    candidates=(
        Candidate(
            symbol=FLASHINFER,
            state=CandidateState.REJECTED,
            reason="requires compute capability 100 or above",
            site=Site(f"{K}/scaled_mm/flashinfer.py", 50),
        ),
        Candidate(
            symbol=MARLIN, state=CandidateState.POSSIBLE, guard=OFF, site=Site(f"{K}/scaled_mm/marlin.py", 44)
        ),
        Candidate(symbol=CUTLASS, state=CandidateState.TAKEN),
        Candidate(symbol=TORCH, state=CandidateState.NOT_REACHED),
    ),
)
PARAMETERS = (
    Parameter(name="weight", dtype="float8_e4m3fn", shape=("N", "K")),
    Parameter(name="weight_scale", dtype="float32", shape=("len(logical_widths)",)),
    Parameter(name="input_scale", dtype="float32", shape=(1,)),
)


PAD = f"{LINEAR}.padded_nk"
FITS = (
    Fit(layer="qkv_proj", dimension="size_k", size=2880, multiple=128, padded=2944, function=PAD),
    Fit(layer="o_proj", dimension="size_n", size="hidden_size", multiple=64, function=PAD, guard=OFF),
    Fit(layer="o_proj", dimension="size_k", size=4096, multiple=64, function=PAD),
)


def outcome(kernel: str, *ops: str) -> Outcome:
    return Outcome(
        guard=OFF if kernel is MARLIN else Not(OFF),
        config=f"{FP8}.Fp8Config",
        method=f"{FP8}.Fp8LinearMethod",
        kernels=(Kernel(attribute="fp8_linear", symbol=kernel),),
        ops=tuple(f"torch.ops.{op}" for op in ops),
        parameters=PARAMETERS,
    )


@pytest.fixture
def report() -> Report:
    """Two ends and a refusal, every candidate state, a rewritten flag, one construct not evaluated."""
    bare = Report(
        tool="0.1.0",
        question=Question(
            engine="vllm",
            asked={"quantization": "gptq", "compute_capability": 90, "with": ("flashinfer", "deep_gemm")},
            resolved={"quantization": "fp8", "compute_capability": 90, "dtype": "bfloat16"},
            unknown=("M", "env.VLLM_TEST_FORCE_FP8_MARLIN"),
            assumed=("the packages that the wheel installs are there",),
        ),
        pins=(
            Pin(engine="vllm", version="0.33.0", commit="4ba787ec9" + "0" * 31, python_hash="3f2a" * 16),
            Pin(engine="vllm", version="0.26.0", python_hash="77aa" * 16, native_hash="01cd" * 16),
        ),
        chains=(
            Chain(
                layer="linear",
                layers=("qkv_proj", "o_proj", "gate_up_proj", "down_proj"),
                hops=HOPS,
                choices=(CHOICE,),
                fits=FITS,
                outcomes=(
                    outcome(CUTLASS, "_C.dynamic_per_token_scaled_fp8_quant", "_C.cutlass_scaled_mm"),
                    outcome(MARLIN, "vllm.marlin_gemm"),
                ),
                elsewhere=(
                    Elsewhere(
                        symbol=f"{FP8}.Fp8LinearMethod",
                        version="0.26.0",
                        change=Change.MOVED,
                        site=Site(f"{Q}/fp8.py", 388),
                    ),
                ),
            ),
            Chain(
                layer="experts",
                hops=HOPS[:2],
                outcomes=(
                    Outcome(
                        guard=Member("moe_backend", ("triton", "cutlass")),
                        refusal=Refusal(
                            exception="NotImplementedError",
                            message="No Fp8 MoE backend supports the deployment configuration.",
                            site=Site(f"{Q}/fp8.py", 501),
                        ),
                    ),
                    Outcome(guard=Not(Member("moe_backend", ("triton", "cutlass")))),
                ),
            ),
        ),
        coverage=Coverage(
            modules_read=41,
            statements=12033,
            unsupported=(Unsupported(kind="Match", site=Site("vllm/config/vllm.py", 812), count=3),),
            budgets=("loop at vllm/config/vllm.py:90 cut after 10000 rounds",),
        ),
    )
    return Report(
        tool=bare.tool,
        question=bare.question,
        pins=bare.pins,
        chains=bare.chains,
        findings=judge(bare),
        coverage=bare.coverage,
    )
