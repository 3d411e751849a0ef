// The description of a build whose Kokkos is a static library. core/plugin/loader.cpp is compiled beside it, so that
// its calls end here.
#include "core/base/build_info.hpp"

namespace cambium {

const BuildInfo& build_info() {
  static constexpr BuildInfo info = {.version = "",
                                     .git_hash = "",
                                     .compiler = "",
                                     .flags = "",
                                     .build_type = "",
                                     .instruction_set = "",
                                     .kokkos = "",
                                     .kokkos_devices = "",
                                     .hdf5 = "",
                                     .hdf5_parallel = false,
                                     .blas = "",
                                     .sanitized = false,
                                     .kokkos_shared = false};
  return info;
}

}  // namespace cambium
