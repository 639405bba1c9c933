#!/usr/bin/env bash
# vllm serve in a comment --quantization x
set -e
MODEL=meta-llama/Llama-3.1-8B
QUANT="fp8"
export VLLM_USE_DEEP_GEMM=0
VLLM_LOGGING_LEVEL=DEBUG vllm serve "$MODEL" \
    --quantization $QUANT \
    # a comment in between
    --kv-cache-dtype fp8 --port ${PORT:-8000} \
    --tensor-parallel-size "$TP" > log 2>&1 &
docker run --gpus all -e VLLM_USE_V1=1 -e HF_TOKEN=$TOK vllm/vllm-openai:v0.26.0 --model $MODEL -q gptq && echo done
python3 -m vllm.entrypoints.openai.api_server --model X --quantization awq | tee out
if true; then exec vllm serve Y $EXTRA; fi
