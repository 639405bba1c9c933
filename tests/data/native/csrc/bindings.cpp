#include "core.h"

// TORCH_LIBRARY(commented, m) { m.def("ghost() -> ()"); }
STABLE_TORCH_LIBRARY_FRAGMENT(_C, ops) {
  ops.def(
      "two_lines(Tensor a, "
      "int b) -> Tensor");
  ops.def("braces(str text=\"}) {\") -> ()");
  /* ops.def("ghost() -> ()"); */
  other.def("ghost() -> ()");
  ops.def("is_wide(int capability) -> bool");
#ifdef USE_ROCM
  ops.def("wave_only() -> ()");
#else
  ops.def("no_wave() -> ()");
#endif
#ifdef EXTRA_OPS
  ops.def("extra() -> ()");
#endif
#if defined(ENABLE_ON_REQUEST)
  ops.def("on_request() -> ()");
#endif
}

STABLE_TORCH_LIBRARY_IMPL(_C, CUDA, ops) {
  ops.impl("two_lines", TORCH_BOX(&two_lines_cuda));
}

STABLE_TORCH_LIBRARY_IMPL(_C, CompositeExplicitAutograd, ops) {
  ops.impl("is_wide", TORCH_BOX(&gates::is_wide));
}

TORCH_LIBRARY_EXPAND(CONCAT(TORCH_EXTENSION_NAME, _cache_ops), cache) {
  cache.def("swap(Tensor src, Tensor! dst) -> ()", &swap);
  cache.impl("swap", torch::kCUDA, &swap);
}
