"""Linear layers of vLLM 0.24.0: the kernel that was measured is the one that qtrace names."""

from __future__ import annotations

from collections import Counter

import pytest
from measured import GPUS, Line, Release, groups, label, linear, lines

from qtrace.report.predicate import Always, Compare, Not

VERSION = "0.24.0"
KERNELS = {group.kernel for group in groups() if (group.release, group.op) == (VERSION, "gemm")}
ODD = {"CutlassFp8BlockScaledMMKernel": (96, 4096)}
"""Sizes for a label that no point of the trimmed table has: n is no multiple of 64."""


def _one_each() -> list[Line]:
    """One line for each compute capability and label."""
    found = {(GPUS[line.gpu][1], line.kernel): line for line in lines()}
    return list(found.values())


@pytest.mark.parametrize("line", _one_each(), ids=lambda line: f"{line.gpu}-{line.kernel}")
def test_measured_kernel_is_the_only_outcome(release: Release, line: Line) -> None:
    (outcome,) = linear(release(VERSION), line.gpu, line.dtype, line.n, line.k, line.rows[0])

    assert label(outcome) == line.kernel
    assert outcome.guard == Always()


def test_without_rows_both_kernels_are_shown_with_the_threshold(release: Release) -> None:
    few, many = linear(release(VERSION), "h100_sxm", "fp8_block", 4096, 8192)

    at_32 = Compare("M", ">=", "32")
    assert (label(few), few.guard) == ("FlashInferFp8BlockScaledMMKernel", Not(at_32))
    assert (label(many), many.guard) == ("DeepGemmFp8BlockScaledMMKernel", at_32)


def test_on_the_threshold_the_kernel_for_many_rows_runs(release: Release) -> None:
    def at(rows: int) -> list[str]:
        return [label(o) for o in linear(release(VERSION), "h200_sxm", "fp8_block", 4096, 8192, rows)]

    assert at(31) == ["FlashInferFp8BlockScaledMMKernel"]
    assert at(32) == ["DeepGemmFp8BlockScaledMMKernel"]


@pytest.mark.parametrize("gpu", ["h100_sxm", "b200_sxm"])
def test_odd_sizes_leave_the_kernel_that_takes_any(release: Release, gpu: str) -> None:
    for kernel, (n, k) in ODD.items():
        (outcome,) = linear(release(VERSION), gpu, "fp8_block", n, k)
        assert label(outcome) == kernel


def test_every_measured_label_is_asked_for() -> None:
    assert {line.kernel for line in lines()} | set(ODD) == KERNELS


@pytest.mark.full
def test_every_point(release: Release) -> None:
    """756 points: each measured class is the only outcome."""
    found = Counter(
        (line.gpu, line.dtype, line.kernel, *_answers(release, line, rows))
        for line in lines()
        for rows in line.rows
    )
    print()
    for (gpu, dtype, kernel, *answers), count in sorted(found.items()):
        print(f"| {VERSION} | {gpu} | {dtype} | {kernel} | {' or '.join(answers)} | {count} |")
    assert sum(found.values()) == 756
    assert all(answers == [kernel] for _, _, kernel, *answers in found)


def _answers(release: Release, line: Line, rows: int) -> tuple[str, ...]:
    return tuple(map(label, linear(release(VERSION), line.gpu, line.dtype, line.n, line.k, rows)))
