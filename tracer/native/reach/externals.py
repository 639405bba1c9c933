"""What lies outside of the tree: libraries by the names that C++ calls them, and files that scripts write."""

from __future__ import annotations

from msgspec import Struct


class External(Struct, frozen=True):
    """A library's kernels, as a profiler names them."""

    prefix: str
    symbol: str
    note: str


CUTLASS, CUB, CUBLAS = "CUTLASS", "CUB", "cuBLAS"

EXTERNALS = (
    External("cutlass::gemm::device::", "cutlass::device_kernel", CUTLASS),
    External("cutlass::device_kernel", "cutlass::device_kernel", CUTLASS),
    External("cutlass::reorder_tensor", "cutlass::reorder_tensor_kernel", CUTLASS),
    External("cutlass::ClusterLauncher", "cutlass::device_kernel", CUTLASS),
    External("cub::Device", "cub::", CUB),
    External("cub::DeviceRadixSort", "cub::detail::radix_sort", CUB),
    External("cublas", "cublas", CUBLAS),
)

CUTLASS_2 = "cutlass::gemm::kernel::Default"
"""How CUTLASS 2 names its kernels, which the same adapter launches."""
KERNEL2 = External(CUTLASS_2, "cutlass::Kernel2", CUTLASS)


def external(name: str) -> External | None:
    """The library that a qualified name belongs to."""
    return next((e for e in EXTERNALS if name.startswith(e.prefix)), None)
