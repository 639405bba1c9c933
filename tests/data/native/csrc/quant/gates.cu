#include "core.h"

#if defined(CUDART_VERSION) && CUDART_VERSION >= 12090
  #define HAS_WIDE 1
#else
  #define HAS_WIDE 0
#endif

namespace gates {

// Asks a helper that is there for one toolkit only.
static bool wide_enough(int64_t capability) {
#if HAS_WIDE
  return capability >= 100 && capability < 120;
#else
  return false;
#endif
}

bool is_wide(int64_t capability) { return wide_enough(capability); }

}  // namespace gates

bool by_toolkit(int64_t capability) {
#if defined CUDA_VERSION
  #if defined ENABLE_WIDE && ENABLE_WIDE
  if (capability >= 100 && capability < 120) {
    return CUDA_VERSION >= 12080;
  }
  #endif
  #if defined ENABLE_NARROW && ENABLE_NARROW
  if (capability >= 90 && capability < 100) {
    return CUDA_VERSION >= 12030;
  }
  #endif
#endif
  return false;
}

bool by_runtime(int64_t capability) {
  int version;
  cudaRuntimeGetVersion(&version);
  if (version < 12080) return false;
#if defined(ENABLE_WIDE) && ENABLE_WIDE
  if (capability >= 100) return true;
#endif
  return false;
}
